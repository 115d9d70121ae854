#include "tiff.h"

/* CIE L*a*b* of the white D50, as TIFF 6.0 section 23 and ICC.1:2004-10 annex A encode it, to sRGB (IEC 61966-2-1), with the
 * white adapted by the matrix of Bradford. */

enum { STEPS = 65536 };

/* The value of sRGB for a linear one, both in steps. */
static uint16_t encoded[STEPS];

/* x to the power of 5/12, which is the 1/2.4 of the standard, by Newton's method: a root of y^12 - x^5. The C library's pow
 * is in a library of its own. */
static double root(double x, double start)
{
    double y = start, wanted = x * x * x * x * x;
    for (int turn = 0; turn < 6; turn++) {
        double square = y * y, fourth = square * square, eleventh = fourth * fourth * square * y;
        y -= (eleventh * y - wanted) / (12 * eleventh);
    }
    return y;
}

void lab_prepare(void)
{
    double last = 0.09;
    for (unsigned step = 0; step < STEPS; step++) {
        double linear = step / (STEPS - 1.0), value = 12.92 * linear;
        if (linear > 0.0031308) {
            last = root(linear, last);
            value = 1.055 * last - 0.055;
        }
        encoded[step] = (uint16_t) (value * 65535 + 0.5);
    }
}

/* The inverse of the function f of CIE 15. */
static double cubed(double f) { return f > 6.0 / 29 ? f * f * f : (f - 4.0 / 29) * 108 / 841; }

void lab_convert(uint32_t values[3], unsigned bits, bool is_signed)
{
    double lightness, a, b;
    if (bits == 8) {
        lightness = values[0] * 100 / 255.0;
        a = is_signed ? (int8_t) values[1] : (int) values[1] - 128;
        b = is_signed ? (int8_t) values[2] : (int) values[2] - 128;
    } else {
        lightness = values[0] * 100 / (is_signed ? 65535.0 : 65280.0);
        a = (is_signed ? (int16_t) values[1] : (int) values[1] - 32768) / 256.0;
        b = (is_signed ? (int16_t) values[2] : (int) values[2] - 32768) / 256.0;
    }
    double f = (lightness + 16) / 116;
    double x = cubed(f + a / 500) * 0.9642, y = cubed(f), z = cubed(f - b / 200) * 0.8249;
    const double linear[3] = {
        3.1338561 * x - 1.6168667 * y - 0.4906146 * z,
        -0.9787684 * x + 1.9161415 * y + 0.0334540 * z,
        0.0719453 * x - 0.2289914 * y + 1.4052427 * z,
    };
    for (unsigned channel = 0; channel < 3; channel++) {
        double value = linear[channel] < 0 ? 0 : linear[channel] > 1 ? 1 : linear[channel];
        uint32_t wide = encoded[(uint32_t) (value * (STEPS - 1) + 0.5)];
        values[channel] = bits == 8 ? (wide + 128) / 257 : wide;
    }
}
