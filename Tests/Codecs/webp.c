#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {
    {.quality = 80, .effort = 2}, {.lossless = 1, .effort = 2}, {.quality = 100, .effort = 10},
    {.quality = 95, .effort = 2, .most_bytes = 40000}, {.quality = 100, .effort = 2, .similarity = 0.97},
    {.quality = 90, .effort = 2, .most_bytes = 40000, .similarity = 0.97}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

static void make_lossy(uint32_t width, uint32_t height)
{
    sample_picture picture = sample_of(width, height, DARKROOM_CODEC_RGB, false, 8);
    uint8_t *rows = sample_rows(&picture, true), *bytes;
    size_t count = WebPEncodeRGB(rows, (int) width, (int) height, (int) width * 3, 95, &bytes);
    inside_require(count > 0, "libwebp makes a sample");
    picture.pixels = rows;
    picture.tolerance = 24;
    sample_say("lossy", bytes, count, &picture);
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

/* The file that libwebp makes of these pixels with the first of the choices. */
static WebPMemoryWriter encoded_by_libwebp(const sample_picture *picture, const uint8_t *rows)
{
    WebPConfig config;
    WebPPicture whole;
    WebPMemoryWriter writer;
    WebPMemoryWriterInit(&writer);
    inside_require(WebPConfigInit(&config) && WebPPictureInit(&whole), "libwebp makes a sample");
    config.quality = (float) sample_options[0].quality;
    config.method = 1;
    whole.use_argb = 1;
    whole.width = (int) picture->header.width;
    whole.height = (int) picture->header.height;
    whole.writer = WebPMemoryWrite;
    whole.custom_ptr = &writer;
    inside_require(WebPPictureAlloc(&whole), "libwebp makes a sample");
    uint32_t channels = picture->header.channels, colours = picture->header.colour;
    for (int y = 0; y < whole.height; y++)
        for (int x = 0; x < whole.width; x++, rows += channels) {
            uint32_t alpha = channels > colours ? rows[colours] : 255;
            whole.argb[(size_t) whole.argb_stride * (size_t) y + (size_t) x] =
                alpha << 24 | (uint32_t) rows[0] << 16 | (uint32_t) rows[colours / 2] << 8 | rows[colours - 1];
        }
    inside_require(WebPEncode(&config, &whole), "libwebp makes a sample");
    WebPPictureFree(&whole);
    return writer;
}

/* What becomes brightness and colour row by row must be what libwebp makes of the whole picture. */
static void compare_with_libwebp(uint32_t width, uint32_t height)
{
    for (unsigned kind = 0; kind < 8; kind++) {
        bool has_alpha = kind & 1, is_opaque = kind & 2;
        sample_picture picture = sample_of(width, height, kind & 4 ? DARKROOM_CODEC_RGB : DARKROOM_CODEC_GRAY, has_alpha, 8);
        uint8_t *rows = sample_rows(&picture, false);
        uint32_t channels = picture.header.channels;
        for (size_t pixel = 0; has_alpha && is_opaque && pixel < (size_t) width * height; pixel++)
            rows[pixel * channels + channels - 1] = 255;
        const codec_metadata none = {.exif = {NULL, 0}};
        inside_outcome outcome;
        inside_encode(&picture.header, &sample_options[0], &none, rows, &outcome);
        WebPMemoryWriter expected = encoded_by_libwebp(&picture, rows);
        inside_require(!outcome.failure && outcome.count == expected.size
                && memcmp(outcome.bytes, expected.mem, expected.size) == 0, "the file is the one that libwebp makes");
        WebPMemoryWriterClear(&expected);
        inside_free(&outcome);
        free(rows);
    }
}

void samples_make(uint32_t width, uint32_t height)
{
    compare_with_libwebp(width, height);
    make_animation(width, height);
    make_lossy(width, height);
}
