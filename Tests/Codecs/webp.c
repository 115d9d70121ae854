#include <stdio.h>
#include <stdlib.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {
    {.quality = 80, .effort = 2}, {.lossless = 1, .effort = 2}, {.quality = 100, .effort = 10}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

/* The average of the pixels that a sample of a reduced picture stands for. */
static uint8_t averaged(const sample_picture *from, const uint8_t *rows, uint32_t divisor, uint32_t x, uint32_t y, unsigned channel)
{
    uint32_t sum = 0, count = 0;
    for (uint32_t down = y * divisor; down < (y + 1) * divisor && down < from->header.height; down++)
        for (uint32_t across = x * divisor; across < (x + 1) * divisor && across < from->header.width; across++, count++)
            sum += rows[((size_t) down * from->header.width + across) * 3 + channel];
    return (uint8_t) ((sum + count / 2) / count);
}

/* A lossy picture, decoded whole and at all sizes. */
static void make_reduced(uint32_t width, uint32_t height)
{
    sample_picture whole = sample_of(width, height, DARKROOM_CODEC_RGB, false, 8);
    uint8_t *rows = sample_rows(&whole, true), *bytes;
    size_t count = WebPEncodeRGB(rows, (int) width, (int) height, (int) width * 3, 95, &bytes);
    inside_require(count > 0, "libwebp makes a sample");
    for (uint32_t divisor = 1; divisor <= 8; divisor *= 2) {
        uint32_t across = codec_reduced(width, divisor), down = codec_reduced(height, divisor);
        sample_picture picture = sample_of(across, down, DARKROOM_CODEC_RGB, false, 8);
        uint8_t *pixels = sample_allocate(across, (size_t) down * 3), *to = pixels;
        for (uint32_t y = 0; y < down; y++)
            for (uint32_t x = 0; x < across; x++)
                for (unsigned channel = 0; channel < 3; channel++) *to++ = averaged(&whole, rows, divisor, x, y, channel);
        picture.pixels = pixels;
        picture.divisor = divisor;
        picture.tolerance = 24;
        char name[20];
        snprintf(name, sizeof name, "lossy-%u", divisor);
        sample_say(name, bytes, count, &picture);
        free(pixels);
    }
    WebPFree(bytes);
    free(rows);
}

/* An animation of two frames, the second one inverted, without loss. */
static void make_animation(uint32_t width, uint32_t height)
{
    WebPAnimEncoderOptions options;
    WebPConfig config;
    inside_require(WebPAnimEncoderOptionsInit(&options) && WebPConfigInit(&config), "libwebp makes a sample");
    config.lossless = config.exact = 1;
    WebPAnimEncoder *encoder = WebPAnimEncoderNew((int) width, (int) height, &options);
    sample_picture sample = sample_of(width, height, DARKROOM_CODEC_RGB, true, 8);
    uint8_t *rows = sample_rows(&sample, false);
    for (size_t index = 3; index < (size_t) width * height * 4; index += 4) rows[index] |= 1;
    for (int frame = 0; frame < 2; frame++) {
        WebPPicture picture;
        inside_require(WebPPictureInit(&picture), "libwebp makes a sample");
        picture.use_argb = 1;
        picture.width = (int) width;
        picture.height = (int) height;
        inside_require(WebPPictureImportRGBA(&picture, rows, (int) width * 4)
                && WebPAnimEncoderAdd(encoder, &picture, frame * 100, &config), "libwebp makes a frame");
        WebPPictureFree(&picture);
        for (size_t index = 0; index < (size_t) width * height * 4; index++) rows[index] ^= 0xfe;
    }
    WebPData data;
    WebPDataInit(&data);
    inside_require(WebPAnimEncoderAdd(encoder, NULL, 200, NULL) && WebPAnimEncoderAssemble(encoder, &data), "libwebp makes a sample");
    sample.pixels = rows;
    sample_say("animated", data.bytes, data.size, &sample);
    WebPDataClear(&data);
    WebPAnimEncoderDelete(encoder);
    free(rows);
}

void samples_make(uint32_t width, uint32_t height)
{
    make_animation(width, height);
    make_reduced(width, height);
}
