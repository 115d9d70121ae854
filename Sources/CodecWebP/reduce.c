/* A lossy WebP with its sides divided by 2, 4 or 8. libwebp decodes brightness and colour; both are averaged before they
 * become RGB. That takes two thirds of the time of all its RGB. Colour has half the sides, so it needs less averaging, and
 * none of libwebp's interpolation. */
#include <webp/decode.h>

#include "darkroom_codec_planes.h"
#include "webp.h"

/* Averages have this many times the values, for rounding. */
enum { SCALE = 64 };

CODEC_INLINED uint8_t clipped(int32_t value)
{
    int32_t rounded = (value + (SCALE / 2)) >> 6;
    return (uint8_t) (rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

/* ITU-R BT.601 with brightness from 16 to 235, as the format has it; the factors times 16384. */
DARKROOM_FOR_PROCESSOR static void convert(const uint16_t *restrict y, const uint16_t *restrict u, const uint16_t *restrict v, uint32_t width, uint8_t *restrict rgb)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3) {
        int32_t light = 19077 * (y[x] - 16 * SCALE), blue = u[x] - 128 * SCALE, red = v[x] - 128 * SCALE;
        rgb[0] = clipped((light + 26149 * red) >> 14);
        rgb[1] = clipped((light - 6419 * blue - 13320 * red) >> 14);
        rgb[2] = clipped((light + 33050 * blue) >> 14);
    }
}

static codec_plane plane_of(const uint8_t *samples, int stride, uint32_t width, uint32_t height, uint32_t block)
{
    return (codec_plane) {
        .samples = samples, .stride = (size_t) stride, .width = width, .height = height, .channels = 1, .across = block,
        .down = block, .scale = SCALE};
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
    const codec_plane planes[3] = {
        plane_of(decoded->y, decoded->y_stride, header->width, header->height, divisor),
        plane_of(decoded->u, decoded->u_stride, half_width, half_height, divisor / 2),
        plane_of(decoded->v, decoded->v_stride, half_width, half_height, divisor / 2)};
    void *room = codec_allocate(call, codec_average_room(&planes[0]), 1);
    uint16_t *averages = codec_allocate(call, width, 3 * sizeof *averages);
    uint8_t *rgb = codec_allocate(call, width, 3);
    for (uint32_t y = 0; y < height; y++) {
        for (unsigned index = 0; index < 3; index++) codec_average(&planes[index], y, room, averages + (size_t) index * width);
        convert(averages, averages + width, averages + (size_t) 2 * width, width, rgb);
        codec_rows(call, rgb, (size_t) width * 3, 1);
    }
}
