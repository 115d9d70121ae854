/* The choice of a quality by trials: a result that may have so many bytes, or that is so much like the picture. The daemon
 * makes the trials of a JPEG, the codec programs those of their formats. */
#ifndef DARKROOM_QUALITY_H
#define DARKROOM_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Below this quality, results are of no use. */
    DARKROOM_QUALITY_LEAST = 10,
    /* The most trials of a search: the first one and the halvings of 10 to 99. */
    DARKROOM_QUALITY_TRIALS = 8,
};

/* ---- The search ----
 *
 * A trial says the bytes and the similarity of a quality. The search halves the range of qualities that are left:
 *
 *     the trial has            it is                            the search goes on
 *     too many bytes           nothing                          below
 *     the similarity           the choice                       below: the smallest such quality is wanted
 *     neither                  the choice, unless another one   above
 *                              has the similarity
 *
 * So the choice always has few enough bytes. It is the smallest quality with the similarity, if its bytes are few enough, and
 * otherwise the largest one with few enough bytes. Without a similarity to reach, the highest quality is tried first, because
 * most pictures fit. */
typedef struct {
    /* The bounds of the search; 0 is none. The similarity is 0 to 1. */
    uint64_t most_bytes;
    double similarity;
    /* The qualities that are left. */
    uint32_t low, high;
    bool has_begun;
    /* The choice so far; 0 is none. */
    uint32_t quality;
    bool is_similar;
    /* What the choice has. */
    double reached;
    uint64_t bytes;
    /* The smallest bytes of a trial. */
    uint64_t smallest;
} darkroom_quality_search;

/* The search in which `highest` is the highest quality. A lower one than DARKROOM_QUALITY_LEAST is the only one that is
 * tried. */
static inline darkroom_quality_search darkroom_quality_begin(uint32_t highest, uint64_t most_bytes, double similarity)
{
    uint32_t low = highest < DARKROOM_QUALITY_LEAST ? highest : DARKROOM_QUALITY_LEAST;
    return (darkroom_quality_search) {
        .most_bytes = most_bytes, .similarity = similarity, .low = low, .high = highest, .smallest = UINT64_MAX};
}

/* The quality of the next trial; 0 when the choice is made. */
static inline uint32_t darkroom_quality_next(const darkroom_quality_search *search)
{
    if (search->low > search->high) return 0;
    bool is_first = !search->has_begun && search->similarity == 0;
    return is_first ? search->high : (search->low + search->high) / 2;
}

/* Notes a trial. Returns whether it is the choice. */
static inline bool darkroom_quality_note(
    darkroom_quality_search *search, uint32_t quality, uint64_t bytes, double similarity)
{
    bool is_too_large = search->most_bytes > 0 && bytes > search->most_bytes;
    bool is_similar = search->similarity > 0 && similarity >= search->similarity;
    search->has_begun = true;
    if (bytes < search->smallest) search->smallest = bytes;
    if (is_too_large || is_similar) search->high = quality - 1;
    else search->low = quality + 1;
    if (is_too_large || (search->is_similar && !is_similar)) return false;
    search->quality = quality;
    search->is_similar = is_similar;
    search->reached = similarity;
    search->bytes = bytes;
    return true;
}

/* ---- The similarity ----
 *
 * The mean structural similarity (SSIM) of two pictures' brightness, 0 to 1: of Wang, Bovik, Sheikh and Simoncelli, "Image
 * quality assessment", 2004, with a Gaussian window of 11 × 11 samples with sigma 1.5, K1 = 0.01, K2 = 0.03 and 255 as the range
 * of values. The mean is that of the windows that lie in the picture. That is what scikit-image computes by
 *
 *     structural_similarity(one, other, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)
 *
 * A side with fewer samples than the window is extended by its outermost samples.
 *
 * Rows of both pictures come in their order; no more than eleven are kept. All processors compute the same. */
typedef struct {
    uint32_t width, height;
    /* The width with its extension. */
    uint32_t extended;
    uint32_t rows;
    /* Five products of a row; and those of the last eleven rows, in a ring, after the window across. */
    float *products, *ring;
    double sum;
} darkroom_ssim;

/* The bytes that darkroom_ssim_begin gets for a picture of this width. */
size_t darkroom_ssim_bytes(uint32_t width);
/* `memory` is used until the end, and is aligned as a float. */
void darkroom_ssim_begin(darkroom_ssim *ssim, void *memory, uint32_t width, uint32_t height);
/* The next row of each picture, `width` samples. */
void darkroom_ssim_row(darkroom_ssim *ssim, const uint8_t *one, const uint8_t *other);
/* After the last row. */
double darkroom_ssim_end(const darkroom_ssim *ssim);

/* The brightness of a row by BT.601, 0 to 255, rounded. Transparent pixels are laid over white. A pixel has 1 to 4 channels:
 * gray or RGB, and alpha with an even number; samples of `depth` 8 or 16. */
void darkroom_brightness(const void *row, uint32_t width, uint32_t channels, uint32_t depth, uint8_t *to);

#endif
