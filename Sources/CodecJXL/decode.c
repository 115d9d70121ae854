#include <jxl/decode.h>
#include <jxl/version.h>
#include <string.h>

#include "jxl.h"

/* From version 0.9 on, libjxl's questions about colours have no format of pixels. */
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define OF_FORMAT(format)
#else
#define OF_FORMAT(format) format,
#endif

/* The boxes of metadata, as they come; each grows up to the limit. */
typedef struct {
    uint8_t *bytes;
    size_t count, room;
} box;

typedef struct {
    darkroom_codec_call *call;
    JxlDecoder *decoder;
    darkroom_codec_header header;
    JxlPixelFormat format;
    codec_blob icc;
    box exif, xmp;
    /* The one that is being read; NULL if none is. */
    box *open;
} picture;

static void check(const picture *picture, JxlDecoderStatus status)
{
    if (status != JXL_DEC_SUCCESS)
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "libjxl refuses the picture");
}

static void begin(picture *picture, const uint8_t *bytes, size_t count, int events)
{
    if (picture->decoder) JxlDecoderDestroy(picture->decoder);
    picture->decoder = JxlDecoderCreate(NULL);
    if (!picture->decoder) codec_fail(picture->call, DARKROOM_CODEC_MEMORY, "libjxl got no memory");
    check(picture, JxlDecoderSubscribeEvents(picture->decoder, events));
    /* Boxes may be compressed. An error only says that this version cannot. */
    JxlDecoderSetDecompressBoxes(picture->decoder, JXL_TRUE);
    check(picture, JxlDecoderSetInput(picture->decoder, bytes, count));
    /* Boxes need to know where the file ends. For pixels, the end would be an error like any other, where libjxl otherwise
     * wants more. */
    if (events & JXL_DEC_BOX) JxlDecoderCloseInput(picture->decoder);
}

static void read_basic_info(picture *picture)
{
    JxlBasicInfo info;
    check(picture, JxlDecoderGetBasicInfo(picture->decoder, &info));
    darkroom_codec_header *header = &picture->header;
    header->width = info.xsize;
    header->height = info.ysize;
    header->colour = info.num_color_channels == 1 ? DARKROOM_CODEC_GRAY : DARKROOM_CODEC_RGB;
    header->channels = header->colour + (info.alpha_bits > 0 ? 1 : 0);
    header->depth = info.bits_per_sample > 8 ? 16 : 8;
    header->source_depth = info.bits_per_sample < 16 ? info.bits_per_sample : 16;
    /* libjxl turns the picture as the file says. */
    header->orientation = 1;
    if (info.exponent_bits_per_sample > 0)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the JPEG XL file has floating-point samples, which are not read");
    if (info.have_animation)
        codec_warn(picture->call, DARKROOM_CODEC_ANIMATED, "the JPEG XL file is an animation: its first frame is used");
    picture->format = (JxlPixelFormat) {
        header->channels, header->depth == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
}

/* Colours that the file has as numbers, where CICP has them, too. libjxl's numbers are those of CICP, where P3 has one for
 * each white. Returns whether they are sRGB, as those of a picture without a profile: libjxl makes a profile of all, which
 * formats without numbers need for others. */
static bool read_numbers(picture *picture, const JxlColorEncoding *encoding)
{
    uint32_t *cicp = picture->header.cicp, primaries = 0;
    if (encoding->color_space == JXL_COLOR_SPACE_GRAY && encoding->white_point == JXL_WHITE_POINT_D65) primaries = 1;
    else if (encoding->color_space != JXL_COLOR_SPACE_RGB) return false;
    else if (encoding->primaries == JXL_PRIMARIES_P3)
        primaries = encoding->white_point == JXL_WHITE_POINT_D65 ? 12 : encoding->white_point == JXL_WHITE_POINT_DCI ? 11 : 0;
    else if (encoding->white_point == JXL_WHITE_POINT_D65 && encoding->primaries != JXL_PRIMARIES_CUSTOM)
        primaries = (uint32_t) encoding->primaries;
    bool is_known = encoding->transfer_function == JXL_TRANSFER_FUNCTION_709
        || encoding->transfer_function == JXL_TRANSFER_FUNCTION_SRGB || encoding->transfer_function == JXL_TRANSFER_FUNCTION_LINEAR
        || encoding->transfer_function == JXL_TRANSFER_FUNCTION_DCI;
    if (primaries == 0 || !is_known) return false;
    cicp[0] = primaries;
    cicp[1] = (uint32_t) encoding->transfer_function;
    cicp[2] = 0;
    cicp[3] = 1;
    return cicp[0] == 1 && cicp[1] == 13;
}

static void read_colours(picture *picture)
{
    for (unsigned index = 0; index < 3; index++) picture->header.cicp[index] = 2;
    JxlColorEncoding encoding;
    if (JxlDecoderGetColorAsEncodedProfile(
            picture->decoder, OF_FORMAT(&picture->format) JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS) {
        if (encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ || encoding.transfer_function == JXL_TRANSFER_FUNCTION_HLG)
            codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED,
                "the picture has a high dynamic range (%s), which is not read; export it with a standard range",
                encoding.transfer_function == JXL_TRANSFER_FUNCTION_PQ ? "PQ" : "HLG");
        if (read_numbers(picture, &encoding)) return;
    }
    size_t count = 0;
    if (JxlDecoderGetICCProfileSize(picture->decoder, OF_FORMAT(&picture->format) JXL_COLOR_PROFILE_TARGET_DATA, &count)
            != JXL_DEC_SUCCESS || count == 0 || count > codec_limits(picture->call)->most_metadata)
        return;
    uint8_t *bytes = codec_allocate(picture->call, count, 1);
    if (JxlDecoderGetColorAsICCProfile(picture->decoder, OF_FORMAT(&picture->format) JXL_COLOR_PROFILE_TARGET_DATA, bytes, count)
        == JXL_DEC_SUCCESS)
        picture->icc = (codec_blob) {bytes, count};
}

/* What has been read of the open box is kept; NULL closes it. */
static void close_box(picture *picture)
{
    if (!picture->open) return;
    picture->open->count = picture->open->room - JxlDecoderReleaseBoxBuffer(picture->decoder);
    picture->open = NULL;
}

static void open_box(picture *picture)
{
    close_box(picture);
    JxlBoxType type;
    if (JxlDecoderGetBoxType(picture->decoder, type, JXL_TRUE) != JXL_DEC_SUCCESS) return;
    box *box = memcmp(type, "Exif", 4) == 0 ? &picture->exif : memcmp(type, "xml ", 4) == 0 ? &picture->xmp : NULL;
    if (!box || box->bytes) return;
    /* One byte more than is permitted, so that what is larger is noticed. */
    box->room = (size_t) codec_limits(picture->call)->most_metadata + 1;
    box->bytes = codec_allocate(picture->call, box->room, 1);
    if (JxlDecoderSetBoxBuffer(picture->decoder, box->bytes, box->room) == JXL_DEC_SUCCESS) picture->open = box;
}

/* The boxes may stand behind the pixels, so they are read before them. A file that ends too early has those that came. */
static void read_metadata(picture *picture, const uint8_t *bytes, size_t count)
{
    begin(picture, bytes, count, JXL_DEC_BOX);
    for (;;) {
        JxlDecoderStatus status = JxlDecoderProcessInput(picture->decoder);
        if (status == JXL_DEC_BOX) open_box(picture);
        else break;
    }
    close_box(picture);
}

static codec_blob exif(const picture *picture)
{
    const box *box = &picture->exif;
    if (box->count < 4) return (codec_blob) {NULL, 0};
    uint32_t place = (uint32_t) box->bytes[0] << 24 | (uint32_t) box->bytes[1] << 16 | (uint32_t) box->bytes[2] << 8 | box->bytes[3];
    if (place > box->count - 4) return (codec_blob) {NULL, 0};
    return (codec_blob) {box->bytes + 4 + place, box->count - 4 - place};
}

void jxl_decode(darkroom_codec_call *call)
{
    size_t count;
    const uint8_t *bytes = codec_source(call, &count);
    picture picture = {.call = call};
    read_metadata(&picture, bytes, count);
    begin(&picture, bytes, count, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE);
    darkroom_codec_header *header = &picture.header;
    uint8_t *pixels = NULL;
    size_t row = 0;
    for (;;) {
        JxlDecoderStatus status = JxlDecoderProcessInput(picture.decoder);
        switch (status) {
            case JXL_DEC_BASIC_INFO: read_basic_info(&picture); break;
            case JXL_DEC_COLOR_ENCODING:
                read_colours(&picture);
                /* libjxl works with floating-point numbers: several planes of them at once. */
                header->memory = (uint64_t) header->width * header->height * (16 + 20 * header->channels) + (UINT64_C(64) << 20);
                codec_begin(call, *header, (codec_metadata) {
                    .icc = picture.icc, .exif = exif(&picture), .xmp = {picture.xmp.bytes, picture.xmp.count}});
                row = codec_row_bytes(header);
                break;
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                pixels = codec_allocate(call, row, header->height);
                check(&picture, JxlDecoderSetImageOutBuffer(picture.decoder, &picture.format, pixels, row * header->height));
                break;
            case JXL_DEC_FULL_IMAGE:
                return codec_rows(call, pixels, row, header->height);
            case JXL_DEC_NEED_MORE_INPUT:
                codec_fail(call, DARKROOM_CODEC_TRUNCATED, "the JPEG XL file ends too early");
            case JXL_DEC_SUCCESS:
                codec_fail(call, DARKROOM_CODEC_DAMAGED, "the JPEG XL file has no picture");
            default:
                codec_fail(call, DARKROOM_CODEC_DAMAGED, "libjxl cannot read the picture");
        }
    }
}
