#include <libheif/heif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {
    {.quality = 70, .effort = 1}, {.lossless = 1, .effort = 1}, {.quality = 90, .effort = 1, .chroma = 444},
    {.quality = 90, .effort = 1, .depth = 10}, {.lossless = 1, .effort = 1, .depth = 10},
    {.quality = 90, .effort = 1, .depth = 10, .chroma = 444}, {.quality = 90, .effort = 1, .depth = 10, .chroma = 422},
    {.quality = 90, .effort = 1, .most_bytes = 40000}, {.quality = 100, .effort = 1, .similarity = 0.97},
    {.quality = 95, .effort = 1, .depth = 10, .chroma = 444, .most_bytes = 90000, .similarity = 0.97},
    {.quality = 90, .effort = 1, .depth = 12, .chroma = 422}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

static void require(struct heif_error error, const char *what)
{
    if (error.code != heif_error_Ok) inside_require(false, error.message ? error.message : what);
}

static struct heif_error write_bytes(struct heif_context *context, const void *bytes, size_t count, void *file)
{
    (void) context;
    sample_put(file, bytes, count);
    return (struct heif_error) {heif_error_Ok, heif_suberror_Unspecified, ""};
}

/* Where a pixel of the rows comes from, in the picture as it is stored. */
static void turned(unsigned orientation, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t *from_x, uint32_t *from_y)
{
    uint32_t right = width - 1 - x, down = height - 1 - y;
    const uint32_t places[9][2] = {{x, y}, {x, y}, {right, y}, {right, down}, {x, down}, {y, x}, {y, right}, {down, right}, {down, x}};
    *from_x = places[orientation][0];
    *from_y = places[orientation][1];
}

/* With other bytes in the last third of the file, where the samples are: libde265 goes on, and only warns. */
static void say_damaged(const char *name, const sample_file *file, sample_picture picture)
{
    if (file->count < 4096) return;
    char text[100];
    snprintf(text, sizeof text, "%s-damaged", name);
    uint8_t *damaged = sample_allocate(file->count, 1);
    memcpy(damaged, file->bytes, file->count);
    for (size_t place = file->count / 3 * 2; place < file->count / 4 * 3; place++) damaged[place] ^= 0x55;
    picture.failure = DARKROOM_CODEC_DAMAGED;
    sample_say(text, damaged, file->count, &picture);
    free(damaged);
}

/* With limited ranges, the matrix is that of BT.709. */
static void make(const char *name, enum heif_compression_format format, bool has_alpha, bool is_limited, unsigned orientation,
    uint32_t width, uint32_t height)
{
    if (!heif_have_encoder_for_format(format)) return;
    sample_picture stored = sample_of(width, height, DARKROOM_CODEC_RGB, has_alpha, 8);
    uint8_t *rows = sample_rows(&stored, true);
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    struct heif_image *image = NULL;
    require(heif_context_get_encoder_for_format(context, format, &encoder), "an encoder");
    heif_encoder_set_lossy_quality(encoder, 95);
    heif_encoder_set_parameter_string(encoder, "chroma", "444");
    heif_encoder_set_parameter_string(encoder, "preset", "ultrafast");
    heif_encoder_set_parameter_integer(encoder, "speed", 9);
    heif_encoder_set_parameter_integer(encoder, "threads", 1);
    require(heif_image_create((int) width, (int) height, heif_colorspace_RGB,
        has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, &image), "an image");
    require(heif_image_add_plane(image, heif_channel_interleaved, (int) width, (int) height, 8), "a plane");
    int stride;
    uint8_t *plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    size_t row = codec_row_bytes(&stored.header);
    for (uint32_t y = 0; y < height; y++) memcpy(plane + (size_t) stride * y, rows + row * y, row);
    struct heif_encoding_options *options = heif_encoding_options_alloc();
    options->image_orientation = (enum heif_orientation) orientation;
    struct heif_color_profile_nclx *nclx = heif_nclx_color_profile_alloc();
    if (is_limited) {
        nclx->matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_709_5;
        nclx->full_range_flag = 0;
        options->output_nclx_profile = nclx;
    }
    require(heif_context_encode_image(context, image, encoder, options, NULL), "encoding");
    heif_nclx_color_profile_free(nclx);
    heif_encoding_options_free(options);
    sample_file file = {0};
    struct heif_writer writer = {.writer_api_version = 1, .write = write_bytes};
    require(heif_context_write(context, &writer, &file), "writing");
    bool is_turned = orientation >= 5;
    sample_picture seen = sample_of(is_turned ? height : width, is_turned ? width : height, DARKROOM_CODEC_RGB, has_alpha, 8);
    uint8_t *pixels = sample_allocate(width, (size_t) height * stored.header.channels), *to = pixels;
    for (uint32_t y = 0; y < seen.header.height; y++)
        for (uint32_t x = 0; x < seen.header.width; x++, to += stored.header.channels) {
            uint32_t from_x, from_y;
            turned(orientation, x, y, seen.header.width, seen.header.height, &from_x, &from_y);
            memcpy(to, rows + row * from_y + (size_t) from_x * stored.header.channels, stored.header.channels);
        }
    seen.pixels = pixels;
    seen.tolerance = 24;
    sample_say(name, file.bytes, file.count, &seen);
    if (format == heif_compression_HEVC) say_damaged(name, &file, seen);
    heif_image_release(image);
    heif_encoder_release(encoder);
    heif_context_free(context);
    free(pixels);
    free(file.bytes);
    free(rows);
}

void samples_make(uint32_t width, uint32_t height)
{
    make("hevc", heif_compression_HEVC, false, false, 1, width, height);
    make("hevc-alpha", heif_compression_HEVC, true, false, 1, width, height);
    make("av1-limited", heif_compression_AV1, false, true, 1, width, height);
    static const char *const names[9] = {"", "av1", "av1-2", "av1-3", "av1-4", "av1-5", "av1-6", "av1-7", "av1-8"};
    for (unsigned orientation = 1; orientation <= 8; orientation++)
        make(names[orientation], heif_compression_AV1, orientation % 3 == 0, false, orientation, width, height);
}
