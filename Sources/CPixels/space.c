/*
 * RGB of one colour space in another one: each value becomes light by the source's curve, a matrix mixes the light, and
 * sRGB's curve makes values of it again. All results have this curve.
 *
 * Samples of 8 bits go by integers: 15 bits of light are enough, because the curve's steepest part has ten of its steps
 * for a step of the result. Samples of 16 bits go by floating-point numbers.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "samples.h"
#include "space.h"

/* Fused multiply-adds would make the last bits of a sum depend on the machine. */
#pragma STDC FP_CONTRACT OFF

/* IEC 61966-2-1. */
static double value_of(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static struct space_curve curve;

static void make_curve(void)
{
    const double scale = 255 << VALUE_SHIFT;
    for (int index = 0; index < 256; index++) {
        const int first = index < 128 ? index * 16 : (index - 128) * 256;
        const int end = first + (index < 128 ? 16 : 256);
        const double start = value_of((double)first / LIGHT_MOST) * scale;
        const double stop = value_of((double)end / LIGHT_MOST) * scale;
        curve.start[index] = (uint16_t)lrint(start);
        curve.rise[index] = (uint16_t)(lrint(stop) - lrint(start));
        curve.both[index] = (uint32_t)curve.rise[index] << 16 | curve.start[index];
    }
}

const struct space_curve *darkroom_space_curve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_curve);
    return &curve;
}

INLINE int32_t clamped(int32_t light)
{
    return light < 0 ? 0 : light > LIGHT_MOST ? LIGHT_MOST : light;
}

INLINE uint8_t value_8(const struct space_curve *shape, int32_t light)
{
    const int is_fine = light < FINE_LIGHT;
    const int index = is_fine ? light >> 4 : 128 + (light >> 8);
    const uint32_t part = (uint32_t)(is_fine ? (light & 15) << 4 : light & 255);
    const uint32_t value = shape->start[index] + (shape->rise[index] * part >> 8);
    return (uint8_t)((value + (1 << (VALUE_SHIFT - 1))) >> VALUE_SHIFT);
}

INLINE void loop_8(int channels, uint8_t *samples, size_t pixels, const darkroom_space *space)
{
    const struct space_curve *shape = darkroom_space_curve();
    const int16_t *m = space->matrix;
    const int32_t half = 1 << (MATRIX_SHIFT - 1);
    for (size_t i = 0; i < pixels; i++, samples += channels) {
        const int32_t r = space->light[0][samples[0]];
        const int32_t g = space->light[1][samples[1]];
        const int32_t b = space->light[2][samples[2]];
        for (int c = 0; c < 3; c++) {
            const int32_t sum = m[3 * c] * r + m[3 * c + 1] * g + m[3 * c + 2] * b + half;
            samples[c] = value_8(shape, clamped(sum >> MATRIX_SHIFT));
        }
    }
}

static void convert_8(uint8_t *samples, size_t pixels, int channels, const darkroom_space *space)
{
    size_t done = 0;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX512)
        done = darkroom_space_8_avx512(samples, pixels, channels, space);
    else if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        done = darkroom_space_8_avx2(samples, pixels, channels, space);
#endif
    samples += done * (size_t)channels;
    if (channels == 3)
        loop_8(3, samples, pixels - done, space);
    else
        loop_8(4, samples, pixels - done, space);
}

/* ---- 16 bits ---- */

/* sRGB's curve: below a sixteenth, knots at each 32768th, and then at each 1024th. */
enum { FINE_KNOTS = 2048, COARSE_KNOTS = 1024 };

static float fine_values[FINE_KNOTS + 2], coarse_values[COARSE_KNOTS + 2];

static void make_wide_curve(void)
{
    for (int k = 0; k < FINE_KNOTS + 2; k++) fine_values[k] = (float)(value_of(k / 32768.0) * 65535);
    for (int k = 0; k < COARSE_KNOTS + 2; k++)
        coarse_values[k] = (float)(value_of((double)k / COARSE_KNOTS) * 65535);
}

INLINE float between(const float *knots, float place)
{
    const int knot = (int)place;
    const float part = place - (float)knot;
    return knots[knot] + (knots[knot + 1] - knots[knot]) * part;
}

INLINE uint16_t value_16(float light)
{
    const float kept = light < 0 ? 0 : light > 1 ? 1 : light;
    const float value = kept < 1.0f / 16 ? between(fine_values, kept * 32768)
                                         : between(coarse_values, kept * COARSE_KNOTS);
    return (uint16_t)(value + 0.5f);
}

INLINE void loop_16(int channels, uint16_t *samples, size_t pixels, const darkroom_space *space)
{
    const float *m = space->wide_matrix;
    for (size_t i = 0; i < pixels; i++, samples += channels) {
        float light[3];
        for (int c = 0; c < 3; c++) light[c] = between(space->wide[c], (float)samples[c] / 64);
        for (int c = 0; c < 3; c++)
            samples[c] = value_16(
                m[3 * c] * light[0] + m[3 * c + 1] * light[1] + m[3 * c + 2] * light[2]);
    }
}

static void convert_16(uint16_t *samples, size_t pixels, int channels, const darkroom_space *space)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_wide_curve);
    if (channels == 3)
        loop_16(3, samples, pixels, space);
    else
        loop_16(4, samples, pixels, space);
}

void darkroom_convert_space(
    void *samples, size_t pixels, int channels, int depth, const darkroom_space *space)
{
    if (depth == 8)
        convert_8(samples, pixels, channels, space);
    else
        convert_16(samples, pixels, channels, space);
}

/* ---- Preparation ---- */

static double light_at(const double *curve, size_t count, double value)
{
    const double place = value * (double)(count - 1);
    const size_t knot = place < (double)(count - 1) ? (size_t)place : count - 1;
    if (knot == count - 1)
        return curve[knot];
    return curve[knot] + (curve[knot + 1] - curve[knot]) * (place - (double)knot);
}

darkroom_space *darkroom_space_new(const double *const curves[3], size_t count, const double matrix[9])
{
    for (int row = 0; row < 9; row += 3) {
        double sum = 0;
        for (int k = row; k < row + 3; k++) {
            if (!(fabs(matrix[k]) < 3.999))
                return NULL;
            sum += fabs(matrix[k]);
        }
        /* 32 bits have room for 8 times the light with 13 bits after the point. */
        if (!(sum < 7.99))
            return NULL;
    }
    darkroom_space *space = aligned_alloc(_Alignof(darkroom_space), sizeof *space);
    if (space == NULL)
        return NULL;
    for (int k = 0; k < 9; k++) {
        space->matrix[k] = (int16_t)lrint(matrix[k] * (1 << MATRIX_SHIFT));
        space->wide_matrix[k] = (float)matrix[k];
    }
    for (int c = 0; c < 3; c++) {
        const double *curve = curves[c];
        for (int value = 0; value < 256; value++)
            space->light[c][value] = (uint16_t)lrint(light_at(curve, count, value / 255.0) * LIGHT_MOST);
        float *wide = space->wide[c];
        for (int knot = 0; knot < DARKROOM_SPACE_KNOTS - 1; knot++)
            wide[knot] = (float)light_at(curve, count, 64.0 * knot / 65535);
        /* So that the last value, 63 64ths after the last knot but one, has its own light. */
        const float last = wide[DARKROOM_SPACE_KNOTS - 2];
        wide[DARKROOM_SPACE_KNOTS - 1] = last + ((float)light_at(curve, count, 1) - last) * 64 / 63;
    }
    return space;
}
