#define _GNU_SOURCE
#include <string.h>

#include "heif.h"

_Noreturn static void fail(darkroom_codec_call *call, struct heif_error error)
{
    const char *words = error.message ? error.message : "";
    switch (error.subcode) {
        case heif_suberror_End_of_data: codec_fail(call, DARKROOM_CODEC_TRUNCATED, "libheif: %s", words);
        case heif_suberror_Security_limit_exceeded: codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "libheif: %s", words);
        default: break;
    }
    switch (error.code) {
        case heif_error_Unsupported_feature:
        case heif_error_Unsupported_filetype:
        case heif_error_Decoder_plugin_error: {
            bool has_decoder = error.code != heif_error_Unsupported_feature
                || error.subcode != heif_suberror_Unsupported_codec;
            darkroom_codec_result result =
                error.code == heif_error_Decoder_plugin_error ? DARKROOM_CODEC_DAMAGED : DARKROOM_CODEC_UNSUPPORTED;
            codec_fail(call, result, has_decoder ? "libheif: %s" : "libheif has no decoder for this picture: %s", words);
        }
        case heif_error_Memory_allocation_error: codec_fail(call, DARKROOM_CODEC_MEMORY, "libheif: %s", words);
        default: codec_fail(call, DARKROOM_CODEC_DAMAGED, "libheif: %s", words);
    }
}

void heif_codec_check(darkroom_codec_call *call, struct heif_error error)
{
    if (error.code != heif_error_Ok) fail(call, error);
}

typedef struct {
    darkroom_codec_call *call;
    struct heif_image_handle *handle;
    darkroom_codec_header header;
    codec_metadata metadata;
    heif_coding coding;
} picture;

static void read_colours(picture *picture)
{
    for (unsigned index = 0; index < 3; index++) picture->header.cicp[index] = 2;
    size_t count = heif_image_handle_get_raw_color_profile_size(picture->handle);
    if (count > 0 && count <= codec_limits(picture->call)->most_metadata) {
        uint8_t *bytes = codec_allocate(picture->call, count, 1);
        heif_codec_check(picture->call, heif_image_handle_get_raw_color_profile(picture->handle, bytes));
        picture->metadata.icc = (codec_blob) {bytes, count};
    }
    struct heif_color_profile_nclx *nclx = NULL;
    if (heif_image_handle_get_nclx_color_profile(picture->handle, &nclx).code != heif_error_Ok || !nclx) return;
    /* Shown as values of other transfer functions, they would look washed out. */
    bool is_pq = nclx->transfer_characteristics == heif_transfer_characteristic_ITU_R_BT_2100_0_PQ;
    if (is_pq || nclx->transfer_characteristics == heif_transfer_characteristic_ITU_R_BT_2100_0_HLG)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED,
            "the picture has a high dynamic range (%s), which is not read; export it with a standard range",
            is_pq ? "PQ" : "HLG");
    picture->header.cicp[0] = nclx->color_primaries;
    picture->header.cicp[1] = nclx->transfer_characteristics;
    picture->coding.is_known = true;
    picture->coding.matrix = (heif_matrix) {nclx->matrix_coefficients, nclx->full_range_flag};
    /* The rows are RGB, whatever matrix the file has. */
    picture->header.cicp[2] = 0;
    picture->header.cicp[3] = 1;
    heif_nclx_color_profile_free(nclx);
}

static codec_blob read_block(picture *picture, heif_item_id id)
{
    size_t count = heif_image_handle_get_metadata_size(picture->handle, id);
    if (count == 0 || count > codec_limits(picture->call)->most_metadata) return (codec_blob) {NULL, 0};
    uint8_t *bytes = codec_allocate(picture->call, count, 1);
    if (heif_image_handle_get_metadata(picture->handle, id, bytes).code != heif_error_Ok) return (codec_blob) {NULL, 0};
    return (codec_blob) {bytes, count};
}

/* The first four bytes say where the TIFF header is, after them. */
static codec_blob from_header(codec_blob exif)
{
    if (exif.count < 4) return (codec_blob) {NULL, 0};
    uint32_t place = (uint32_t) exif.bytes[0] << 24 | (uint32_t) exif.bytes[1] << 16 | (uint32_t) exif.bytes[2] << 8 | exif.bytes[3];
    if (place > exif.count - 4) return (codec_blob) {NULL, 0};
    return (codec_blob) {exif.bytes + 4 + place, exif.count - 4 - place};
}

static void read_metadata(picture *picture)
{
    heif_item_id ids[16];
    int count = heif_image_handle_get_list_of_metadata_block_IDs(picture->handle, NULL, ids, 16);
    for (int index = 0; index < count; index++) {
        const char *type = heif_image_handle_get_metadata_type(picture->handle, ids[index]);
        const char *content = heif_image_handle_get_metadata_content_type(picture->handle, ids[index]);
        if (strcmp(type, "Exif") == 0 && !picture->metadata.exif.count)
            picture->metadata.exif = from_header(read_block(picture, ids[index]));
        else if (strcmp(type, "mime") == 0 && strcmp(content, "application/rdf+xml") == 0)
            picture->metadata.xmp = read_block(picture, ids[index]);
    }
}

/* Samples of `bits` bits become such of 16. */
static void widen(uint16_t *row, size_t count, int bits)
{
    uint32_t most = (1u << bits) - 1;
    for (size_t index = 0; index < count; index++) {
        uint32_t value = row[index] < most ? row[index] : most;
        row[index] = (uint16_t) ((value * UINT32_C(65535) + most / 2) / most);
    }
}

/* Associated alpha becomes straight. */
static void straighten(void *row, const darkroom_codec_header *header)
{
    uint8_t *narrow = row;
    uint16_t *wide = row;
    uint32_t most = header->depth == 16 ? 65535 : 255;
    for (uint32_t x = 0; x < header->width; x++)
        for (unsigned channel = 0; channel < 3; channel++) {
            size_t place = (size_t) x * 4;
            uint32_t alpha = header->depth == 16 ? wide[place + 3] : narrow[place + 3];
            uint32_t value = header->depth == 16 ? wide[place + channel] : narrow[place + channel];
            uint64_t straight = alpha ? ((uint64_t) value * most + alpha / 2) / alpha : 0;
            if (straight > most) straight = most;
            if (header->depth == 16) wide[place + channel] = (uint16_t) straight;
            else narrow[place + channel] = (uint8_t) straight;
        }
}

struct heif_error heif_codec_decode_image(darkroom_codec_call *call, struct heif_image_handle *handle,
    const darkroom_codec_header *header, struct heif_image **image)
{
    bool is_wide = header->depth == 16, has_alpha = header->channels == 4;
    enum heif_chroma chroma = is_wide
        ? has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE
        : has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    heif_codec_begin_hevc();
    struct heif_error error = heif_decode_image(handle, image, heif_colorspace_RGB, chroma, NULL);
    /* What libheif says itself comes first. */
    if (error.code == heif_error_Ok) heif_codec_check_hevc(call);
    return error;
}

heif_rgb heif_codec_rgb(darkroom_codec_call *call, const darkroom_codec_header *header, struct heif_image *image)
{
    int stride = 0;
    uint8_t *rows = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    int bits = heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    bool has_size = (uint32_t) heif_image_get_width(image, heif_channel_interleaved) == header->width
        && (uint32_t) heif_image_get_height(image, heif_channel_interleaved) == header->height;
    if (!rows || !has_size || bits < 8 || bits > 16 || (size_t) stride < codec_row_bytes(header))
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "libheif: the picture is not as its header says");
    return (heif_rgb) {rows, (size_t) stride, (unsigned) bits};
}

static void say_rows(picture *picture)
{
    const darkroom_codec_header *header = &picture->header;
    struct heif_image *image = NULL;
    heif_codec_check(picture->call, heif_codec_decode_image(picture->call, picture->handle, header, &image));
    heif_rgb decoded = heif_codec_rgb(picture->call, header, image);
    bool is_associated = header->channels == 4 && heif_image_handle_is_premultiplied_alpha(picture->handle);
    for (uint32_t y = 0; y < header->height; y++) {
        uint8_t *row = decoded.rows + decoded.stride * y;
        if (header->depth == 16) widen((uint16_t *) (void *) row, (size_t) header->width * header->channels, (int) decoded.bits);
        if (is_associated) straighten(row, header);
        codec_rows(picture->call, row, codec_row_bytes(header), 1);
    }
}

/* A number of `count` bytes, the highest one first. */
static uint64_t number(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned index = 0; index < count; index++) value = value << 8 | bytes[index];
    return value;
}

/* The box that says what the file has and how it is shown (ISO/IEC 14496-12, 4.2); empty if there is none. */
static codec_blob description(codec_blob file)
{
    while (file.count >= 16) {
        uint64_t size = number(file.bytes, 4);
        if (size == 1) size = number(file.bytes + 8, 8);
        if (size == 0 || size > file.count) size = file.count;
        if (size < 8) break;
        if (memcmp(file.bytes + 4, "meta", 4) == 0) return (codec_blob) {file.bytes, (size_t) size};
        file.bytes += size;
        file.count -= (size_t) size;
    }
    return (codec_blob) {NULL, 0};
}

static bool mentions(codec_blob box, const char *word)
{
    return box.count > 0 && memmem(box.bytes, box.count, word, strlen(word)) != NULL;
}

/* Whether dav1d decodes the whole picture at once, which is then shown as it is. A word may be there for another picture, or
 * by chance: then the picture is reduced more slowly. */
static bool has_planes(const picture *picture, codec_blob file)
{
    static const char *const others[] = {"grid", "iovl", "iden", "irot", "imir", "clap", "hvc1"};
    if (!heif_codec_keeps_planes()) return false;
    if (picture->coding.is_known && !heif_codec_knows(picture->coding.matrix)) return false;
    codec_blob box = description(file);
    for (size_t index = 0; index < sizeof others / sizeof *others; index++)
        if (mentions(box, others[index])) return false;
    return mentions(box, "av01");
}

/* The file as libheif and dav1d copy it, dav1d's frame before and after the grain of its film, and what it knows of blocks. */
static uint64_t planes_memory(const darkroom_codec_header *header, size_t file)
{
    uint64_t pixels = (uint64_t) (header->width + 128) * (header->height + 128);
    return 2 * (uint64_t) file + pixels * (header->depth / 8) * 6 + pixels + (UINT64_C(16) << 20);
}

void heif_codec_decode(darkroom_codec_call *call)
{
    size_t count;
    const uint8_t *bytes = codec_source(call, &count);
    picture picture = {.call = call};
    struct heif_context *context = heif_context_alloc();
    if (!context) codec_fail(call, DARKROOM_CODEC_MEMORY, "libheif got no memory");
    heif_context_set_max_decoding_threads(context, 1);
    heif_codec_check(call, heif_context_read_from_memory_without_copy(context, bytes, count, NULL));
    heif_codec_check(call, heif_context_get_primary_image_handle(context, &picture.handle));
    int head = count < 4096 ? (int) count : 4096;
    if (heif_has_compatible_brand(bytes, head, "avis") == 1 || heif_has_compatible_brand(bytes, head, "msf1") == 1)
        codec_warn(call, DARKROOM_CODEC_ANIMATED, "the file is an image sequence: its primary picture is used");
    int pictures = heif_context_get_number_of_top_level_images(context);
    if (pictures > 1)
        codec_warn(call, DARKROOM_CODEC_ANIMATED, "the file has %d pictures: its primary one is used", pictures);
    int bits = heif_image_handle_get_luma_bits_per_pixel(picture.handle);
    bool has_alpha = heif_image_handle_has_alpha_channel(picture.handle);
    darkroom_codec_header *header = &picture.header;
    header->width = (uint32_t) heif_image_handle_get_width(picture.handle);
    header->height = (uint32_t) heif_image_handle_get_height(picture.handle);
    header->colour = DARKROOM_CODEC_RGB;
    header->channels = has_alpha ? 4 : 3;
    header->depth = bits > 8 ? 16 : 8;
    header->source_depth = bits > 0 ? (uint32_t) bits : 8;
    /* libheif turns and mirrors as the container says; Exif's orientation then has no meaning. */
    header->orientation = 1;
    read_colours(&picture);
    read_metadata(&picture);
    uint64_t pixels = (uint64_t) header->width * header->height, samples = header->depth / 8;
    /* The decoder's frames, libheif's planes, and the interleaved rows before and after they are turned. */
    header->memory = pixels * samples * (6 + 3 * header->channels) + (UINT64_C(48) << 20);
    /* Alpha would have to be weighed. */
    header->reduces = !has_alpha && bits <= 12;
    picture.coding.has_planes = header->reduces && has_planes(&picture, (codec_blob) {bytes, count});
    /* What only the data say may need libheif's formulas. */
    bool is_certain = picture.coding.has_planes && picture.coding.is_known;
    header->reduced_memory = is_certain ? planes_memory(header, count) : header->memory;
    uint32_t divisor = codec_begin(call, *header, picture.metadata);
    heif_codec_keep_planes(0, 0, picture.coding);
    if (divisor > 1) heif_codec_say_reduced(call, picture.handle, header, picture.coding, divisor);
    else say_rows(&picture);
}
