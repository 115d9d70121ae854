#include <stdlib.h>
#include <string.h>

#include "heif.h"

static void check(darkroom_codec_call *call, struct heif_error error)
{
    if (error.code == heif_error_Ok) return;
    darkroom_codec_result result = error.code == heif_error_Memory_allocation_error ? DARKROOM_CODEC_MEMORY : DARKROOM_CODEC_IO;
    codec_fail(call, result, "libheif: %s", error.message ? error.message : "it cannot encode the picture");
}

/* One row into the plane of the image: `bits` bits a sample. Gray with alpha becomes RGB with alpha, because libheif puts
 * both together only then. */
static void import_row(uint8_t *to, const uint8_t *row, const darkroom_codec_header *header, unsigned bits)
{
    bool is_spread = header->channels == 2;
    size_t count = (size_t) header->width * (is_spread ? 4 : header->channels);
    if (header->depth == 8 && bits == 8 && !is_spread) {
        memcpy(to, row, count);
        return;
    }
    const uint16_t *wide = (const void *) row;
    uint32_t most_in = header->depth == 16 ? 65535 : 255, most = (1u << bits) - 1;
    for (size_t index = 0; index < count; index++) {
        size_t from = is_spread ? index / 4 * 2 + (index % 4 == 3) : index;
        uint32_t value = header->depth == 16 ? wide[from] : row[from];
        uint32_t scaled = (value * most + most_in / 2) / most_in;
        if (bits == 8) {
            to[index] = (uint8_t) scaled;
            continue;
        }
        to[index * 2] = (uint8_t) scaled;
        to[index * 2 + 1] = (uint8_t) (scaled >> 8);
    }
}

static struct heif_image *image_for(darkroom_codec_call *call, const darkroom_codec_header *header, unsigned bits)
{
    bool has_alpha = header->channels > header->colour, is_gray = header->channels == 1;
    enum heif_chroma chroma = is_gray ? heif_chroma_monochrome
        : bits > 8 ? has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE
        : has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    struct heif_image *image = NULL;
    int width = (int) header->width, height = (int) header->height;
    check(call, heif_image_create(width, height, is_gray ? heif_colorspace_monochrome : heif_colorspace_RGB, chroma, &image));
    check(call, heif_image_add_plane(image, is_gray ? heif_channel_Y : heif_channel_interleaved, width, height, (int) bits));
    return image;
}

static void read_rows(darkroom_codec_call *call, const darkroom_codec_header *header, struct heif_image *image, unsigned bits,
    codec_light *light)
{
    int stride = 0;
    enum heif_channel channel = header->channels == 1 ? heif_channel_Y : heif_channel_interleaved;
    uint8_t *plane = heif_image_get_plane(image, channel, &stride);
    size_t row = codec_row_bytes(header);
    uint32_t count, y = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count));) {
        for (uint32_t line = 0; line < count; line++, y++)
            import_row(plane + (size_t) stride * y, rows + row * line, header, bits);
        codec_light_add(light, rows, count);
    }
}

/* Bits of a sample in the result. */
static unsigned bits_for(const darkroom_codec_options *options)
{
    return options->depth == 10 || options->depth == 12 ? options->depth : 8;
}

static struct heif_encoder *encoder_for(
    darkroom_codec_call *call, struct heif_context *context, const darkroom_codec_options *options)
{
    struct heif_encoder *encoder = NULL;
    struct heif_error error = heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder);
    if (error.code != heif_error_Ok)
        codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "libheif has no encoder for AVIF here: %s", error.message);
    if (options->lossless) check(call, heif_encoder_set_lossless(encoder, 1));
    else check(call, heif_encoder_set_lossy_quality(encoder, (int) options->quality));
    uint32_t effort = options->effort > 10 ? 10 : options->effort;
    /* The encoder's speed is 0 to 9; others than aom may not know the names, and do without. */
    heif_encoder_set_parameter_integer(encoder, "speed", (int) (10 - effort < 9 ? 10 - effort : 9));
    heif_encoder_set_parameter_integer(encoder, "threads", 1);
    unsigned chroma = options->lossless ? 444 : options->chroma == 444 || options->chroma == 422 ? options->chroma : 420;
    heif_encoder_set_parameter_string(encoder, "chroma", chroma == 444 ? "444" : chroma == 422 ? "422" : "420");
    heif_codec_expect((heif_expectation) {
        .bits = bits_for(options), .chroma = chroma, .searches_repetition = effort >= DARKROOM_CODEC_REPETITION_EFFORT});
    return encoder;
}

/* What a reader needs to get the same RGB values again. Without a profile, or numbers for the colours, they are sRGB. */
static struct heif_color_profile_nclx *colours(
    darkroom_codec_call *call, const darkroom_codec_header *header, const darkroom_codec_options *options)
{
    struct heif_color_profile_nclx *nclx = heif_nclx_color_profile_alloc();
    if (!nclx) codec_fail(call, DARKROOM_CODEC_MEMORY, "libheif got no memory");
    bool is_known = header->cicp[0] > 0 && header->cicp[0] != 2;
    nclx->color_primaries = is_known ? header->cicp[0] : heif_color_primaries_ITU_R_BT_709_5;
    nclx->transfer_characteristics =
        is_known ? header->cicp[1] : heif_transfer_characteristic_IEC_61966_2_1;
    nclx->matrix_coefficients =
        options->lossless ? heif_matrix_coefficients_RGB_GBR : heif_matrix_coefficients_ITU_R_BT_601_6;
    nclx->full_range_flag = 1;
    return nclx;
}

/* What a file is made of. */
typedef struct {
    darkroom_codec_call *call;
    const darkroom_codec_header *header;
    struct heif_image *image;
    codec_metadata metadata;
    codec_light light;
} work;

static void encode(const work *work, const darkroom_codec_options *options, struct heif_writer *writer, void *target)
{
    darkroom_codec_call *call = work->call;
    const codec_metadata *metadata = &work->metadata;
    struct heif_context *context = heif_context_alloc();
    if (!context) codec_fail(call, DARKROOM_CODEC_MEMORY, "libheif got no memory");
    struct heif_encoder *encoder = encoder_for(call, context, options);
    struct heif_encoding_options *encoding = heif_encoding_options_alloc();
    encoding->output_nclx_profile = colours(call, work->header, options);
    check(call, heif_image_set_nclx_color_profile(work->image, encoding->output_nclx_profile));
    encoding->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
    struct heif_image_handle *handle = NULL;
    check(call, heif_context_encode_image(context, work->image, encoder, encoding, &handle));
    if (metadata->exif.count)
        check(call, heif_context_add_exif_metadata(context, handle, metadata->exif.bytes, (int) metadata->exif.count));
    if (metadata->xmp.count)
        check(call, heif_context_add_XMP_metadata(context, handle, metadata->xmp.bytes, (int) metadata->xmp.count));
    check(call, heif_context_write(context, writer, target));
    heif_image_handle_release(handle);
    heif_nclx_color_profile_free(encoding->output_nclx_profile);
    heif_encoding_options_free(encoding);
    heif_encoder_release(encoder);
    heif_context_free(context);
}

static struct heif_error say_bytes(struct heif_context *context, const void *bytes, size_t count, void *call)
{
    (void) context;
    codec_bytes(call, 0, bytes, count);
    return (struct heif_error) {heif_error_Ok, heif_suberror_Unspecified, ""};
}

static struct heif_error keep_bytes(struct heif_context *context, const void *bytes, size_t count, void *target)
{
    (void) context;
    codec_file *file = target;
    *file = (codec_file) {malloc(count), count};
    if (!file->bytes) return (struct heif_error) {heif_error_Memory_allocation_error, heif_suberror_Unspecified, ""};
    memcpy(file->bytes, bytes, count);
    return (struct heif_error) {heif_error_Ok, heif_suberror_Unspecified, ""};
}

/* Reads a file again. */
static double similarity_of(const work *work, codec_file file)
{
    bool has_alpha = work->header->channels > work->header->colour;
    struct heif_context *context = heif_context_alloc();
    if (!context) codec_fail(work->call, DARKROOM_CODEC_MEMORY, "libheif got no memory");
    heif_context_set_max_decoding_threads(context, 1);
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    struct heif_decoding_options *decoding = heif_decoding_options_alloc();
    decoding->convert_hdr_to_8bit = 1;
    heif_codec_keep_planes(0, 0, (heif_coding) {.is_known = false});
    check(work->call, heif_context_read_from_memory_without_copy(context, file.bytes, file.count, NULL));
    check(work->call, heif_context_get_primary_image_handle(context, &handle));
    check(work->call, heif_decode_image(handle, &image, heif_colorspace_RGB,
        has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, decoding));
    int stride = 0;
    const uint8_t *pixels = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    if (!pixels) codec_fail(work->call, DARKROOM_CODEC_IO, "libheif could not read what it has written");
    double similarity = codec_similarity(&work->light, pixels, (size_t) stride, has_alpha ? 4 : 3);
    heif_image_release(image);
    heif_decoding_options_free(decoding);
    heif_image_handle_release(handle);
    heif_context_free(context);
    return similarity;
}

static codec_file try(void *context, const darkroom_codec_options *options, double *similarity)
{
    const work *work = context;
    codec_file file = {NULL, 0};
    struct heif_writer writer = {.writer_api_version = 1, .write = keep_bytes};
    encode(work, options, &writer, &file);
    bool is_too_large = options->most_bytes > 0 && file.count > options->most_bytes;
    if (work->light.samples && !is_too_large) *similarity = similarity_of(work, file);
    return file;
}

void heif_codec_encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    work work = {.call = call};
    const darkroom_codec_header *header = work.header = codec_picture(call, &options, &work.metadata);
    if (header->colour == DARKROOM_CODEC_CMYK)
        codec_fail(call, DARKROOM_CODEC_MISUSE, "AVIF is written from gray or RGB");
    unsigned bits = bits_for(&options);
    work.image = image_for(call, header, bits);
    bool searches = codec_searches(&options) && !options.lossless;
    if (searches) work.light = codec_light_for(call, header, &options);
    read_rows(call, header, work.image, bits, &work.light);
    codec_blob profile = work.metadata.icc;
    if (profile.count) check(call, heif_image_set_raw_color_profile(work.image, "prof", profile.bytes, profile.count));
    if (searches) return codec_search(call, &options, try, &work);
    struct heif_writer writer = {.writer_api_version = 1, .write = say_bytes};
    encode(&work, &options, &writer, call);
}
