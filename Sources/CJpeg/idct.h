/*
 * The inverse DCT of libjpeg-turbo's JDCT_ISLOW, to 8, 4, 2 samples a side, or 1.
 *
 * That to 8 is the algorithm of Loeffler, Ligtenberg and Moschytz, with 11 multiplications in each direction.
 * Those to 4 and 2 are the same with the outputs averaged, so that some terms cancel. Both directions use
 * integers: factors have 13 bits after the point, and between the directions 2 bits are kept.
 *
 * Products with the quantization steps and sums before a multiplication have 16 bits, as in libjpeg-turbo's
 * SIMD, and numbers between the directions saturate to them. Only in the coefficients' first row that is not
 * all: libjpeg-turbo treats a block with no other row apart, and there larger numbers are in doubt.
 */
#ifndef DARKROOM_JPEG_IDCT_H
#define DARKROOM_JPEG_IDCT_H

#include "entropy.h"

/* The factors times 2^13, named by their first six decimals. */
enum {
    FIX_0_211164 = 1730,
    FIX_0_298631 = 2446,
    FIX_0_390180 = 3196,
    FIX_0_509795 = 4176,
    FIX_0_541196 = 4433,
    FIX_0_601344 = 4926,
    FIX_0_720959 = 5906,
    FIX_0_765366 = 6270,
    FIX_0_850430 = 6967,
    FIX_0_899976 = 7373,
    FIX_1_061594 = 8697,
    FIX_1_175875 = 9633,
    FIX_1_272758 = 10426,
    FIX_1_451774 = 11893,
    FIX_1_501321 = 12299,
    FIX_1_847759 = 15137,
    FIX_1_961570 = 16069,
    FIX_2_053119 = 16819,
    FIX_2_172734 = 17799,
    FIX_2_562915 = 20995,
    FIX_3_072711 = 25172,
    FIX_3_624509 = 29692,
};

enum {
    DARKROOM_FACTOR_BITS = 13,
    DARKROOM_KEPT_BITS = 2,
    /* Numbers of the first row are less in magnitude. */
    DARKROOM_LARGEST_FIRST = 8192,
    /* Means beyond this, multiplied, are in doubt. Those of real pictures have at most 1024 and rounding. */
    DARKROOM_LARGEST_MEAN = 4080,
};

/*
 * Writes the samples of the blocks at `quads`, a multiple of four, each to `out` plus its number of
 * `offsets`, in rows `stride` apart. Returns false on doubt.
 */
typedef bool darkroom_jpeg_idct(
    const int16_t *quads, const int16_t *steps, size_t count, uint8_t *out, const uint32_t *offsets,
    size_t stride);

/* The fastest one to `side` samples that the processor has. */
darkroom_jpeg_idct *darkroom_jpeg_idct_for(unsigned side);

#if defined(__x86_64__)
darkroom_jpeg_idct darkroom_jpeg_idct_8_avx2, darkroom_jpeg_idct_4_avx2, darkroom_jpeg_idct_2_avx2;
darkroom_jpeg_idct darkroom_jpeg_idct_8_avx512, darkroom_jpeg_idct_4_avx512, darkroom_jpeg_idct_2_avx512;
#endif

#endif
