#include <gif_lib.h>
#include <stdio.h>
#include <string.h>

#include "darkroom_codec.h"

/* What giflib reads from. */
typedef struct {
    const uint8_t *bytes;
    size_t count, read;
} source;

static int read_bytes(GifFileType *file, GifByteType *to, int count)
{
    source *source = file->UserData;
    size_t left = source->count - source->read;
    size_t some = (size_t) count < left ? (size_t) count : left;
    memcpy(to, source->bytes + source->read, some);
    source->read += some;
    return (int) some;
}

_Noreturn static void fail(darkroom_codec_call *call, int error)
{
    switch (error) {
        case D_GIF_ERR_EOF_TOO_SOON:
        case D_GIF_ERR_READ_FAILED: codec_fail(call, DARKROOM_CODEC_TRUNCATED, "the GIF file ends too early");
        case D_GIF_ERR_NOT_ENOUGH_MEM: codec_fail(call, DARKROOM_CODEC_MEMORY, "giflib got no memory");
        case D_GIF_ERR_NO_IMAG_DSCR: codec_fail(call, DARKROOM_CODEC_DAMAGED, "the GIF file has no picture");
        default: codec_fail(call, DARKROOM_CODEC_DAMAGED, "the GIF file is damaged (giflib's error %d)", error);
    }
}

/* Goes to the next picture. False if there is none. The last graphic control before it is kept. */
static bool find_picture(GifFileType *file, GraphicsControlBlock *control)
{
    for (GifRecordType type; DGifGetRecordType(file, &type) == GIF_OK;) {
        if (type == IMAGE_DESC_RECORD_TYPE) return true;
        if (type == TERMINATE_RECORD_TYPE) break;
        if (type != EXTENSION_RECORD_TYPE) continue;
        int code;
        GifByteType *extension;
        if (DGifGetExtension(file, &code, &extension) != GIF_OK) return false;
        while (extension) {
            if (code == GRAPHICS_EXT_FUNC_CODE) DGifExtensionToGCB(extension[0], extension + 1, control);
            if (DGifGetExtensionNext(file, &extension) != GIF_OK) return false;
        }
    }
    return false;
}

/* The part of the first picture that lies on the canvas. */
typedef struct {
    const ColorMapObject *colours;
    int left, top, width, height;
    int transparent;
} frame;

/* Pixels outside of the picture, those of the transparent colour and those without a colour stay 0. */
static void draw(const frame *frame, const GifPixelType *numbers, const darkroom_codec_header *header, uint8_t *row)
{
    memset(row, 0, codec_row_bytes(header));
    if (!numbers) return;
    for (int x = 0; x < frame->width; x++) {
        if (numbers[x] == frame->transparent || numbers[x] >= frame->colours->ColorCount) continue;
        GifColorType colour = frame->colours->Colors[numbers[x]];
        uint8_t *to = row + (size_t) (frame->left + x) * header->channels;
        to[0] = colour.Red;
        to[1] = colour.Green;
        to[2] = colour.Blue;
        if (header->channels == 4) to[3] = 255;
    }
}

static void read_row(darkroom_codec_call *call, GifFileType *file, GifPixelType *numbers)
{
    if (DGifGetLine(file, numbers, file->Image.Width) != GIF_OK) fail(call, file->Error);
}

/* An interlaced picture has its rows in four passes. */
static GifPixelType *read_passes(darkroom_codec_call *call, GifFileType *file)
{
    static const int first[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    size_t width = (size_t) file->Image.Width;
    GifPixelType *numbers = codec_allocate(call, width, (size_t) file->Image.Height);
    for (int pass = 0; pass < 4; pass++)
        for (int row = first[pass]; row < file->Image.Height; row += step[pass])
            read_row(call, file, numbers + (size_t) row * width);
    return numbers;
}

/* The standard leaves the colours of a file without any to the reader. */
static const ColorMapObject *grays(void)
{
    static GifColorType colours[256];
    static const ColorMapObject map = {.ColorCount = 256, .BitsPerPixel = 8, .Colors = colours};
    for (unsigned index = 0; index < 256; index++)
        colours[index] = (GifColorType) {(GifByteType) index, (GifByteType) index, (GifByteType) index};
    return &map;
}

static void decode(darkroom_codec_call *call)
{
    source from = {0};
    from.bytes = codec_source(call, &from.count);
    int error = 0;
    GifFileType *file = DGifOpen(&from, read_bytes, &error);
    if (!file) fail(call, error);
    GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
    if (!find_picture(file, &control)) fail(call, file->Error ? file->Error : D_GIF_ERR_NO_IMAG_DSCR);
    if (DGifGetImageDesc(file) != GIF_OK) fail(call, file->Error);
    frame frame = {
        .colours = file->Image.ColorMap ? file->Image.ColorMap : file->SColorMap,
        .left = file->Image.Left, .top = file->Image.Top,
        .width = file->Image.Width, .height = file->Image.Height,
        .transparent = control.TransparentColor,
    };
    if (!frame.colours) frame.colours = grays();
    /* Viewers enlarge a canvas that is smaller than its first picture. */
    uint32_t right = (uint32_t) (frame.left + frame.width), bottom = (uint32_t) (frame.top + frame.height);
    darkroom_codec_header header = {
        .width = (uint32_t) file->SWidth > right ? (uint32_t) file->SWidth : right,
        .height = (uint32_t) file->SHeight > bottom ? (uint32_t) file->SHeight : bottom,
        .colour = DARKROOM_CODEC_RGB, .channels = 4, .depth = 8, .source_depth = 8, .orientation = 1, .cicp = {2, 2, 2, 1},
    };
    bool covers = frame.left == 0 && frame.top == 0 && right == header.width && bottom == header.height;
    if (covers && frame.transparent == NO_TRANSPARENT_COLOR) header.channels = 3;
    size_t width = (size_t) frame.width;
    header.memory = (file->Image.Interlace ? width * (size_t) frame.height : width) + codec_row_bytes(&header);
    codec_begin(call, header, (codec_metadata) {0});
    GifPixelType *all = file->Image.Interlace ? read_passes(call, file) : NULL;
    GifPixelType *one = codec_allocate(call, width, 1);
    uint8_t *row = codec_allocate(call, codec_row_bytes(&header), 1);
    for (uint32_t y = 0; y < header.height; y++) {
        bool is_inside = y >= (uint32_t) frame.top && y < bottom;
        if (is_inside && !all) read_row(call, file, one);
        GifPixelType *numbers = all && is_inside ? all + width * (y - (uint32_t) frame.top) : one;
        draw(&frame, is_inside ? numbers : NULL, &header, row);
        codec_rows(call, row, codec_row_bytes(&header), 1);
    }
    if (find_picture(file, &control))
        codec_warn(call, DARKROOM_CODEC_ANIMATED, "the GIF file is an animation: its first frame is used");
}

static const char *library(void)
{
    static char text[32];
    snprintf(text, sizeof text, "giflib %d.%d.%d", GIFLIB_MAJOR, GIFLIB_MINOR, GIFLIB_RELEASE);
    return text;
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .decode = decode};
    return darkroom_codec_main(&codec, argc, argv);
}
