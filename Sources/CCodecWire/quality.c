#include "darkroom_processor.h"
#include "darkroom_quality.h"

#include <string.h>

/* Two processors must choose the same quality. */
#pragma STDC FP_CONTRACT OFF

/* Places are taken in groups, whose products lie together: so few rows are read side by side. */
enum { WINDOW = 11, MIDDLE = WINDOW / 2, PRODUCTS = 5, GROUP = 8, OF_GROUP = PRODUCTS * GROUP };

/* exp(-k² / (2 · 1.5²)), k samples from the middle, so that all are 1 together. */
static const float weights[MIDDLE + 1] = {
    0.2660117248617943f, 0.21300553771125366f, 0.1093606895097f, 0.03600077212843082f, 0.007598758135239184f,
    0.0010283800844791099f};

static uint32_t extended(uint32_t side) { return side < WINDOW ? WINDOW : side; }

/* The samples before the first one of a side that is extended. */
static uint32_t before(uint32_t side) { return (extended(side) - side) / 2; }

/* The places of the window across, in groups. */
static uint32_t places(const darkroom_ssim *ssim) { return ssim->extended - WINDOW + 1; }
static uint32_t groups(uint32_t width) { return (extended(width) - WINDOW + GROUP) / GROUP; }

/* The distance of two products, and of two rows of the ring, in floats. Rows at a distance of pages would have one place in the
 * cache of a processor. */
static size_t product_stride(uint32_t width) { return (size_t) groups(width) * GROUP + WINDOW - 1; }
static size_t ring_stride(uint32_t width) { return (size_t) groups(width) * OF_GROUP + 16; }

size_t darkroom_ssim_bytes(uint32_t width)
{
    return (PRODUCTS * product_stride(width) + WINDOW * ring_stride(width)) * sizeof(float);
}

void darkroom_ssim_begin(darkroom_ssim *ssim, void *memory, uint32_t width, uint32_t height)
{
    float *floats = memory;
    *ssim = (darkroom_ssim) {.width = width, .height = height, .extended = extended(width), .products = floats,
        .ring = floats + PRODUCTS * product_stride(width)};
    memset(memory, 0, darkroom_ssim_bytes(width));
}

/* Values around 0 lose less when the squares of means are taken off. */
DARKROOM_FOR_PROCESSOR static void multiply(
    const uint8_t *one, const uint8_t *other, uint32_t count, float *products, size_t stride)
{
    float *restrict x = products, *restrict y = x + stride, *restrict xx = y + stride, *restrict yy = xx + stride,
                    *restrict xy = yy + stride;
    for (uint32_t at = 0; at < count; at++) {
        float a = (float) one[at] - 128, b = (float) other[at] - 128;
        x[at] = a;
        y[at] = b;
        xx[at] = a * a;
        yy[at] = b * b;
        xy[at] = a * b;
    }
}

/* The outermost samples, to both sides. */
static void extend(float *row, uint32_t width, uint32_t wide, uint32_t first)
{
    memmove(row + first, row, width * sizeof *row);
    for (uint32_t at = 0; at < first; at++) row[at] = row[first];
    for (uint32_t at = first + width; at < wide; at++) row[at] = row[first + width - 1];
}

DARKROOM_FOR_PROCESSOR static void weigh_across(const float *restrict row, uint32_t count, float *restrict to)
{
    for (uint32_t group = 0; group < count; group++, row += GROUP, to += OF_GROUP)
        for (int at = 0; at < GROUP; at++) {
            const float *middle = row + at + MIDDLE;
            float sum = weights[0] * middle[0];
            for (int k = 1; k <= MIDDLE; k++) sum += weights[k] * (middle[-k] + middle[k]);
            to[at] = sum;
        }
}

/* The window down, and the similarity at each place. */
DARKROOM_FOR_PROCESSOR static void compare(const float *const rows[WINDOW], uint32_t count, float *restrict to)
{
    const float c1 = (0.01f * 255) * (0.01f * 255), c2 = (0.03f * 255) * (0.03f * 255);
    for (uint32_t group = 0; group < count; group++, to += GROUP) {
        size_t place = (size_t) group * OF_GROUP;
        float sums[PRODUCTS][GROUP];
        for (int at = 0; at < OF_GROUP; at++) {
            float sum = weights[0] * rows[MIDDLE][place + (size_t) at];
            for (int k = 1; k <= MIDDLE; k++)
                sum += weights[k] * (rows[MIDDLE - k][place + (size_t) at] + rows[MIDDLE + k][place + (size_t) at]);
            sums[at / GROUP][at % GROUP] = sum;
        }
        for (int at = 0; at < GROUP; at++) {
            float x = sums[0][at], y = sums[1][at], one = x + 128, other = y + 128;
            float both = sums[4][at] - x * y, own = sums[2][at] - x * x + (sums[3][at] - y * y);
            to[at] = (2 * one * other + c1) * (2 * both + c2) / ((one * one + other * other + c1) * (own + c2));
        }
    }
}

/* A row of the extended picture has its products in the ring. */
static void add(darkroom_ssim *ssim)
{
    uint32_t count = groups(ssim->width);
    size_t row = ring_stride(ssim->width);
    float *to = ssim->ring + row * (ssim->rows % WINDOW);
    for (int product = 0; product < PRODUCTS; product++)
        weigh_across(ssim->products + product_stride(ssim->width) * (size_t) product, count, to + product * GROUP);
    ssim->rows++;
    if (ssim->rows < WINDOW) return;
    const float *rows[WINDOW];
    for (uint32_t k = 0; k < WINDOW; k++) rows[k] = ssim->ring + row * ((ssim->rows + k) % WINDOW);
    compare(rows, count, ssim->products);
    double sum = 0;
    for (uint32_t at = 0; at < places(ssim); at++) sum += ssim->products[at];
    ssim->sum += sum;
}

void darkroom_ssim_row(darkroom_ssim *ssim, const uint8_t *one, const uint8_t *other)
{
    uint32_t above = before(ssim->height), all = extended(ssim->height), times = 1;
    if (ssim->rows == 0) times += above;
    if (ssim->rows + times == above + ssim->height) times = all - ssim->rows;
    while (times-- > 0) {
        multiply(one, other, ssim->width, ssim->products, product_stride(ssim->width));
        if (ssim->width < ssim->extended)
            for (int product = 0; product < PRODUCTS; product++)
                extend(ssim->products + product_stride(ssim->width) * (size_t) product, ssim->width, ssim->extended,
                    before(ssim->width));
        add(ssim);
    }
}

double darkroom_ssim_end(const darkroom_ssim *ssim)
{
    double mean = ssim->sum / ((double) places(ssim) * (extended(ssim->height) - WINDOW + 1));
    /* It is rounded, and less than nothing for pictures that are the opposite of each other. */
    return mean < 0 ? 0 : mean > 1 ? 1 : mean;
}

/* A sample of 16 bits as one of 8. */
static inline uint32_t narrowed(uint32_t value) { return (value * 255 + 32895) >> 16; }

void darkroom_brightness(const void *row, uint32_t width, uint32_t channels, uint32_t depth, uint8_t *to)
{
    const uint8_t *bytes = row;
    const uint16_t *words = row;
    bool has_alpha = channels % 2 == 0, is_gray = channels < 3;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t samples[4];
        for (uint32_t channel = 0; channel < channels; channel++) {
            size_t at = (size_t) x * channels + channel;
            samples[channel] = depth == 16 ? narrowed(words[at]) : bytes[at];
        }
        uint32_t green = is_gray ? 0 : 1, blue = is_gray ? 0 : 2;
        uint32_t value = 19595 * samples[0] + 38470 * samples[green] + 7471 * samples[blue];
        if (has_alpha) {
            uint32_t alpha = samples[channels - 1];
            value = (uint32_t) (((uint64_t) value * alpha + 65536ull * 255 * (255 - alpha)) / 255);
        }
        to[x] = (uint8_t) ((value + 32768) >> 16);
    }
}
