/* check [FOLDER] [WIDTH HEIGHT]: holds a codec against the samples of its format, and its encoder against its decoder; prints a
 * line for each, `ok` or `FAIL`. With a folder that is not empty, it writes the samples into it instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

static const char *folder;
static unsigned failures;
static uint32_t size_of_sample[2];

/* With 16 bits. */
static uint32_t at(const darkroom_codec_header *header, const uint8_t *rows, size_t index)
{
    if (header->depth == 8) return rows[index] * 257u;
    uint16_t value;
    memcpy(&value, rows + index * 2, 2);
    return value;
}

/* A format without gray has it as colours, and orientation 0 says that the Exif data has it, where there is none. */
static bool differs(const sample_picture *picture, const darkroom_codec_header *have)
{
    const darkroom_codec_header *want = &picture->header;
    bool is_widened = want->colour == DARKROOM_CODEC_GRAY && have->colour == DARKROOM_CODEC_RGB;
    return want->width != have->width || want->height != have->height 
        || (want->depth != have->depth && !picture->may_have_other_depth)
        || (want->colour != have->colour && !is_widened)
        || (picture->stored_depth && picture->stored_depth != have->source_depth)
        || want->channels - want->colour != have->channels - have->colour
        || (have->orientation ? have->orientation : 1) != want->orientation || want->pages != have->pages;
}

/* Says what is wrong. */
static bool compare(const sample_picture *picture, const inside_outcome *outcome, bool is_reduced, char *problem, size_t room)
{
    const darkroom_codec_header *want = &picture->header, *have = &outcome->header;
    if (picture->failure && outcome->failure != picture->failure)
        return snprintf(problem, room, "failure %u instead of %u: %s", outcome->failure, picture->failure, outcome->text), false;
    if (picture->failure) return true;
    if (outcome->failure) return snprintf(problem, room, "%s", outcome->text), false;
    if (differs(picture, have))
        return snprintf(problem, room, "the header has %u x %u, %u of %u, %u bits of %u, orientation %u, %u pages", have->width,
            have->height, have->channels, have->colour, have->depth, have->source_depth, have->orientation, have->pages), false;
    /* A step of 8 bits is 257: half of it is rounded off in the file, and another half of an average. */
    uint32_t rounding = want->depth == have->depth && !picture->stored_depth ? 0 : is_reduced ? 270 : 140;
    uint32_t most = picture->tolerance * 257 + rounding;
    size_t pixels = (size_t) want->width * want->height;
    for (size_t pixel = 0; picture->pixels && pixel < pixels; pixel++)
        for (unsigned channel = 0; channel < have->channels; channel++) {
            unsigned from = have->colour == want->colour ? channel : channel < have->colour ? 0 : want->colour;
            uint32_t one = at(want, picture->pixels, pixel * want->channels + from);
            uint32_t other = at(have, outcome->bytes, pixel * have->channels + channel);
            if (one - other <= most || other - one <= most) continue;
            return snprintf(problem, room, "channel %u at %zu, %zu is %u instead of %u", channel, pixel % want->width,
                pixel / want->width, other, one), false;
        }
    return true;
}

/* The samples of a picture that is reduced: averages of the pixels for which each stands. NULL if any will do. */
static uint8_t *averages(const sample_picture *picture, uint32_t divisor)
{
    const darkroom_codec_header *whole = &picture->header;
    if (!picture->pixels) return NULL;
    uint32_t width = codec_reduced(whole->width, divisor), height = codec_reduced(whole->height, divisor), bytes = whole->depth / 8;
    uint8_t *all = sample_allocate((size_t) width * height, whole->channels * bytes), *to = all;
    for (uint32_t y = 0; y < height; y++)
        for (size_t sample = 0; sample < (size_t) width * whole->channels; sample++, to += bytes) {
            uint32_t x = (uint32_t) (sample / whole->channels), sum = 0, count = 0;
            for (uint32_t down = y * divisor; down < (y + 1) * divisor && down < whole->height; down++)
                for (uint32_t across = x * divisor; across < (x + 1) * divisor && across < whole->width; across++, count++) {
                    size_t pixel = (size_t) down * whole->width + across;
                    sum += at(whole, picture->pixels, pixel * whole->channels + sample % whole->channels) / (bytes == 1 ? 257 : 1);
                }
            uint32_t average = (sum + count / 2) / count;
            memcpy(to, &(uint16_t) {(uint16_t) average}, bytes);
        }
    return all;
}

/* Whether the codec can reduce it; what it then makes is compared, too. */
static bool judge_size(const char *name, const uint8_t *file, size_t count, const sample_picture *picture, uint32_t divisor)
{
    inside_outcome outcome;
    inside_divisor = divisor;
    inside_decode(file, count, picture->page, &outcome);
    inside_divisor = 1;
    bool reduces = outcome.header.reduces;
    if (reduces || divisor == 1) {
        uint8_t *pixels = averages(picture, divisor);
        sample_picture reduced = *picture;
        reduced.header.width = codec_reduced(picture->header.width, divisor);
        reduced.header.height = codec_reduced(picture->header.height, divisor);
        reduced.pixels = pixels;
        char problem[300] = "";
        bool is_good = compare(&reduced, &outcome, divisor > 1, problem, sizeof problem);
        if (!is_good) failures++;
        printf("%s %s of %u x %u, 1/%u%s%s\n", is_good ? "ok" : "FAIL", name, size_of_sample[0], size_of_sample[1], divisor,
            problem[0] ? ": " : "", problem);
        free(pixels);
    }
    inside_free(&outcome);
    return reduces;
}

static void judge(const char *name, const uint8_t *bytes, size_t count, const sample_picture *picture)
{
    /* In memory that ends where the file ends. */
    uint8_t *file = sample_allocate(count, 1);
    memcpy(file, bytes, count);
    for (uint32_t divisor = 1; divisor <= 8 && judge_size(name, file, count, picture, divisor); divisor *= 2) {}
    free(file);
}

static void write_sample(const char *name, const uint8_t *bytes, size_t count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%ux%u", folder, name, size_of_sample[0], size_of_sample[1]);
    FILE *file = fopen(path, "w");
    inside_require(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, "a sample is written");
}

void sample_say(const char *name, const uint8_t *bytes, size_t count, const sample_picture *picture)
{
    if (folder) write_sample(name, bytes, count);
    else judge(name, bytes, count, picture);
}

/* What the encoder makes of a kind is read again. */
static void encode(darkroom_codec_colour colour, bool has_alpha, uint32_t depth, size_t option)
{
    const darkroom_codec_options *options = &sample_options[option];
    sample_picture picture = sample_of(size_of_sample[0], size_of_sample[1], colour, has_alpha, depth);
    bool is_smooth = options->quality > 0;
    uint8_t *rows = sample_rows(&picture, is_smooth);
    const codec_metadata none = {.exif = {NULL, 0}}, metadata = {.exif = {(const uint8_t *) "MM\0*\0\0\0\x8\0\0\0\0\0\0", 14}};
    inside_outcome outcome;
    inside_encode(&picture.header, options, option % 2 ? &metadata : &none, rows, &outcome);
    char name[100];
    snprintf(name, sizeof name, "encoded-%u-%u-%u-%zu", colour, picture.header.channels, depth, option);
    /* Kinds that a format has not are refused. */
    bool is_refused = outcome.failure == DARKROOM_CODEC_MISUSE;
    picture.pixels = rows;
    picture.tolerance = is_smooth ? 60 : 0;
    picture.may_have_other_depth = true;
    picture.stored_depth = options->depth;
    if (outcome.failure && !is_refused) {
        failures++;
        printf("FAIL %s of %u x %u: %s\n", name, size_of_sample[0], size_of_sample[1], outcome.text);
    } else if (!is_refused) sample_say(name, outcome.bytes, outcome.count, &picture);
    inside_free(&outcome);
    free(rows);
}

static void encode_all(void)
{
    static const darkroom_codec_colour colours[] = {DARKROOM_CODEC_GRAY, DARKROOM_CODEC_RGB, DARKROOM_CODEC_CMYK};
    for (size_t option = 0; option < sample_options_count; option++)
        for (size_t colour = 0; colour < 3; colour++)
            for (uint32_t depth = 8; depth <= 16; depth += 8)
                for (int alpha = 0; alpha < 2; alpha++) encode(colours[colour], alpha, depth, option);
}

int main(int argc, char **argv)
{
    /* Odd ones, one pixel, long ones; one large enough for several slots and strips. */
    static const uint32_t sizes[][2] = {{1, 1}, {2, 3}, {33, 17}, {1, 70}, {257, 1}, {300, 201}};
    folder = argc > 1 && argv[1][0] ? argv[1] : NULL;
    inside_limits = (darkroom_codec_limits) {
        .memory_at_first = 64 << 20, .memory_at_most = 1 << 30, .seconds = 60, .largest_side = 60000, .most_pixels = 1 << 26,
        .most_metadata = 1 << 20};
    const darkroom_codec *codec = inside_codec();
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        for (int side = 0; side < 2; side++)
            size_of_sample[side] = argc == 4 ? (uint32_t) strtoul(argv[2 + side], NULL, 10) : sizes[index][side];
        samples_make(size_of_sample[0], size_of_sample[1]);
        if (codec->encode) encode_all();
        if (argc == 4) break;
    }
    return failures > 0;
}
