#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "webp.h"

/* Where the encoder puts its bytes. */
typedef struct {
    darkroom_codec_call *call;
    uint64_t offset;
} sink;

static int write_bytes(const uint8_t *bytes, size_t count, const WebPPicture *picture)
{
    sink *sink = picture->custom_ptr;
    codec_bytes(sink->call, sink->offset, bytes, count);
    sink->offset += count;
    return 1;
}

/* One row of 8 bits, as libwebp keeps the pixels of what it encodes without loss: 0xAARRGGBB. */
static void import_row(uint32_t *to, const uint8_t *row, const darkroom_codec_header *header)
{
    const uint8_t *from = row;
    bool is_gray = header->colour == DARKROOM_CODEC_GRAY, has_alpha = header->channels > header->colour;
    for (uint32_t x = 0; x < header->width; x++, from += header->channels) {
        uint32_t red = from[0], green = is_gray ? red : from[1], blue = is_gray ? red : from[2];
        uint32_t alpha = has_alpha ? from[header->colour] : 255;
        to[x] = alpha << 24 | red << 16 | green << 8 | blue;
    }
}

static void configure(darkroom_codec_call *call, WebPConfig *config, const darkroom_codec_options *options)
{
    if (!WebPConfigInit(config)) codec_fail(call, DARKROOM_CODEC_IO, "another version of libwebp is installed");
    uint32_t effort = options->effort > 10 ? 10 : options->effort;
    if (options->lossless) {
        /* 0 to 9. */
        WebPConfigLosslessPreset(config, (int) (effort * 9 + 5) / 10);
        config->exact = 1;
    } else {
        config->quality = (float) options->quality;
        /* 0 to 6. */
        config->method = (int) (effort * 6 + 5) / 10;
    }
    if (!WebPValidateConfig(config)) codec_fail(call, DARKROOM_CODEC_MISUSE, "libwebp refuses the options");
}

/* A file with metadata has them in chunks around the picture; for this it must be there as a whole. */
static codec_file assemble(darkroom_codec_call *call, const WebPMemoryWriter *picture, const codec_metadata *metadata)
{
    WebPMux *mux = WebPMuxNew();
    WebPData image = {picture->mem, picture->size}, file = {NULL, 0};
    const struct {
        const char *name;
        codec_blob blob;
    } chunks[] = {{"ICCP", metadata->icc}, {"EXIF", metadata->exif}, {"XMP ", metadata->xmp}};
    bool is_good = mux && WebPMuxSetImage(mux, &image, 0) == WEBP_MUX_OK;
    for (size_t index = 0; is_good && index < sizeof chunks / sizeof *chunks; index++) {
        WebPData data = {chunks[index].blob.bytes, chunks[index].blob.count};
        is_good = data.size == 0 || WebPMuxSetChunk(mux, chunks[index].name, &data, 0) == WEBP_MUX_OK;
    }
    if (!is_good || WebPMuxAssemble(mux, &file) != WEBP_MUX_OK)
        codec_fail(call, DARKROOM_CODEC_MEMORY, "libwebp could not put the file together");
    WebPMuxDelete(mux);
    return (codec_file) {(uint8_t *) file.bytes, file.size};
}

static void read_whole(darkroom_codec_call *call, WebPPicture *picture, const darkroom_codec_header *header)
{
    picture->use_argb = 1;
    if (!WebPPictureAlloc(picture)) codec_fail(call, DARKROOM_CODEC_MEMORY, "libwebp got no memory");
    size_t row = codec_row_bytes(header);
    uint32_t count, done = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count)); done += count)
        for (uint32_t line = 0; line < count; line++)
            import_row(picture->argb + (size_t) picture->argb_stride * (done + line), rows + row * line, header);
}

static void read_planes(
    darkroom_codec_call *call, WebPPicture *picture, const darkroom_codec_header *header, codec_light *light)
{
    webp_planes planes;
    webp_begin_planes(call, &planes, picture, header);
    uint32_t count;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count));) {
        webp_add_rows(&planes, rows, count);
        codec_light_add(light, rows, count);
    }
    webp_end_planes(&planes);
}

static void encode(darkroom_codec_call *call, const darkroom_codec_options *options, WebPPicture *picture)
{
    WebPConfig config;
    configure(call, &config, options);
    if (WebPEncode(&config, picture)) return;
    bool is_memory = picture->error_code == VP8_ENC_ERROR_OUT_OF_MEMORY
        || picture->error_code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    codec_fail(call, is_memory ? DARKROOM_CODEC_MEMORY : DARKROOM_CODEC_TOO_LARGE,
        is_memory ? "libwebp got no memory" : "libwebp cannot encode the picture (error %d)", picture->error_code);
}

/* What a file is made of. */
typedef struct {
    darkroom_codec_call *call;
    WebPPicture *picture;
    codec_metadata metadata;
    codec_light light;
} work;

static bool has_metadata(const codec_metadata *metadata)
{
    return metadata->icc.count + metadata->exif.count + metadata->xmp.count > 0;
}

static codec_file encode_whole(const work *work, const darkroom_codec_options *options)
{
    WebPMemoryWriter memory;
    WebPMemoryWriterInit(&memory);
    work->picture->writer = WebPMemoryWrite;
    work->picture->custom_ptr = &memory;
    encode(work->call, options, work->picture);
    if (!has_metadata(&work->metadata)) return (codec_file) {memory.mem, memory.size};
    codec_file file = assemble(work->call, &memory, &work->metadata);
    WebPMemoryWriterClear(&memory);
    return file;
}

static codec_file try(void *context, const darkroom_codec_options *options, double *similarity)
{
    const work *work = context;
    codec_file file = encode_whole(work, options);
    bool is_too_large = options->most_bytes > 0 && file.count > options->most_bytes;
    if (!work->light.samples || is_too_large) return file;
    int width, height;
    bool has_alpha = work->picture->a != NULL;
    uint8_t *pixels = (has_alpha ? WebPDecodeRGBA : WebPDecodeRGB)(file.bytes, file.count, &width, &height);
    if (!pixels) codec_fail(work->call, DARKROOM_CODEC_MEMORY, "libwebp could not read what it has written");
    uint32_t channels = has_alpha ? 4 : 3;
    *similarity = codec_similarity(&work->light, pixels, (size_t) width * channels, channels);
    WebPFree(pixels);
    return file;
}

void webp_encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    codec_metadata metadata;
    const darkroom_codec_header *header = codec_picture(call, &options, &metadata);
    if (header->depth != 8 || header->colour == DARKROOM_CODEC_CMYK)
        codec_fail(call, DARKROOM_CODEC_MISUSE, "WebP has 8 bits a sample, gray or colours");
    if (header->width > WEBP_MAX_DIMENSION || header->height > WEBP_MAX_DIMENSION)
        codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "a side of a WebP file has at most %d pixels", WEBP_MAX_DIMENSION);
    WebPPicture picture;
    if (!WebPPictureInit(&picture)) codec_fail(call, DARKROOM_CODEC_IO, "another version of libwebp is installed");
    picture.width = (int) header->width;
    picture.height = (int) header->height;
    work work = {.call = call, .picture = &picture, .metadata = metadata};
    if (options.lossless) {
        read_whole(call, &picture, header);
    } else {
        work.light = codec_light_for(call, header, &options);
        read_planes(call, &picture, header, &work.light);
        if (codec_searches(&options)) return codec_search(call, &options, try, &work);
    }
    if (has_metadata(&metadata)) {
        codec_file file = encode_whole(&work, &options);
        return codec_bytes(call, 0, file.bytes, file.count);
    }
    sink sink = {call, 0};
    picture.writer = write_bytes;
    picture.custom_ptr = &sink;
    encode(call, &options, &picture);
}
