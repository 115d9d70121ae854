/* A lossy WebP with its sides divided by 2, 4 or 8. libwebp decodes brightness and colour; both are averaged before they
 * become RGB. That takes two thirds of the time of all its RGB. Colour has half the sides, so it needs less averaging, and
 * none of libwebp's interpolation. */
#include <string.h>
#include <webp/decode.h>

#include "webp.h"

/* Averages have this many times the values, for rounding. */
enum { SCALE = 64 };

/* A plane of the decoded picture, which becomes `reduced` samples wide. */
typedef struct {
    const uint8_t *samples;
    size_t stride;
    uint32_t width, height;
    /* How many samples of each direction become one. */
    uint32_t block;
    uint32_t reduced;
} plane;

/* The sums of the columns of rows `first` to `end`. */
static void add_rows(const plane *plane, uint32_t first, uint32_t end, uint16_t *restrict sums)
{
    memset(sums, 0, plane->width * sizeof *sums);
    for (uint32_t y = first; y < end; y++) {
        const uint8_t *restrict row = plane->samples + plane->stride * y;
        for (uint32_t x = 0; x < plane->width; x++) sums[x] += row[x];
    }
}

/* Sums of `block` neighbours; where the number is known to the compiler, several at a time. */
static void add_columns(const uint16_t *restrict sums, uint32_t count, uint32_t block, uint16_t *restrict out)
{
    switch (block) {
        case 1:
            memcpy(out, sums, count * sizeof *out);
            break;
        case 2:
            for (uint32_t x = 0; x < count; x++) out[x] = (uint16_t) (sums[2 * x] + sums[2 * x + 1]);
            break;
        default:
            for (uint32_t x = 0; x < count; x++) {
                uint32_t sum = 0;
                for (uint32_t column = 0; column < block; column++) sum += sums[x * block + column];
                out[x] = (uint16_t) sum;
            }
    }
}

/* The averages of row `y` of the reduced picture, times SCALE. At the right and at the bottom there may be fewer samples. */
static void average(const plane *plane, uint32_t y, uint16_t *restrict sums, uint16_t *restrict averages)
{
    uint32_t block = plane->block, first = y * block;
    uint32_t rows = plane->height - first < block ? plane->height - first : block;
    add_rows(plane, first, first + rows, sums);
    uint32_t whole = plane->width / block, samples = block * rows;
    add_columns(sums, whole, block, averages);
    /* Whole blocks have 1, 4, 16 or 64 samples. */
    if (SCALE % samples == 0) for (uint32_t x = 0; x < whole; x++) averages[x] = (uint16_t) (averages[x] * (SCALE / samples));
    else for (uint32_t x = 0; x < whole; x++) averages[x] = (uint16_t) ((uint32_t) averages[x] * SCALE / samples);
    if (whole == plane->reduced) return;
    uint32_t sum = 0, columns = plane->width - whole * block;
    for (uint32_t column = 0; column < columns; column++) sum += sums[whole * block + column];
    averages[whole] = (uint16_t) (sum * SCALE / (columns * rows));
}

static uint8_t clipped(int32_t value)
{
    int32_t rounded = (value + (SCALE / 2)) >> 6;
    return (uint8_t) (rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

/* ITU-R BT.601 with brightness from 16 to 235, as the format has it; the factors times 16384. */
static void convert(const uint16_t *restrict y, const uint16_t *restrict u, const uint16_t *restrict v, uint32_t width, uint8_t *restrict rgb)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3) {
        int32_t light = 19077 * (y[x] - 16 * SCALE), blue = u[x] - 128 * SCALE, red = v[x] - 128 * SCALE;
        rgb[0] = clipped((light + 26149 * red) >> 14);
        rgb[1] = clipped((light - 6419 * blue - 13320 * red) >> 14);
        rgb[2] = clipped((light + 33050 * blue) >> 14);
    }
}

static plane plane_of(const uint8_t *samples, int stride, uint32_t width, uint32_t height, uint32_t block, uint32_t reduced)
{
    return (plane) {samples, (size_t) stride, width, height, block, reduced};
}

void webp_say_reduced(
    darkroom_codec_call *call, const uint8_t *bytes, size_t count, const darkroom_codec_header *header, uint32_t divisor)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) codec_fail(call, DARKROOM_CODEC_IO, "another version of libwebp is installed");
    config.output.colorspace = MODE_YUV;
    VP8StatusCode status = WebPDecode(bytes, count, &config);
    if (status != VP8_STATUS_OK) webp_fail(call, status, true);
    const WebPYUVABuffer *decoded = &config.output.u.YUVA;
    uint32_t width = codec_reduced(header->width, divisor), height = codec_reduced(header->height, divisor);
    uint32_t half_width = codec_reduced(header->width, 2), half_height = codec_reduced(header->height, 2);
    const plane planes[3] = {
        plane_of(decoded->y, decoded->y_stride, header->width, header->height, divisor, width),
        plane_of(decoded->u, decoded->u_stride, half_width, half_height, divisor / 2, width),
        plane_of(decoded->v, decoded->v_stride, half_width, half_height, divisor / 2, width)};
    uint16_t *sums = codec_allocate(call, header->width, sizeof *sums);
    uint16_t *averages = codec_allocate(call, width, 3 * sizeof *averages);
    uint8_t *rgb = codec_allocate(call, width, 3);
    for (uint32_t y = 0; y < height; y++) {
        for (unsigned index = 0; index < 3; index++) average(&planes[index], y, sums, averages + (size_t) index * width);
        convert(averages, averages + width, averages + (size_t) 2 * width, width, rgb);
        codec_rows(call, rgb, (size_t) width * 3, 1);
    }
}
