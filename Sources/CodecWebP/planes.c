/* Rows become brightness and colour while they come, bit for bit as libwebp makes them of a whole picture. So no picture with
 * four bytes a pixel is needed, and the compiler takes several samples at a time. */
#include <math.h>
#include <string.h>

#include "webp.h"

/* Colour is averaged as light: a value's light is its power of 0.8, with 12 bits. */
enum { LIGHT = (1 << 12) - 1, NODES = 32 };

/* The light of a value; and four times the value of the sum of four lights, between nodes by a straight line. */
static uint16_t light[256], values[4 * LIGHT + 1];

void webp_prepare(void)
{
    const double power = 0.8;
    for (unsigned value = 0; value < 256; value++) light[value] = (uint16_t) (pow(1. / 255. * value, power) * LIGHT + .5);
    uint32_t nodes[NODES + 1];
    for (unsigned node = 0; node <= NODES; node++) nodes[node] = (uint32_t) (255. * pow(128. / LIGHT * node, 1. / power) + .5);
    for (unsigned sum = 0; sum <= 4 * LIGHT; sum++) {
        uint32_t before = sum / 512, part = sum % 512;
        values[sum] = (uint16_t) ((nodes[before + 1] * part + nodes[before] * (512 - part) + 64) >> 7);
    }
}

/* Two rows, of which the second one may be the first one again, and where their planes are. */
typedef struct {
    const uint8_t *rows[2];
    uint32_t width;
    uint8_t *light[2], *blue, *red;
    /* Room for averages of red, green and blue. */
    uint16_t *averages[3];
} pair;

/* `step` is the number of channels: with one or two, the picture is gray. */
CODEC_INLINED void add_light(const uint8_t *restrict row, uint32_t width, uint32_t step, uint8_t *restrict to)
{
    uint32_t green = step > 2 ? 1 : 0, blue = step > 2 ? 2 : 0;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t sum = 16839u * row[x * step] + 33059u * row[x * step + green] + 6420u * row[x * step + blue];
        to[x] = (uint8_t) ((sum + (1u << 15) + (16u << 16)) >> 16);
    }
}

CODEC_INLINED void average_light(const pair *pair, uint32_t step)
{
    const uint8_t *restrict top = pair->rows[0], *restrict bottom = pair->rows[1];
    uint32_t colours = step > 2 ? 3 : 1, whole = pair->width / 2;
    for (uint32_t colour = 0; colour < colours; colour++) {
        uint16_t *restrict to = pair->averages[colour];
        uint32_t place = colour;
        for (uint32_t x = 0; x < whole; x++, place += 2 * step)
            to[x] = values[light[top[place]] + light[top[place + step]] + light[bottom[place]] + light[bottom[place + step]]];
        if (pair->width % 2) to[whole] = values[2 * (light[top[place]] + light[bottom[place]])];
    }
}

CODEC_INLINED uint8_t clipped(int32_t sum)
{
    int32_t value = (sum + (1 << 17) + (128 << 18)) >> 18;
    return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

CODEC_INLINED void add_colour(const pair *pair, uint32_t step)
{
    const uint16_t *restrict reds = pair->averages[0], *restrict greens = pair->averages[step > 2 ? 1 : 0];
    const uint16_t *restrict blues = pair->averages[step > 2 ? 2 : 0];
    uint8_t *restrict to_blue = pair->blue, *restrict to_red = pair->red;
    uint32_t count = codec_reduced(pair->width, 2);
    for (uint32_t x = 0; x < count; x++) {
        int32_t red = reds[x], green = greens[x], blue = blues[x];
        to_blue[x] = clipped(-9719 * red - 19081 * green + 28800 * blue);
        to_red[x] = clipped(28800 * red - 24116 * green - 4684 * blue);
    }
}

/* Colours of blocks that are transparent in part: light is weighed by alpha. */
static void weigh_light(const pair *pair, uint32_t step)
{
    uint32_t colours = step > 2 ? 3 : 1;
    for (uint32_t x = 0; x < codec_reduced(pair->width, 2); x++) {
        uint32_t left = 2 * x * step, right = 2 * x + 1 < pair->width ? left + step : left;
        const uint8_t *pixels[4] = {pair->rows[0] + left, pair->rows[0] + right, pair->rows[1] + left, pair->rows[1] + right};
        uint32_t alpha = 0;
        for (unsigned index = 0; index < 4; index++) alpha += pixels[index][colours];
        if (alpha == 0 || alpha == 4 * 255) continue;
        for (uint32_t colour = 0; colour < colours; colour++) {
            uint32_t sum = 0;
            for (unsigned index = 0; index < 4; index++) sum += pixels[index][colours] * (uint32_t) light[pixels[index][colour]];
            pair->averages[colour][x] = values[sum * ((UINT32_C(1) << 19) / alpha) >> 17];
        }
    }
}

CODEC_INLINED void add_both(const pair *pair, uint32_t step, bool is_transparent)
{
    add_light(pair->rows[0], pair->width, step, pair->light[0]);
    if (pair->light[1]) add_light(pair->rows[1], pair->width, step, pair->light[1]);
    average_light(pair, step);
    if (is_transparent) weigh_light(pair, step);
    add_colour(pair, step);
}

DARKROOM_FOR_PROCESSOR static void add_pair(const pair *pair, uint32_t step, bool is_transparent)
{
    switch (step) {
        case 1: return add_both(pair, 1, false);
        case 2: return add_both(pair, 2, is_transparent);
        case 3: return add_both(pair, 3, false);
        default: return add_both(pair, 4, is_transparent);
    }
}

void webp_begin_planes(
    darkroom_codec_call *call, webp_planes *planes, WebPPicture *picture, const darkroom_codec_header *header)
{
    *planes = (webp_planes) {.picture = picture, .channels = header->channels, .has_alpha = header->channels > header->colour};
    picture->use_argb = 0;
    picture->colorspace = planes->has_alpha ? WEBP_YUV420A : WEBP_YUV420;
    if (!WebPPictureAlloc(picture)) codec_fail(call, DARKROOM_CODEC_MEMORY, "libwebp got no memory");
    planes->kept = codec_allocate(call, header->width, header->channels);
    planes->averages = codec_allocate(call, codec_reduced(header->width, 2), 3 * sizeof *planes->averages);
}

/* Whether a pixel of the row is not opaque. */
static bool add_alpha(const webp_planes *planes, const uint8_t *row, uint32_t y)
{
    uint32_t width = (uint32_t) planes->picture->width;
    uint8_t *to = planes->picture->a + (size_t) planes->picture->a_stride * y, all = 255;
    for (uint32_t x = 0; x < width; x++) all &= to[x] = row[(size_t) x * planes->channels + planes->channels - 1];
    return all != 255;
}

/* Rows `y` and `y` + 1; at the end of a picture there may be only one. */
static void add_rows(webp_planes *planes, const uint8_t *top, const uint8_t *bottom)
{
    const WebPPicture *picture = planes->picture;
    uint32_t y = planes->done, half = codec_reduced((uint32_t) picture->width, 2);
    uint8_t *first = picture->y + (size_t) picture->y_stride * y;
    size_t colour = (size_t) picture->uv_stride * (y / 2);
    const pair pair = {
        .rows = {top, bottom ? bottom : top}, .width = (uint32_t) picture->width,
        .light = {first, bottom ? first + picture->y_stride : NULL}, .blue = picture->u + colour, .red = picture->v + colour,
        .averages = {planes->averages, planes->averages + half, planes->averages + (size_t) 2 * half}};
    bool is_transparent = planes->has_alpha && add_alpha(planes, top, y);
    if (planes->has_alpha && bottom) is_transparent |= add_alpha(planes, bottom, y + 1);
    planes->is_transparent |= is_transparent;
    add_pair(&pair, planes->channels, is_transparent);
    planes->done += bottom ? 2 : 1;
}

void webp_add_rows(webp_planes *planes, const uint8_t *rows, uint32_t count)
{
    size_t row = (size_t) planes->picture->width * planes->channels;
    if (planes->has_kept && count > 0) {
        add_rows(planes, planes->kept, rows);
        planes->has_kept = false;
        rows += row;
        count--;
    }
    for (; count >= 2; count -= 2, rows += 2 * row) add_rows(planes, rows, rows + row);
    if (count == 0) return;
    memcpy(planes->kept, rows, row);
    planes->has_kept = true;
}

void webp_end_planes(webp_planes *planes)
{
    if (planes->has_kept) add_rows(planes, planes->kept, NULL);
    if (!planes->has_alpha || planes->is_transparent) return;
    planes->picture->colorspace = WEBP_YUV420;
    planes->picture->a = NULL;
    planes->picture->a_stride = 0;
}
