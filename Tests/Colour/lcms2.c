/* The conversions of colours beside lcms2, which calculates in double precision:
 *
 *     lcms2           all 2^24 colours of 8 bits, and a million of 16 bits, of Display P3, Adobe RGB and ProPhoto RGB, as
 *                     sRGB and as Display P3, on each level of the processor; and a million colours of CMYK by a table
 *     lcms2 speed     how many pixels a second each converts, in turn
 *
 * A line for each check has the largest difference. */
#include <lcms2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "CDarkroomPixels.h"
#include "inks.h"

enum { COLOURS = 1 << 16, KNOTS = 4096, LEVELS = 3, STEPS = 17 };

static unsigned failures;

static void judge(const char *what, double worst, double bound)
{
    failures += !(worst <= bound);
    printf("%s %s: %.2f levels at most, %.2f allowed\n", worst <= bound ? "ok" : "FAIL", what, worst, bound);
}

/* A space with a matrix, and how this project and lcms2 see it. */
typedef struct {
    const char *name;
    double white[2], primaries[6];
    cmsToneCurve *curve;
    cmsHPROFILE profile;
    double to_xyz[9];
} space;

static cmsToneCurve *srgb_curve(void)
{
    return cmsBuildParametricToneCurve(NULL, 4, (double[5]) {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045});
}

static void complete(space *space)
{
    cmsCIExyY white = {space->white[0], space->white[1], 1};
    const double *p = space->primaries;
    cmsCIExyYTRIPLE primaries = {{p[0], p[1], 1}, {p[2], p[3], 1}, {p[4], p[5], 1}};
    cmsToneCurve *curves[3] = {space->curve, space->curve, space->curve};
    space->profile = cmsCreateRGBProfile(&white, &primaries, curves);
    const cmsTagSignature tags[3] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    for (int c = 0; c < 3; c++) {
        const cmsCIEXYZ *column = cmsReadTag(space->profile, tags[c]);
        space->to_xyz[c] = column->X;
        space->to_xyz[3 + c] = column->Y;
        space->to_xyz[6 + c] = column->Z;
    }
}

static void invert(const double *m, double *out)
{
    double minors[9];
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
            minors[3 * column + row] = m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
        }
    double determinant = m[0] * minors[0] + m[1] * minors[3] + m[2] * minors[6];
    for (int k = 0; k < 9; k++) out[k] = minors[k] / determinant;
}

static darkroom_space *prepared(const space *source, const space *target)
{
    static double curve[KNOTS];
    for (int k = 0; k < KNOTS; k++) curve[k] = cmsEvalToneCurveFloat(source->curve, (float) k / (KNOTS - 1));
    double back[9], matrix[9];
    invert(target->to_xyz, back);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            matrix[3 * row + column] = 0;
            for (int k = 0; k < 3; k++) matrix[3 * row + column] += back[3 * row + k] * source->to_xyz[3 * k + column];
        }
    const double *const curves[3] = {curve, curve, curve};
    darkroom_space *space = darkroom_space_new(curves, KNOTS, matrix);
    if (!space) abort();
    return space;
}

static cmsHTRANSFORM transform(const space *source, const space *target, cmsUInt32Number form)
{
    return cmsCreateTransform(source->profile, form, target->profile, form, INTENT_RELATIVE_COLORIMETRIC,
        cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE);
}

static double distance(double exact, unsigned got, double most)
{
    double kept = exact < 0 ? 0 : exact > 1 ? 1 : exact;
    return fabs(kept * most - got);
}

static double exact_in[3 * COLOURS], exact_out[3 * COLOURS];

static void compare_8(const space *source, const space *target)
{
    static uint8_t rows[LEVELS][3 * COLOURS], with_alpha[4 * COLOURS];
    darkroom_space *space = prepared(source, target);
    cmsHTRANSFORM lcms2 = transform(source, target, TYPE_RGB_DBL);
    double worst = 0;
    bool is_same = true;
    for (unsigned red = 0; red < 256; red++) {
        for (unsigned i = 0; i < COLOURS; i++) {
            uint8_t colour[4] = {(uint8_t) red, (uint8_t) (i >> 8), (uint8_t) i, (uint8_t) (i * 7)};
            for (int c = 0; c < 3; c++) exact_in[3 * i + c] = colour[c] / 255.0;
            for (int level = 0; level < LEVELS; level++) memcpy(rows[level] + 3 * i, colour, 3);
            memcpy(with_alpha + 4 * i, colour, 4);
        }
        cmsDoTransform(lcms2, exact_in, exact_out, COLOURS);
        for (int level = 0; level < LEVELS; level++) {
            darkroom_cpu_limit((darkroom_cpu) level);
            darkroom_convert_space(rows[level], COLOURS, 3, 8, space);
            is_same = is_same && memcmp(rows[0], rows[level], sizeof rows[0]) == 0;
        }
        darkroom_convert_space(with_alpha, COLOURS, 4, 8, space);
        for (unsigned i = 0; i < COLOURS; i++) {
            is_same = is_same && with_alpha[4 * i + 3] == (uint8_t) (i * 7)
                && memcmp(with_alpha + 4 * i, rows[0] + 3 * i, 3) == 0;
            for (int c = 0; c < 3; c++) worst = fmax(worst, distance(exact_out[3 * i + c], rows[0][3 * i + c], 255));
        }
    }
    char what[100];
    snprintf(what, sizeof what, "%s as %s, all colours of 8 bits", source->name, target->name);
    judge(what, worst, 1);
    snprintf(what, sizeof what, "%s as %s, levels of the processor, and beside alpha", source->name, target->name);
    judge(what, is_same ? 0 : 1, 0);
    cmsDeleteTransform(lcms2);
    free(space);
}

static void compare_16(const space *source, const space *target)
{
    static uint16_t row[3 * COLOURS];
    darkroom_space *space = prepared(source, target);
    cmsHTRANSFORM lcms2 = transform(source, target, TYPE_RGB_DBL);
    double worst = 0;
    for (unsigned round = 0; round < 16; round++) {
        for (unsigned i = 0; i < 3 * COLOURS; i++) {
            /* A quarter of them is dark. */
            row[i] = (uint16_t) ((rand() >> 3) & 0xffff);
            if (round % 4 == 0) row[i] >>= round;
            exact_in[i] = row[i] / 65535.0;
        }
        cmsDoTransform(lcms2, exact_in, exact_out, COLOURS);
        darkroom_convert_space(row, COLOURS, 3, 16, space);
        for (unsigned i = 0; i < 3 * COLOURS; i++) worst = fmax(worst, distance(exact_out[i], row[i], 65535));
    }
    char what[100];
    snprintf(what, sizeof what, "%s as %s, a million colours of 16 bits", source->name, target->name);
    judge(what, worst, 16);
    cmsDeleteTransform(lcms2);
    free(space);
}

/* A profile for inks, of a simple model: light passes all inks one after the other. */
static cmsInt32Number inks(const cmsUInt16Number *in, cmsUInt16Number *out, void *cargo)
{
    const cmsCIEXYZ *white = cargo;
    double light[3] = {1, 1, 1};
    static const double passes[4][3] = {{0.15, 0.35, 0.75}, {0.55, 0.15, 0.25}, {0.85, 0.8, 0.1}, {0.02, 0.02, 0.02}};
    for (int ink = 0; ink < 4; ink++)
        for (int c = 0; c < 3; c++) light[c] *= 1 - in[ink] / 65535.0 * (1 - passes[ink][c]);
    cmsCIELab lab;
    cmsXYZ2Lab(NULL, &lab, &(cmsCIEXYZ) {light[0] * white->X, light[1] * white->Y, light[2] * white->Z});
    cmsFloat2LabEncoded(out, &lab);
    return TRUE;
}

static void compare_inks(void)
{
    enum { CORNERS = STEPS * STEPS * STEPS * STEPS, COUNT = 1 << 20 };
    cmsHPROFILE profile = ink_profile(11, inks), srgb = cmsCreate_sRGBProfile();
    const cmsUInt32Number flags = cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE;
    cmsHTRANSFORM exact = cmsCreateTransform(profile, TYPE_CMYK_16, srgb, TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC,
        flags | cmsFLAGS_NOOPTIMIZE);
    cmsHTRANSFORM usual =
        cmsCreateTransform(profile, TYPE_CMYK_8, srgb, TYPE_RGB_8, INTENT_RELATIVE_COLORIMETRIC, flags);
    uint16_t *corners = malloc(CORNERS * 8), *table = malloc(CORNERS * 6);
    uint8_t *in = malloc(COUNT * 4), *theirs = malloc(COUNT * 3), *ours = malloc(COUNT * 3);
    if (!corners || !table || !in || !theirs || !ours) abort();
    for (unsigned i = 0; i < CORNERS; i++)
        for (unsigned c = 4, rest = i; c-- > 0; rest /= STEPS)
            corners[4 * i + c] = (uint16_t) ((rest % STEPS * 65535 + (STEPS - 1) / 2) / (STEPS - 1));
    cmsDoTransform(exact, corners, table, CORNERS);
    for (unsigned i = 0; i < COUNT * 4; i++) in[i] = (uint8_t) (rand() >> 7);
    cmsDoTransform(usual, in, theirs, COUNT);
    darkroom_convert_table(in, 4, ours, 3, COUNT, 4, 8, table, STEPS);
    double worst = 0;
    for (unsigned i = 0; i < COUNT * 3; i++) worst = fmax(worst, abs(theirs[i] - ours[i]));
    judge("CMYK by a table, a million colours", worst, 1);
    /* In place, and with alpha between. */
    darkroom_convert_table(in, 4, in, 3, COUNT, 4, 8, table, STEPS);
    judge("CMYK by a table, in place", memcmp(in, ours, COUNT * 3) != 0, 0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void race(const space *source, const space *target)
{
    static uint8_t row[3 * COLOURS], out[3 * COLOURS];
    darkroom_space *space = prepared(source, target);
    cmsHTRANSFORM lcms2 = transform(source, target, TYPE_RGB_8);
    for (unsigned i = 0; i < sizeof row; i++) row[i] = (uint8_t) (rand() >> 7);
    for (int round = 0; round < 3; round++) {
        double start = seconds();
        for (int k = 0; k < 20; k++) cmsDoTransform(lcms2, row, out, COLOURS);
        double theirs = 20 * COLOURS / (seconds() - start) / 1e6;
        printf("lcms2 %.0f MP a second;", theirs);
        for (int level = 0; level < LEVELS; level++) {
            darkroom_cpu_limit((darkroom_cpu) level);
            start = seconds();
            for (int k = 0; k < 100; k++) darkroom_convert_space(out, COLOURS, 3, 8, space);
            double own = 100 * COLOURS / (seconds() - start) / 1e6;
            printf(" level %d of the processor %.0f, %.1f times", level, own, own / theirs);
        }
        puts("");
    }
}

int main(int argc, char **argv)
{
    space spaces[] = {
        {.name = "Display P3", .white = {0.3127, 0.3290}, .primaries = {0.680, 0.320, 0.265, 0.690, 0.150, 0.060},
            .curve = srgb_curve()},
        {.name = "Adobe RGB", .white = {0.3127, 0.3290}, .primaries = {0.64, 0.33, 0.21, 0.71, 0.15, 0.06},
            .curve = cmsBuildGamma(NULL, 563.0 / 256)},
        {.name = "ProPhoto RGB", .white = {0.3457, 0.3585},
            .primaries = {0.7347, 0.2653, 0.1596, 0.8404, 0.0366, 0.0001}, .curve = cmsBuildGamma(NULL, 1.8)},
        {.name = "sRGB", .white = {0.3127, 0.3290}, .primaries = {0.64, 0.33, 0.30, 0.60, 0.15, 0.06},
            .curve = srgb_curve()},
    };
    enum { P3 = 0, SRGB = 3 };
    for (unsigned i = 0; i <= SRGB; i++) complete(&spaces[i]);
    if (argc > 1 && strcmp(argv[1], "speed") == 0) {
        race(&spaces[P3], &spaces[SRGB]);
        return 0;
    }
    for (unsigned i = 0; i < SRGB; i++)
        for (unsigned target = SRGB;; target = P3) {
            compare_8(&spaces[i], &spaces[target]);
            compare_16(&spaces[i], &spaces[target]);
            if (target == P3) break;
        }
    compare_inks();
    return failures > 0;
}
