/* A HEIC or AVIF with its sides divided by 2, 4 or 8. Where dav1d gives brightness and colour, both are averaged before they
 * become RGB, with the same formulas as libheif's. Otherwise libheif's RGB is averaged. */
#include "darkroom_codec_planes.h"
#include "heif.h"

/* Averages have so many times the values, for rounding. They have 14 to 16 bits. */
static uint32_t scale_of(unsigned bits) { return bits > 10 ? UINT32_C(65536) >> bits : 64; }

/* Kr and Kb of the matrices (ISO/IEC 23091-2, table 4). As in libheif, an unspecified one is that of BT.601. */
static bool weights(unsigned matrix, float *red, float *blue)
{
    switch (matrix) {
        case 1: *red = 0.2126f, *blue = 0.0722f; return true;
        case 4: *red = 0.30f, *blue = 0.11f; return true;
        case 2:
        case 5:
        case 6: *red = 0.299f, *blue = 0.114f; return true;
        case 7: *red = 0.212f, *blue = 0.087f; return true;
        case 9:
        case 10: *red = 0.2627f, *blue = 0.0593f; return true;
        default: return false;
    }
}

bool heif_codec_knows(heif_matrix matrix)
{
    float red, blue;
    return weights(matrix.matrix, &red, &blue);
}

/* Sums of averages with these factors are samples of RGB. */
typedef struct {
    float light, red_of_red, green_of_blue, green_of_red, blue_of_blue;
    float red, green, blue;
    float most;
} factors;

static factors factors_of(heif_matrix matrix, const heif_planes *planes, unsigned depth)
{
    unsigned bits = planes->bits;
    float most = depth == 16 ? 65535 : 255, step = most / (float) ((1 << bits) - 1), unit = step / (float) scale_of(bits);
    /* Libheif takes gray as full whatever the file says. */
    bool is_full = matrix.is_full || planes->across == 0;
    /* The factors of libheif for limited ranges. */
    float light = is_full ? 1 : 1.1689f, colour = is_full ? 1 : 1.1429f;
    float darkest = is_full ? 0 : (float) (16 << (bits - 8)) * light * step, middle = (float) (1 << (bits - 1)) * step;
    float red = 0, blue = 0;
    weights(matrix.matrix, &red, &blue);
    float green = 1 - red - blue, to_red = 2 * (1 - red) * colour, to_blue = 2 * (1 - blue) * colour;
    float from_blue = -blue * to_blue / green, from_red = -red * to_red / green;
    return (factors) {
        light * unit, to_red * unit, from_blue * unit, from_red * unit, to_blue * unit,
        -darkest - to_red * middle, -darkest - (from_blue + from_red) * middle, -darkest - to_blue * middle, most};
}

CODEC_INLINED float bounded(float value, float most)
{
    float positive = value > 0 ? value : 0;
    return positive < most ? positive : most;
}

/* A function for rows of this type. */
#define CONVERT(name, type)                                                                                             \
    DARKROOM_FOR_PROCESSOR static void name(const factors *with, const uint16_t *restrict light, const uint16_t *restrict blue,\
        const uint16_t *restrict red, uint32_t width, type *restrict rgb)                                               \
    {                                                                                                                   \
        const factors by = *with;                                                                                       \
        for (uint32_t x = 0; x < width; x++) {                                                                          \
            float l = light[x] * by.light, b = blue[x], r = red[x];                                                     \
            rgb[3 * x] = (type) (int) (bounded(l + by.red_of_red * r + by.red, by.most) + 0.5f);                        \
            rgb[3 * x + 1] = (type) (int) (                                                                             \
                bounded(l + by.green_of_blue * b + by.green_of_red * r + by.green, by.most) + 0.5f);                    \
            rgb[3 * x + 2] = (type) (int) (bounded(l + by.blue_of_blue * b + by.blue, by.most) + 0.5f);                 \
        }                                                                                                               \
    }

CONVERT(convert, uint8_t)
CONVERT(convert_wide, uint16_t)

/* A function for averages of samples that are those of rows already. */
#define RESCALE(name, type, most)                                                                                       \
    DARKROOM_FOR_PROCESSOR static void name(const uint16_t *restrict from, size_t count, float unit, type *restrict to)    \
    {                                                                                                                   \
        for (size_t index = 0; index < count; index++)                                                                  \
            to[index] = (type) (int) (bounded((float) from[index] * unit, most) + 0.5f);                                \
    }

RESCALE(rescale_narrow, uint8_t, 255)
RESCALE(rescale_wide, uint16_t, 65535)

static void rescale(const uint16_t *from, size_t count, float unit, const darkroom_codec_header *header, void *row)
{
    if (header->depth == 16) rescale_wide(from, count, unit, row);
    else rescale_narrow(from, count, unit, row);
}

static float unit_of(unsigned bits, const darkroom_codec_header *header)
{
    return (header->depth == 16 ? 65535.0f : 255.0f) / (float) ((1 << bits) - 1) / (float) scale_of(bits);
}

/* Each average becomes red, green and blue, in place behind it. */
static void rescale_gray(uint16_t *averages, uint32_t width, float unit, const darkroom_codec_header *header, void *row)
{
    for (uint32_t x = width; x-- > 0;) averages[3 * x] = averages[3 * x + 1] = averages[3 * x + 2] = averages[x];
    rescale(averages, (size_t) width * 3, unit, header, row);
}

static void say_planes(darkroom_codec_call *call, const heif_planes *decoded, const darkroom_codec_header *header,
    heif_matrix matrix, uint32_t divisor)
{
    uint32_t width = codec_reduced(header->width, divisor), height = codec_reduced(header->height, divisor);
    unsigned count = decoded->across ? 3 : 1;
    codec_plane planes[3];
    for (unsigned index = 0; index < count; index++) {
        uint32_t across = index ? decoded->across : 1, down = index ? decoded->down : 1;
        planes[index] = (codec_plane) {
            .samples = decoded->samples[index], .stride = decoded->strides[index], .width = codec_reduced(header->width, across),
            .height = codec_reduced(header->height, down), .channels = 1, .is_wide = decoded->bits > 8,
            .across = divisor / across, .down = divisor / down, .scale = scale_of(decoded->bits)};
    }
    factors by = factors_of(matrix, decoded, header->depth);
    void *room = codec_allocate(call, codec_average_room(&planes[0]), 1);
    uint16_t *averages = codec_allocate(call, width, 3 * sizeof *averages), *rgb = codec_allocate(call, width, 3 * sizeof *rgb);
    const uint16_t *blue = averages + width, *red = blue + width;
    for (uint32_t y = 0; y < height; y++) {
        for (unsigned index = 0; index < count; index++)
            codec_average(&planes[index], y, room, averages + (size_t) index * width);
        if (count == 1) rescale_gray(averages, width, unit_of(decoded->bits, header), header, rgb);
        else if (header->depth == 16) convert_wide(&by, averages, blue, red, width, rgb);
        else convert(&by, averages, blue, red, width, (uint8_t *) rgb);
        codec_rows(call, rgb, 0, 1);
    }
}

static void say_pixels(darkroom_codec_call *call, struct heif_image *image, const darkroom_codec_header *header, uint32_t divisor)
{
    heif_rgb decoded = heif_codec_rgb(call, header, image);
    if (decoded.bits > 12)
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "libheif: the picture is not as its header says");
    uint32_t width = codec_reduced(header->width, divisor), height = codec_reduced(header->height, divisor);
    const codec_plane plane = {
        .samples = decoded.rows, .stride = decoded.stride, .width = header->width, .height = header->height, .channels = 3,
        .is_wide = header->depth == 16, .across = divisor, .down = divisor, .scale = scale_of(decoded.bits)};
    void *room = codec_allocate(call, codec_average_room(&plane), 1);
    uint16_t *averages = codec_allocate(call, width, 3 * sizeof *averages), *rgb = codec_allocate(call, width, 3 * sizeof *rgb);
    for (uint32_t y = 0; y < height; y++) {
        codec_average(&plane, y, room, averages);
        rescale(averages, (size_t) width * 3, unit_of(decoded.bits, header), header, rgb);
        codec_rows(call, rgb, 0, 1);
    }
}

void heif_codec_say_reduced(darkroom_codec_call *call, struct heif_image_handle *handle, const darkroom_codec_header *header,
    heif_coding coding, uint32_t divisor)
{
    if (coding.has_planes) heif_codec_keep_planes(header->width, header->height, coding);
    struct heif_image *image = NULL;
    struct heif_error error = heif_codec_decode_image(call, handle, header, &image);
    const heif_planes *planes = heif_codec_kept_planes();
    if (planes) return say_planes(call, planes, header, coding.is_known ? coding.matrix : planes->matrix, divisor);
    heif_codec_check(call, error);
    say_pixels(call, image, header, divisor);
}
