/*
 * The SIMD of idct_avx2.c and idct_avx512.c, which define the width before they include this:
 *
 *     VECTOR, LANES   the register, and its number of lanes of 128 bits
 *     FN(name)        the functions' names
 *     OP(name)        an intrinsic for the register
 *     BITS(name)      an intrinsic for all of its bits
 *     TARGET          the attribute of functions
 *     store_lane      stores the first or the last 8 bytes of one lane
 *
 * Each lane holds eight numbers of 16 bits of one block, and no lane looks at another one. So both widths do
 * the same as plain C.
 */

/* The order of the bytes of rows, in those of columns. */
static const uint8_t turned_4[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
static const uint8_t turned_2[16] = {0, 4, 1, 5, 0, 4, 1, 5, 0, 4, 1, 5, 0, 4, 1, 5};

/* The factors of eight columns. */
static const int16_t odd_columns_2[8] = {
    0, FIX_3_624509, 0, -FIX_1_272758, 0, FIX_0_850430, 0, -FIX_0_720959};

#define INLINE static inline __attribute__((always_inline)) TARGET

/* Both factors of multiply_add, for numbers that were interleaved. */
INLINE VECTOR FN(factors)(int first, int second)
{
    return OP(set1_epi32)((int)((uint32_t)(uint16_t)first | (uint32_t)second << 16));
}

#define MULTIPLY_ADD(pairs, first, second) OP(madd_epi16)(pairs, FN(factors)(first, second))

/* Numbers of 32 bits: the first four of each lane, and the others. */
typedef struct {
    VECTOR low, high;
} FN(wide);

INLINE FN(wide) FN(pairs)(VECTOR a, VECTOR b)
{
    return (FN(wide)){OP(unpacklo_epi16)(a, b), OP(unpackhi_epi16)(a, b)};
}

INLINE FN(wide) FN(plus)(FN(wide) a, FN(wide) b)
{
    return (FN(wide)){OP(add_epi32)(a.low, b.low), OP(add_epi32)(a.high, b.high)};
}

INLINE FN(wide) FN(minus)(FN(wide) a, FN(wide) b)
{
    return (FN(wide)){OP(sub_epi32)(a.low, b.low), OP(sub_epi32)(a.high, b.high)};
}

#define PRODUCTS(p, first, second)                                                                 \
    (FN(wide)) { MULTIPLY_ADD((p).low, first, second), MULTIPLY_ADD((p).high, first, second) }

/* Times 2^shift, plus what rounds a later division by 2^bits. */
INLINE FN(wide) FN(scaled)(VECTOR v, int shift, int bits)
{
    const VECTOR zero = BITS(setzero)();
    const VECTOR half = OP(set1_epi32)(1 << (bits - 1));
    const FN(wide) high = FN(pairs)(zero, v);
    return (FN(wide)){
        OP(add_epi32)(OP(srai_epi32)(high.low, 16 - shift), half),
        OP(add_epi32)(OP(srai_epi32)(high.high, 16 - shift), half)};
}

INLINE VECTOR FN(narrow)(FN(wide) v, int bits)
{
    return OP(packs_epi32)(OP(srai_epi32)(v.low, bits), OP(srai_epi32)(v.high, bits));
}

/* One direction of the transform to 8; the results are divided by 2^bits. */
INLINE void FN(transform_8)(VECTOR v[8], int bits)
{
    const FN(wide) sum = FN(scaled)(OP(add_epi16)(v[0], v[4]), DARKROOM_FACTOR_BITS, bits);
    const FN(wide) difference = FN(scaled)(OP(sub_epi16)(v[0], v[4]), DARKROOM_FACTOR_BITS, bits);
    const FN(wide) p26 = FN(pairs)(v[2], v[6]);
    const FN(wide) e3 = PRODUCTS(p26, FIX_0_541196 + FIX_0_765366, FIX_0_541196);
    const FN(wide) e2 = PRODUCTS(p26, FIX_0_541196, FIX_0_541196 - FIX_1_847759);
    const FN(wide) even[4] = {
        FN(plus)(sum, e3), FN(plus)(difference, e2), FN(minus)(difference, e2), FN(minus)(sum, e3)};

    const FN(wide) s34 = FN(pairs)(OP(add_epi16)(v[7], v[3]), OP(add_epi16)(v[5], v[1]));
    const FN(wide) z3 = PRODUCTS(s34, FIX_1_175875 - FIX_1_961570, FIX_1_175875);
    const FN(wide) z4 = PRODUCTS(s34, FIX_1_175875, FIX_1_175875 - FIX_0_390180);
    const FN(wide) p71 = FN(pairs)(v[7], v[1]), p53 = FN(pairs)(v[5], v[3]);
    const FN(wide) o0 = PRODUCTS(p71, -FIX_0_899976, FIX_1_501321 - FIX_0_899976);
    const FN(wide) o1 = PRODUCTS(p53, -FIX_2_562915, FIX_3_072711 - FIX_2_562915);
    const FN(wide) o2 = PRODUCTS(p53, FIX_2_053119 - FIX_2_562915, -FIX_2_562915);
    const FN(wide) o3 = PRODUCTS(p71, FIX_0_298631 - FIX_0_899976, -FIX_0_899976);
    const FN(wide) odd[4] = {FN(plus)(o0, z4), FN(plus)(o1, z3), FN(plus)(o2, z4), FN(plus)(o3, z3)};
    for (int i = 0; i < 4; i++) {
        v[i] = FN(narrow)(FN(plus)(even[i], odd[i]), bits);
        v[7 - i] = FN(narrow)(FN(minus)(even[i], odd[i]), bits);
    }
}

/* Rows become columns. */
INLINE void FN(transpose)(VECTOR v[8])
{
    VECTOR a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = OP(unpacklo_epi16)(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = OP(unpackhi_epi16)(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = OP(unpacklo_epi32)(a[i], a[i + 2]);
        b[i + 1] = OP(unpackhi_epi32)(a[i], a[i + 2]);
        b[i + 2] = OP(unpacklo_epi32)(a[i + 1], a[i + 3]);
        b[i + 3] = OP(unpackhi_epi32)(a[i + 1], a[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[2 * i] = OP(unpacklo_epi64)(b[i], b[i + 4]);
        v[2 * i + 1] = OP(unpackhi_epi64)(b[i], b[i + 4]);
    }
}

/* Collects in `doubt` the bits of numbers that are not less than DARKROOM_LARGEST_FIRST. */
INLINE VECTOR FN(first_doubt)(VECTOR doubt, VECTOR first)
{
    const VECTOR moved = OP(add_epi16)(first, OP(set1_epi16)(DARKROOM_LARGEST_FIRST));
    const VECTOR beyond = OP(set1_epi16)((int16_t) ~(2 * DARKROOM_LARGEST_FIRST - 1));
    return BITS(or)(doubt, BITS(and)(moved, beyond));
}

/* Row `row` of the blocks, times their steps. */
INLINE VECTOR FN(row)(const int16_t *blocks, const int16_t *steps, int row)
{
    return OP(mullo_epi16)(
        FN(load)(blocks + row * DARKROOM_QUAD_ROW), FN(broadcast)(steps + 8 * row));
}

TARGET bool FN(darkroom_jpeg_idct_8)(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    VECTOR doubt = BITS(setzero)();
    const VECTOR middle = OP(set1_epi8)((char)0x80);
    for (size_t i = 0; i < count; i += LANES) {
        const int16_t *blocks = quads + darkroom_jpeg_block_offset(i);
        VECTOR v[8], p[4], q[4];
        for (int row = 0; row < 8; row++)
            v[row] = FN(row)(blocks, steps, row);
        doubt = FN(first_doubt)(doubt, v[0]);
        FN(transform_8)(v, DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS);
        FN(transpose)(v);
        FN(transform_8)(v, DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 3);
        /* Columns become rows, in bytes. */
        for (int k = 0; k < 4; k++)
            p[k] = BITS(xor)(OP(packs_epi16)(v[2 * k], v[2 * k + 1]), middle);
        for (int k = 0; k < 4; k += 2) {
            q[k] = OP(unpacklo_epi8)(p[k], p[k + 1]);
            q[k + 1] = OP(unpackhi_epi8)(p[k], p[k + 1]);
        }
        for (int k = 0; k < 4; k += 2) {
            p[k] = OP(unpacklo_epi8)(q[k], q[k + 1]);
            p[k + 1] = OP(unpackhi_epi8)(q[k], q[k + 1]);
        }
        for (int k = 0; k < 2; k++) {
            q[2 * k] = OP(unpacklo_epi32)(p[k], p[k + 2]);
            q[2 * k + 1] = OP(unpackhi_epi32)(p[k], p[k + 2]);
        }
        for (int lane = 0; lane < LANES; lane++) {
            uint8_t *at = out + offsets[i + (size_t)lane];
            for (int k = 0; k < 4; k++, at += 2 * stride) {
                const __m128i rows = FN(lane)(q[k], lane);
                _mm_storel_epi64((__m128i *)at, rows);
                _mm_storeh_pd((double *)(at + stride), _mm_castsi128_pd(rows));
            }
        }
    }
    return FN(is_zero)(doubt);
}

TARGET bool FN(darkroom_jpeg_idct_4)(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    enum {
        SHIFT = DARKROOM_FACTOR_BITS + 1,
        BEFORE = DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS + 1,
        AFTER = DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 4,
    };
    VECTOR doubt = BITS(setzero)();
    const VECTOR middle = OP(set1_epi8)((char)0x80), zero = BITS(setzero)();
    const VECTOR turn = FN(broadcast)((const int16_t *)(const void *)turned_4);
    for (size_t i = 0; i < count; i += LANES) {
        const int16_t *blocks = quads + darkroom_jpeg_block_offset(i);
        const VECTOR first = FN(row)(blocks, steps, 0);
        doubt = FN(first_doubt)(doubt, first);
        const FN(wide) mean = FN(scaled)(first, SHIFT, BEFORE);
        const FN(wide) p26 = FN(pairs)(FN(row)(blocks, steps, 2), FN(row)(blocks, steps, 6));
        const FN(wide) p75 = FN(pairs)(FN(row)(blocks, steps, 7), FN(row)(blocks, steps, 5));
        const FN(wide) p31 = FN(pairs)(FN(row)(blocks, steps, 3), FN(row)(blocks, steps, 1));
        const FN(wide) even = PRODUCTS(p26, FIX_1_847759, -FIX_0_765366);
        const FN(wide) a1 = PRODUCTS(p75, -FIX_0_211164, FIX_1_451774);
        const FN(wide) b1 = PRODUCTS(p31, -FIX_2_172734, FIX_1_061594);
        const FN(wide) a0 = PRODUCTS(p75, -FIX_0_509795, -FIX_0_601344);
        const FN(wide) b0 = PRODUCTS(p31, FIX_0_899976, FIX_2_562915);
        const FN(wide) odd_0 = FN(plus)(a0, b0), odd_1 = FN(plus)(a1, b1);
        const FN(wide) outer = FN(plus)(mean, even), inner = FN(minus)(mean, even);
        const VECTOR r0 = FN(narrow)(FN(plus)(outer, odd_0), BEFORE);
        const VECTOR r3 = FN(narrow)(FN(minus)(outer, odd_0), BEFORE);
        const VECTOR r1 = FN(narrow)(FN(plus)(inner, odd_1), BEFORE);
        const VECTOR r2 = FN(narrow)(FN(minus)(inner, odd_1), BEFORE);
        /* Columns in pairs: 0 and 1, 2 and 3, and so on, each with its four rows. */
        const FN(wide) t01 = FN(pairs)(r0, r1), t23 = FN(pairs)(r2, r3);
        const VECTOR c01 = OP(unpacklo_epi32)(t01.low, t23.low);
        const VECTOR c23 = OP(unpackhi_epi32)(t01.low, t23.low);
        const VECTOR c45 = OP(unpacklo_epi32)(t01.high, t23.high);
        const VECTOR c67 = OP(unpackhi_epi32)(t01.high, t23.high);
        const VECTOR half = OP(set1_epi32)(1 << (AFTER - 1));
        const VECTOR m =
            OP(add_epi32)(OP(srai_epi32)(OP(unpacklo_epi16)(zero, c01), 16 - SHIFT), half);
        const VECTOR e = MULTIPLY_ADD(OP(unpacklo_epi16)(c23, c67), FIX_1_847759, -FIX_0_765366);
        const VECTOR q75 = OP(unpackhi_epi16)(c67, c45), q31 = OP(unpackhi_epi16)(c23, c01);
        const VECTOR o1 = OP(add_epi32)(
            MULTIPLY_ADD(q75, -FIX_0_211164, FIX_1_451774),
            MULTIPLY_ADD(q31, -FIX_2_172734, FIX_1_061594));
        const VECTOR o0 = OP(add_epi32)(
            MULTIPLY_ADD(q75, -FIX_0_509795, -FIX_0_601344),
            MULTIPLY_ADD(q31, FIX_0_899976, FIX_2_562915));
        const VECTOR far = OP(add_epi32)(m, e), near = OP(sub_epi32)(m, e);
        const FN(wide) left = {OP(add_epi32)(far, o0), OP(add_epi32)(near, o1)};
        const FN(wide) right = {OP(sub_epi32)(near, o1), OP(sub_epi32)(far, o0)};
        const VECTOR columns = OP(packs_epi16)(FN(narrow)(left, AFTER), FN(narrow)(right, AFTER));
        const VECTOR rows = OP(shuffle_epi8)(BITS(xor)(columns, middle), turn);
        for (int lane = 0; lane < LANES; lane++) {
            uint8_t *at = out + offsets[i + (size_t)lane];
            const __m128i four = FN(lane)(rows, lane);
            const uint64_t above = (uint64_t)_mm_cvtsi128_si64(four);
            const uint64_t below = (uint64_t)_mm_extract_epi64(four, 1);
            const uint32_t each[4] = {
                (uint32_t)above, (uint32_t)(above >> 32), (uint32_t)below, (uint32_t)(below >> 32)};
            for (int k = 0; k < 4; k++)
                memcpy(at + (size_t)k * stride, &each[k], 4);
        }
    }
    return FN(is_zero)(doubt);
}

TARGET bool FN(darkroom_jpeg_idct_2)(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride)
{
    enum {
        SHIFT = DARKROOM_FACTOR_BITS + 2,
        BEFORE = DARKROOM_FACTOR_BITS - DARKROOM_KEPT_BITS + 2,
        AFTER = DARKROOM_FACTOR_BITS + DARKROOM_KEPT_BITS + 5,
    };
    VECTOR doubt = BITS(setzero)();
    const VECTOR middle = OP(set1_epi8)((char)0x80), half = OP(set1_epi32)(1 << (AFTER - 1));
    const VECTOR turn = FN(broadcast)((const int16_t *)(const void *)turned_2);
    const VECTOR factors = FN(broadcast)(odd_columns_2);
    for (size_t i = 0; i < count; i += LANES) {
        const int16_t *blocks = quads + darkroom_jpeg_block_offset(i);
        const VECTOR first = FN(row)(blocks, steps, 0);
        doubt = FN(first_doubt)(doubt, first);
        const FN(wide) p13 = FN(pairs)(FN(row)(blocks, steps, 1), FN(row)(blocks, steps, 3));
        const FN(wide) p57 = FN(pairs)(FN(row)(blocks, steps, 5), FN(row)(blocks, steps, 7));
        const FN(wide) a = PRODUCTS(p13, FIX_3_624509, -FIX_1_272758);
        const FN(wide) b = PRODUCTS(p57, FIX_0_850430, -FIX_0_720959);
        const FN(wide) mean = FN(scaled)(first, SHIFT, BEFORE), odd = FN(plus)(a, b);
        const FN(wide) sum = FN(plus)(mean, odd), difference = FN(minus)(mean, odd);
        const VECTOR r0 = FN(narrow)(sum, BEFORE), r1 = FN(narrow)(difference, BEFORE);
        /* The first two numbers of 32 bits are those of both rows. Their first columns are not narrowed. */
        const VECTOR firsts = OP(srai_epi32)(OP(unpacklo_epi32)(sum.low, difference.low), BEFORE);
        const VECTOR m = OP(add_epi32)(OP(slli_epi32)(firsts, SHIFT), half);
        const VECTOR s0 = OP(madd_epi16)(r0, factors), s1 = OP(madd_epi16)(r1, factors);
        const VECTOR s = OP(add_epi32)(OP(unpacklo_epi32)(s0, s1), OP(unpackhi_epi32)(s0, s1));
        const VECTOR o = OP(add_epi32)(s, OP(unpackhi_epi64)(s, s));
        const FN(wide) columns = {OP(add_epi32)(m, o), OP(sub_epi32)(m, o)};
        const VECTOR words = FN(narrow)(columns, AFTER);
        const VECTOR rows =
            OP(shuffle_epi8)(BITS(xor)(OP(packs_epi16)(words, words), middle), turn);
        for (int lane = 0; lane < LANES; lane++) {
            uint8_t *at = out + offsets[i + (size_t)lane];
            const uint32_t four = (uint32_t)_mm_cvtsi128_si32(FN(lane)(rows, lane));
            const uint16_t above = (uint16_t)four, below = (uint16_t)(four >> 16);
            memcpy(at, &above, 2);
            memcpy(at + stride, &below, 2);
        }
    }
    return FN(is_zero)(doubt);
}
