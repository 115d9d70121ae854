#include <jxl/encode.h>
#include <string.h>

#include "jxl.h"

_Noreturn static void fail(darkroom_codec_call *call) { codec_fail(call, DARKROOM_CODEC_IO, "libjxl cannot encode the picture"); }

static void check(darkroom_codec_call *call, JxlEncoderStatus status)
{
    if (status != JXL_ENC_SUCCESS) fail(call);
}

static void set_picture(darkroom_codec_call *call, JxlEncoder *encoder, const darkroom_codec_header *header, bool is_lossless)
{
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = header->width;
    info.ysize = header->height;
    info.bits_per_sample = header->depth;
    info.num_color_channels = header->colour;
    info.uses_original_profile = is_lossless;
    if (header->channels > header->colour) {
        info.num_extra_channels = 1;
        info.alpha_bits = header->depth;
    }
    check(call, JxlEncoderSetBasicInfo(encoder, &info));
}

static void set_colours(darkroom_codec_call *call, JxlEncoder *encoder, const darkroom_codec_header *header, codec_blob icc)
{
    if (icc.count && JxlEncoderSetICCProfile(encoder, icc.bytes, icc.count) == JXL_ENC_SUCCESS) return;
    if (icc.count) codec_warn(call, DARKROOM_CODEC_METADATA, "the colour profile is dropped: libjxl cannot use it");
    JxlColorEncoding encoding;
    JxlColorEncodingSetToSRGB(&encoding, header->colour == DARKROOM_CODEC_GRAY);
    check(call, JxlEncoderSetColorEncoding(encoder, &encoding));
}

static void add_box(darkroom_codec_call *call, JxlEncoder *encoder, const char *type, codec_blob blob, size_t prefix)
{
    if (blob.count == 0) return;
    uint8_t *bytes = codec_allocate(call, prefix + blob.count, 1);
    memset(bytes, 0, prefix);
    memcpy(bytes + prefix, blob.bytes, blob.count);
    check(call, JxlEncoderAddBox(encoder, type, bytes, prefix + blob.count, JXL_FALSE));
}

static void write_all(darkroom_codec_call *call, JxlEncoder *encoder)
{
    enum { PIECE = 64 << 10 };
    uint8_t *piece = codec_allocate(call, PIECE, 1);
    uint64_t offset = 0;
    for (JxlEncoderStatus status = JXL_ENC_NEED_MORE_OUTPUT; status == JXL_ENC_NEED_MORE_OUTPUT;) {
        uint8_t *next = piece;
        size_t room = PIECE;
        status = JxlEncoderProcessOutput(encoder, &next, &room);
        if (status == JXL_ENC_ERROR) fail(call);
        codec_bytes(call, offset, piece, PIECE - room);
        offset += PIECE - room;
    }
}

/* libjxl looks for pieces that repeat, such as letters. On screens and drawings that takes up to 240 bytes of memory for
 * each pixel, several times as much as all the rest, and makes files of screens 5 to 15 percent smaller. */
static bool searches_patches(const darkroom_codec_options *options)
{
    return options->effort >= DARKROOM_CODEC_PATCHES_EFFORT;
}

/* 1 to 9. libjxl 0.7 ends the process for some pictures of fewer than a hundred pixels from 8 on, without loss. */
static uint32_t effort_for(const darkroom_codec_header *header, const darkroom_codec_options *options)
{
    bool is_small = (uint64_t) header->width * header->height < 1024;
    uint32_t most = is_small && options->lossless ? 7 : 9;
    return options->effort < 1 ? 1 : options->effort > most ? most : options->effort;
}

void jxl_encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    codec_metadata metadata;
    const darkroom_codec_header *header = codec_picture(call, &options, &metadata);
    if (header->colour == DARKROOM_CODEC_CMYK)
        codec_fail(call, DARKROOM_CODEC_MISUSE, "JPEG XL is written from gray or RGB");
    size_t row = codec_row_bytes(header);
    uint8_t *pixels = codec_allocate(call, row, header->height);
    uint32_t count, done = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count)); done += count)
        memcpy(pixels + row * done, rows, row * count);
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    if (!encoder) codec_fail(call, DARKROOM_CODEC_MEMORY, "libjxl got no memory");
    bool has_boxes = metadata.exif.count + metadata.xmp.count > 0;
    if (has_boxes) check(call, JxlEncoderUseBoxes(encoder));
    set_picture(call, encoder, header, options.lossless);
    set_colours(call, encoder, header, metadata.icc);
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (options.lossless) check(call, JxlEncoderSetFrameLossless(settings, JXL_TRUE));
    else {
        /* The scale of cjxl for qualities from 30 on; below, the distance grows faster. */
        float quality = (float) options.quality;
        float distance = quality >= 100 ? 0.01f : quality >= 30 ? 0.1f + (100 - quality) * 0.09f
            : 53.0f / 3000 * quality * quality - 23.0f / 20 * quality + 25;
        check(call, JxlEncoderSetFrameDistance(settings, distance));
    }
    check(call, JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort_for(header, &options)));
    if (!searches_patches(&options))
        check(call, JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_PATCHES, 0));
    const JxlPixelFormat format = {
        header->channels, header->depth == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    check(call, JxlEncoderAddImageFrame(settings, &format, pixels, row * header->height));
    add_box(call, encoder, "Exif", metadata.exif, 4);
    add_box(call, encoder, "xml ", metadata.xmp, 0);
    if (has_boxes) JxlEncoderCloseBoxes(encoder);
    JxlEncoderCloseInput(encoder);
    write_all(call, encoder);
}
