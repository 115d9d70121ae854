#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "webp.h"

/* The file is given to the decoder in pieces, so that its first rows can be used before its last ones are there. */
enum { PIECE = 64 << 10 };

static codec_blob chunk(const WebPDemuxer *demuxer, const char *name, WebPChunkIterator *place)
{
    if (!WebPDemuxGetChunk(demuxer, name, 1, place)) return (codec_blob) {NULL, 0};
    return (codec_blob) {place->chunk.bytes, place->chunk.size};
}

/* Some writers put the marker of JPEG's segment before the TIFF header. */
static codec_blob without_marker(codec_blob exif)
{
    static const uint8_t marker[6] = {'E', 'x', 'i', 'f', 0, 0};
    bool has_marker = exif.count >= sizeof marker && __builtin_memcmp(exif.bytes, marker, sizeof marker) == 0;
    return has_marker ? (codec_blob) {exif.bytes + sizeof marker, exif.count - sizeof marker} : exif;
}

_Noreturn void webp_fail(darkroom_codec_call *call, VP8StatusCode status, bool is_whole)
{
    switch (status) {
        case VP8_STATUS_OUT_OF_MEMORY:
            codec_fail(call, DARKROOM_CODEC_MEMORY, "libwebp got no memory");
        case VP8_STATUS_SUSPENDED:
        case VP8_STATUS_NOT_ENOUGH_DATA:
            codec_fail(call, DARKROOM_CODEC_TRUNCATED, "the WebP file ends too early");
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "libwebp does not know a feature of this WebP file");
        default:
            codec_fail(call, DARKROOM_CODEC_DAMAGED, is_whole ? "the WebP file is damaged"
                : "the WebP file's header is damaged");
    }
}

/* Whether the container says that the file is longer. */
static bool is_cut(const uint8_t *bytes, size_t count)
{
    if (count < 8) return true;
    uint32_t rest = (uint32_t) bytes[7] << 24 | (uint32_t) bytes[6] << 16 | (uint32_t) bytes[5] << 8 | bytes[4];
    return rest > count - 8;
}

/* The first frame of an animation, on its canvas. */
static void first_frame(darkroom_codec_call *call, const uint8_t *bytes, size_t count, const darkroom_codec_header *header)
{
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) codec_fail(call, DARKROOM_CODEC_IO, "another version of libwebpdemux is installed");
    options.color_mode = MODE_RGBA;
    WebPData data = {bytes, count};
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    uint8_t *canvas;
    int timestamp;
    if (!decoder || !WebPAnimDecoderGetNext(decoder, &canvas, &timestamp))
        codec_fail(call, is_cut(bytes, count) ? DARKROOM_CODEC_TRUNCATED : DARKROOM_CODEC_DAMAGED,
            is_cut(bytes, count) ? "the WebP file ends too early" : "the first frame of the WebP file is damaged");
    codec_rows(call, canvas, codec_row_bytes(header), header->height);
}

static void still(darkroom_codec_call *call, const uint8_t *bytes, size_t count, const darkroom_codec_header *header)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) codec_fail(call, DARKROOM_CODEC_IO, "another version of libwebp is installed");
    size_t row = codec_row_bytes(header);
    config.output.colorspace = header->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.stride = (int) row;
    config.output.u.RGBA.size = row * header->height;
    uint8_t *pixels = config.output.u.RGBA.rgba = codec_allocate(call, row, header->height);
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (!decoder) codec_fail(call, DARKROOM_CODEC_MEMORY, "libwebp got no memory");
    uint32_t said = 0;
    for (size_t given = 0; given < count;) {
        size_t next = count - given < PIECE ? count : given + PIECE;
        VP8StatusCode status = WebPIUpdate(decoder, bytes, next);
        if (status != VP8_STATUS_OK && status != VP8_STATUS_SUSPENDED) webp_fail(call, status, true);
        int ready = 0;
        WebPIDecGetRGB(decoder, &ready, NULL, NULL, NULL);
        if (ready > (int) said) codec_rows(call, pixels + row * said, row, (uint32_t) ready - said);
        if (ready > (int) said) said = (uint32_t) ready;
        if (status == VP8_STATUS_OK) break;
        given = next;
    }
    if (said < header->height)
        webp_fail(call, is_cut(bytes, count) ? VP8_STATUS_NOT_ENOUGH_DATA : VP8_STATUS_BITSTREAM_ERROR, true);
}

void webp_decode(darkroom_codec_call *call)
{
    size_t count;
    const uint8_t *bytes = codec_source(call, &count);
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(bytes, count, &features);
    if (status != VP8_STATUS_OK) webp_fail(call, status, false);
    darkroom_codec_header header = {
        .width = (uint32_t) features.width,
        .height = (uint32_t) features.height,
        .colour = DARKROOM_CODEC_RGB,
        .channels = features.has_alpha || features.has_animation ? 4 : 3,
        .depth = 8,
        .source_depth = 8,
        .cicp = {2, 2, 2, 1},
    };
    uint64_t pixels = (uint64_t) header.width * header.height;
    /* The rows; and of a lossless picture its values, of a lossy one with alpha the plane and its values, of an animation
     * two canvases. */
    bool is_lossless = features.format == 2;
    header.memory = pixels * header.channels + (is_lossless ? pixels * 4 : features.has_alpha ? pixels * 5 : 0)
        + (features.has_animation ? pixels * 8 : 0) + (UINT64_C(8) << 20);
    /* Alpha would have to be weighed, and without loss there is no colour of half the size. */
    header.reduces = !is_lossless && !features.has_alpha && !features.has_animation;
    /* Brightness, and colour with a quarter of its samples each. */
    header.reduced_memory = pixels + pixels / 2 + (UINT64_C(8) << 20);
    WebPData data = {bytes, count};
    WebPDemuxState state;
    WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);
    codec_metadata metadata = {0};
    WebPChunkIterator icc = {0}, exif = {0}, xmp = {0};
    if (demuxer) {
        metadata.icc = chunk(demuxer, "ICCP", &icc);
        metadata.exif = without_marker(chunk(demuxer, "EXIF", &exif));
        metadata.xmp = chunk(demuxer, "XMP ", &xmp);
    }
    if (features.has_animation)
        codec_warn(call, DARKROOM_CODEC_ANIMATED, "the WebP file is an animation: its first frame is used");
    uint32_t divisor = codec_begin(call, header, metadata);
    if (divisor > 1) webp_say_reduced(call, bytes, count, &header, divisor);
    else if (features.has_animation) first_frame(call, bytes, count, &header);
    else still(call, bytes, count, &header);
}
