#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {{0}};
const size_t sample_options_count = 0;

typedef struct {
    const char *name;
    int bits;
    bool is_interlaced, has_own_colours, is_animated, is_inside, is_larger;
    /* Whether its first colour is transparent. */
    bool is_transparent;
} kind;

static const kind kinds[] = {
    {.name = "1", .bits = 1}, {.name = "2", .bits = 2}, {.name = "4", .bits = 4}, {.name = "8", .bits = 8},
    {.name = "interlaced", .bits = 7, .is_interlaced = true}, {.name = "own-colours", .bits = 5, .has_own_colours = true},
    {.name = "transparent", .bits = 3, .is_transparent = true},
    {.name = "transparent-interlaced", .bits = 8, .is_transparent = true, .is_interlaced = true},
    {.name = "animated", .bits = 6, .is_animated = true, .is_transparent = true},
    {.name = "inside", .bits = 6, .is_inside = true}, {.name = "inside-interlaced", .bits = 6, .is_inside = true, .is_interlaced = true},
    {.name = "larger", .bits = 6, .is_larger = true},
};

static void require(int status) { inside_require(status == GIF_OK, "giflib writes a sample"); }

static int write_bytes(GifFileType *gif, const GifByteType *bytes, int count)
{
    sample_put(gif->UserData, bytes, (size_t) count);
    return count;
}

static ColorMapObject *colours(int count)
{
    ColorMapObject *map = GifMakeMapObject(count, NULL);
    inside_require(map != NULL, "there are colours");
    for (int index = 0; index < count; index++)
        map->Colors[index] = (GifColorType) {
            (GifByteType) sample_value((uint32_t) index * 3, 5, 0, 255), (GifByteType) sample_value((uint32_t) index * 3, 5, 1, 255),
            (GifByteType) sample_value((uint32_t) index * 3, 5, 2, 255)};
    return map;
}

static void put_row(GifFileType *gif, int y, int width, int most)
{
    GifPixelType *row = sample_allocate((size_t) width, 1);
    for (int x = 0; x < width; x++) row[x] = (GifPixelType) sample_value((uint32_t) x, (uint32_t) y, 0, (uint32_t) most);
    require(EGifPutLine(gif, row, width));
    free(row);
}

static void put_picture(GifFileType *gif, const kind *kind, const ColorMapObject *map, int left, int top, int width, int height)
{
    if (kind->is_transparent) {
        GraphicsControlBlock control = {.TransparentColor = 0, .DelayTime = 5};
        GifByteType bytes[4];
        size_t count = EGifGCBToExtension(&control, bytes);
        require(EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, (int) count, bytes));
    }
    require(EGifPutImageDesc(gif, left, top, width, height, kind->is_interlaced, kind->has_own_colours ? map : NULL));
    int most = (1 << kind->bits) - 1;
    static const int first[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    if (!kind->is_interlaced)
        for (int y = 0; y < height; y++) put_row(gif, y, width, most);
    else
        for (int pass = 0; pass < 4; pass++)
            for (int y = first[pass]; y < height; y += step[pass]) put_row(gif, y, width, most);
}

static void make(const kind *kind, uint32_t width, uint32_t height)
{
    int w = (int) width, h = (int) height;
    /* Where the picture lies on its canvas. */
    int left = kind->is_inside ? w / 4 : 0, top = kind->is_inside ? h / 3 : 0;
    int inner_width = kind->is_inside ? (w + 1) / 2 : w, inner_height = kind->is_inside ? (h + 1) / 2 : h;
    sample_file file = {0};
    int error;
    GifFileType *gif = EGifOpen(&file, write_bytes, &error);
    inside_require(gif != NULL, "giflib writes a sample");
    EGifSetGifVersion(gif, true);
    ColorMapObject *map = colours(1 << kind->bits);
    require(EGifPutScreenDesc(gif, kind->is_larger ? (w + 1) / 2 : w, kind->is_larger ? (h + 1) / 2 : h, 8, 0,
        kind->has_own_colours ? NULL : map));
    put_picture(gif, kind, map, left, top, inner_width, inner_height);
    if (kind->is_animated) put_picture(gif, kind, map, 0, 0, (w + 1) / 2, (h + 1) / 2);
    require(EGifCloseFile(gif, &error));
    bool covers = inner_width == w && inner_height == h;
    sample_picture picture = sample_of(width, height, DARKROOM_CODEC_RGB, kind->is_transparent || !covers, 8);
    unsigned channels = picture.header.channels;
    uint8_t *rows = sample_allocate(codec_row_bytes(&picture.header), height);
    for (int y = 0; y < inner_height; y++)
        for (int x = 0; x < inner_width; x++) {
            uint32_t index = sample_value((uint32_t) x, (uint32_t) y, 0, (1u << kind->bits) - 1);
            if (index == 0 && kind->is_transparent) continue;
            uint8_t *to = rows + ((size_t) (y + top) * width + (size_t) (x + left)) * channels;
            to[0] = map->Colors[index].Red;
            to[1] = map->Colors[index].Green;
            to[2] = map->Colors[index].Blue;
            if (channels == 4) to[3] = 255;
        }
    picture.pixels = rows;
    sample_say(kind->name, file.bytes, file.count, &picture);
    GifFreeMapObject(map);
    free(rows);
    free(file.bytes);
}

void samples_make(uint32_t width, uint32_t height)
{
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) make(&kinds[index], width, height);
}
