#include <stdlib.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {
    {.quality = 80, .effort = 2}, {.lossless = 1, .effort = 2}, {.quality = 100, .effort = 10}};
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

void samples_make(uint32_t width, uint32_t height)
{
    make_animation(width, height);
    make_lossy(width, height);
}
