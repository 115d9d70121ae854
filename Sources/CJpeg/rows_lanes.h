/*
 * The SIMD of rows_avx2.c and rows_avx512.c, which define the width before they include this:
 *
 *     VECTOR, BYTES    the register, and its size
 *     FN(name)         the functions' names
 *     OP(name)         an intrinsic for the register
 *     BITS(name)       an intrinsic for all of its bits
 *     TARGET           the attribute of functions
 *     load             loads a register, whatever its alignment
 *     load_half        loads half as many bytes, as numbers of 16 bits
 *     store            stores a register
 *     in_order         puts the halves of lanes that packs_epi16 has mixed in order again
 *     pick             bytes of `a`, and of `b` where a mask of three bytes has a bit: every third one
 *     store_lanes      stores the lanes of three registers in turn
 *
 * What is left at the end of a row is done by plain C.
 */

#define INLINE static inline __attribute__((always_inline)) TARGET

INLINE VECTOR FN(three_to_one)(VECTOR near, VECTOR far)
{
    return OP(add_epi16)(OP(add_epi16)(near, near), OP(add_epi16)(near, far));
}

/* (a + rounding) / 2^shift at the even places, those of b at the odd ones; all are below 256. */
#define INTERLEAVED(a, a_rounding, b, b_rounding, shift)                                           \
    BITS(or)(                                                                                      \
        OP(srli_epi16)(OP(add_epi16)(a, OP(set1_epi16)(a_rounding)), shift),                       \
        OP(slli_epi16)(                                                                            \
            OP(srli_epi16)(OP(add_epi16)(b, OP(set1_epi16)(b_rounding)), shift), 8))

TARGET size_t FN(darkroom_jpeg_widen)(const uint8_t *in, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + BYTES / 2 <= count; i += BYTES / 2) {
        const VECTOR here = FN(load_half)(in + i);
        const VECTOR even = FN(three_to_one)(here, FN(load_half)(in + i - 1));
        const VECTOR odd = FN(three_to_one)(here, FN(load_half)(in + i + 1));
        FN(store)(out + 2 * i, INTERLEAVED(even, 1, odd, 2, 2));
    }
    return i;
}

TARGET size_t FN(darkroom_jpeg_widen_between)(
    const uint8_t *near, const uint8_t *far, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + BYTES / 2 <= count; i += BYTES / 2) {
        VECTOR sums[3];
        for (size_t k = 0; k < 3; k++)
            sums[k] = FN(three_to_one)(
                FN(load_half)(near + i + k - 1), FN(load_half)(far + i + k - 1));
        const VECTOR even = FN(three_to_one)(sums[1], sums[0]);
        const VECTOR odd = FN(three_to_one)(sums[1], sums[2]);
        FN(store)(out + 2 * i, INTERLEAVED(even, 8, odd, 7, 4));
    }
    return i;
}

TARGET size_t FN(darkroom_jpeg_blend)(
    const uint8_t *near, const uint8_t *far, unsigned bias, size_t count, uint8_t *out)
{
    const VECTOR rounding = OP(set1_epi16)((short)bias);
    size_t i = 0;
    for (; i + BYTES <= count; i += BYTES) {
        VECTOR sums[2];
        for (size_t k = 0; k < 2; k++) {
            const size_t at = i + k * BYTES / 2;
            const VECTOR sum = FN(three_to_one)(FN(load_half)(near + at), FN(load_half)(far + at));
            sums[k] = OP(srli_epi16)(OP(add_epi16)(sum, rounding), 2);
        }
        FN(store)(out + i, FN(in_order)(OP(packus_epi16)(sums[0], sums[1])));
    }
    return i;
}

/* Every third byte of a lane, as pixels have them: for red; green and blue come one and two places later. */
static const uint8_t spread_of_rgb[3][16] = {
    {0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5},
    {5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10},
    {10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15},
};

/* As many pixels as a register has bytes. */
INLINE void FN(store_rgb)(uint8_t *out, VECTOR r, VECTOR g, VECTOR b)
{
    r = OP(shuffle_epi8)(r, FN(broadcast)(spread_of_rgb[0]));
    g = OP(shuffle_epi8)(g, FN(broadcast)(spread_of_rgb[1]));
    b = OP(shuffle_epi8)(b, FN(broadcast)(spread_of_rgb[2]));
    /* The first byte of each 16 is red's, then green's, then blue's. */
    const VECTOR first = FN(pick)(FN(pick)(b, g, 1), r, 0);
    const VECTOR second = FN(pick)(FN(pick)(r, b, 1), g, 0);
    const VECTOR third = FN(pick)(FN(pick)(g, r, 1), b, 0);
    FN(store_lanes)(out, first, second, third);
}

TARGET size_t FN(darkroom_jpeg_rgb_from_planes)(
    const uint8_t *r, const uint8_t *g, const uint8_t *b, size_t count, uint8_t *out)
{
    size_t i = 0;
    for (; i + BYTES <= count; i += BYTES)
        FN(store_rgb)(out + 3 * i, FN(load)(r + i), FN(load)(g + i), FN(load)(b + i));
    return i;
}

/* (factor · v + 2^15) / 2^16, rounded down, for |factor| < 2^15: twice v has 9 bits. */
INLINE VECTOR FN(times)(VECTOR v, int factor)
{
    const VECTOR product = OP(mulhi_epi16)(OP(add_epi16)(v, v), OP(set1_epi16)((short)factor));
    return OP(srai_epi16)(OP(add_epi16)(product, OP(set1_epi16)(1)), 1);
}

typedef struct {
    VECTOR r, g, b;
} FN(colour);

/* The part of a factor that is a whole number is added apart. */
INLINE FN(colour) FN(convert)(VECTOR y, VECTOR cb, VECTOR cr)
{
    const VECTOR middle = OP(set1_epi16)(128), half = OP(set1_epi32)(1 << 15);
    const VECTOR factors = OP(set1_epi32)(
        (int)((uint32_t)(uint16_t)DARKROOM_GREEN_CB
              | (uint32_t)(DARKROOM_GREEN_CR + (1 << 16)) << 16));
    cb = OP(sub_epi16)(cb, middle);
    cr = OP(sub_epi16)(cr, middle);
    const VECTOR low = OP(madd_epi16)(OP(unpacklo_epi16)(cb, cr), factors);
    const VECTOR high = OP(madd_epi16)(OP(unpackhi_epi16)(cb, cr), factors);
    const VECTOR green = OP(packs_epi32)(
        OP(srai_epi32)(OP(add_epi32)(low, half), 16), OP(srai_epi32)(OP(add_epi32)(high, half), 16));
    const VECTOR red = OP(add_epi16)(cr, FN(times)(cr, DARKROOM_RED_CR - (1 << 16)));
    /* An even factor: its half, and a multiplication that divides by 2^15 and rounds. */
    const VECTOR blue = OP(add_epi16)(
        OP(add_epi16)(cb, cb),
        OP(mulhrs_epi16)(cb, OP(set1_epi16)((DARKROOM_BLUE_CB - (2 << 16)) / 2)));
    return (FN(colour)){
        OP(add_epi16)(y, red), OP(add_epi16)(y, OP(sub_epi16)(green, cr)), OP(add_epi16)(y, blue)};
}

TARGET size_t FN(darkroom_jpeg_rgb_from_ycc)(
    const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count, uint8_t *out)
{
    const VECTOR zero = BITS(setzero)();
    size_t i = 0;
    for (; i + BYTES <= count; i += BYTES) {
        const VECTOR ys = FN(load)(y + i), cbs = FN(load)(cb + i), crs = FN(load)(cr + i);
        /* The halves of each lane, which packing puts together again. */
        const FN(colour) low = FN(convert)(
            OP(unpacklo_epi8)(ys, zero), OP(unpacklo_epi8)(cbs, zero), OP(unpacklo_epi8)(crs, zero));
        const FN(colour) high = FN(convert)(
            OP(unpackhi_epi8)(ys, zero), OP(unpackhi_epi8)(cbs, zero), OP(unpackhi_epi8)(crs, zero));
        FN(store_rgb)(
            out + 3 * i, OP(packus_epi16)(low.r, high.r), OP(packus_epi16)(low.g, high.g),
            OP(packus_epi16)(low.b, high.b));
    }
    return i;
}
