#include "idct.h"

#include "darkroom_cpu.h"

/* ---- Numbers as the SIMD has them ---- */

static inline int16_t wrapped(int32_t value) { return (int16_t)(uint16_t)(uint32_t)value; }

static inline int32_t saturated(int32_t value, int32_t least, int32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Divided by a power of two, rounded; sums wrap around. */
static inline int32_t descaled(uint32_t value, unsigned bits)
{
    return (int32_t)(value + ((uint32_t)1 << (bits - 1))) >> bits;
}

static inline uint32_t product(int32_t a, int32_t b) { return (uint32_t)(a * b); }

/* Between the directions. */
static inline int16_t kept(uint32_t value, unsigned bits)
{
    return (int16_t)saturated(descaled(value, bits), INT16_MIN, INT16_MAX);
}

static inline uint8_t sample(uint32_t value, unsigned bits)
{
    return (uint8_t)(saturated(descaled(value, bits), -128, 127) + 128);
}

/* Multiplies by the steps. Returns false if the first row is in doubt. */
static inline bool load(int16_t block[64], const int16_t *from, const int16_t *steps)
{
    bool is_good = true;
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 8; column++) {
            const unsigned i = row * 8 + column;
            block[i] = wrapped(from[row * DARKROOM_QUAD_ROW + column] * steps[i]);
            if (row == 0)
                is_good &= block[i] >= -DARKROOM_LARGEST_FIRST && block[i] < DARKROOM_LARGEST_FIRST;
        }
    return is_good;
}

/* ---- To 8 ---- */

/* One direction: eight numbers, `step` apart. */
static inline void transform_8(const int16_t *in, size_t step, uint32_t out[8])
{
    const int16_t *v[8];
    for (unsigned i = 0; i < 8; i++)
        v[i] = in + i * step;
    const uint32_t sum = (uint32_t)wrapped(*v[0] + *v[4]) << DARKROOM_FACTOR_BITS;
    const uint32_t difference = (uint32_t)wrapped(*v[0] - *v[4]) << DARKROOM_FACTOR_BITS;
    const uint32_t e3 =
        product(*v[2], FIX_0_541196 + FIX_0_765366) + product(*v[6], FIX_0_541196);
    const uint32_t e2 =
        product(*v[2], FIX_0_541196) + product(*v[6], FIX_0_541196 - FIX_1_847759);
    const uint32_t even[4] = {sum + e3, difference + e2, difference - e2, sum - e3};

    const int16_t s3 = wrapped(*v[7] + *v[3]), s4 = wrapped(*v[5] + *v[1]);
    const uint32_t z3 = product(s3, FIX_1_175875 - FIX_1_961570) + product(s4, FIX_1_175875);
    const uint32_t z4 = product(s3, FIX_1_175875) + product(s4, FIX_1_175875 - FIX_0_390180);
    const uint32_t odd[4] = {
        product(*v[7], -FIX_0_899976) + product(*v[1], FIX_1_501321 - FIX_0_899976) + z4,
        product(*v[5], -FIX_2_562915) + product(*v[3], FIX_3_072711 - FIX_2_562915) + z3,
        product(*v[5], FIX_2_053119 - FIX_2_562915) + product(*v[3], -FIX_2_562915) + z4,
        product(*v[7], FIX_0_298631 - FIX_0_899976) + product(*v[1], -FIX_0_899976) + z3,
    };
    for (unsigned i = 0; i < 4; i++) {
        out[i] = even[i] + odd[i];
        out[7 - i] = even[i] - odd[i];
    }
}

static bool idct_8(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        int16_t block[64], between[64];
        uint32_t sums[8];
        is_good &= load(block, quads + darkroom_jpeg_block_offset(i), steps);
        for (unsigned column = 0; column < 8; column++) {
            transform_8(block + column, 8, sums);
            for (unsigned row = 0; row < 8; row++)
                between[row * 8 + column] =
                    kept(sums[row], DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS);
        }
        for (unsigned row = 0; row < 8; row++) {
            transform_8(between + row * 8, 1, sums);
            for (unsigned column = 0; column < 8; column++)
                out[offsets[i] + row * stride + column] =
                    sample(sums[column], DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 3);
        }
    }
    return is_good;
}

/* ---- To 4 ---- */

static inline void transform_4(const int16_t *in, size_t step, uint32_t out[4])
{
    const int16_t v1 = in[step], v2 = in[2 * step], v3 = in[3 * step], v5 = in[5 * step],
                  v6 = in[6 * step], v7 = in[7 * step];
    const uint32_t mean = (uint32_t)(int32_t)in[0] << (DARKROOM_FACTOR_BITS + 1);
    const uint32_t even = product(v2, FIX_1_847759) + product(v6, -FIX_0_765366);
    const uint32_t odd_1 = product(v7, -FIX_0_211164) + product(v5, FIX_1_451774)
        + product(v3, -FIX_2_172734) + product(v1, FIX_1_061594);
    const uint32_t odd_0 = product(v7, -FIX_0_509795) + product(v5, -FIX_0_601344)
        + product(v3, FIX_0_899976) + product(v1, FIX_2_562915);
    out[0] = mean + even + odd_0;
    out[1] = mean - even + odd_1;
    out[2] = mean - even - odd_1;
    out[3] = mean + even - odd_0;
}

static bool idct_4(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        int16_t block[64], between[32];
        uint32_t sums[4];
        is_good &= load(block, quads + darkroom_jpeg_block_offset(i), steps);
        for (unsigned column = 0; column < 8; column++) {
            transform_4(block + column, 8, sums);
            for (unsigned row = 0; row < 4; row++)
                between[row * 8 + column] =
                    kept(sums[row], DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS + 1);
        }
        for (unsigned row = 0; row < 4; row++) {
            transform_4(between + row * 8, 1, sums);
            for (unsigned column = 0; column < 4; column++)
                out[offsets[i] + row * stride + column] =
                    sample(sums[column], DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 4);
        }
    }
    return is_good;
}

/* ---- To 2 ---- */

static inline uint32_t odd_of_2(const int16_t *in, size_t step)
{
    return product(in[7 * step], -FIX_0_720959) + product(in[5 * step], FIX_0_850430)
        + product(in[3 * step], -FIX_1_272758) + product(in[step], FIX_3_624509);
}

static bool idct_2(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    enum {
        SHIFT = DARKROOM_FACTOR_BITS + 2,
        BEFORE = DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS + 2,
        AFTER = DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 5,
    };
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        int16_t block[64], between[16];
        uint32_t firsts[2];
        is_good &= load(block, quads + darkroom_jpeg_block_offset(i), steps);
        for (unsigned column = 0; column < 8; column++) {
            const uint32_t mean = (uint32_t)(int32_t)block[column] << SHIFT;
            const uint32_t odd = odd_of_2(block + column, 8);
            between[column] = kept(mean + odd, BEFORE);
            between[8 + column] = kept(mean - odd, BEFORE);
            if (column == 0) {
                /* These two are not narrowed to 16 bits. */
                firsts[0] = (uint32_t)descaled(mean + odd, BEFORE);
                firsts[1] = (uint32_t)descaled(mean - odd, BEFORE);
            }
        }
        for (unsigned row = 0; row < 2; row++) {
            const uint32_t mean = firsts[row] << SHIFT, odd = odd_of_2(between + row * 8, 1);
            out[offsets[i] + row * stride] = sample(mean + odd, AFTER);
            out[offsets[i] + row * stride + 1] = sample(mean - odd, AFTER);
        }
    }
    return is_good;
}

/* ---- To 1 ---- */

static bool idct_1(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    (void)stride;
    for (size_t i = 0; i < count; i++) {
        const int32_t mean = wrapped(quads[darkroom_jpeg_block_offset(i)] * steps[0]);
        out[offsets[i]] = sample((uint32_t)mean, 3);
    }
    return true;
}

darkroom_jpeg_idct *darkroom_jpeg_idct_for(unsigned side)
{
#if defined(__x86_64__)
    /* To 1 there is nothing to gain. */
    if (side > 1 && darkroom_cpu_level() >= DARKROOM_CPU_AVX512)
        return side == 8 ? darkroom_jpeg_idct_8_avx512
            : side == 4  ? darkroom_jpeg_idct_4_avx512
                         : darkroom_jpeg_idct_2_avx512;
    if (side > 1 && darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        return side == 8 ? darkroom_jpeg_idct_8_avx2
            : side == 4  ? darkroom_jpeg_idct_4_avx2
                         : darkroom_jpeg_idct_2_avx2;
#endif
    return side == 8 ? idct_8 : side == 4 ? idct_4 : side == 2 ? idct_2 : idct_1;
}
