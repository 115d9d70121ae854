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
static bool compare(const sample_picture *picture, const inside_outcome *outcome, char *problem, size_t room)
{
    const darkroom_codec_header *want = &picture->header, *have = &outcome->header;
    if (picture->failure && outcome->failure != picture->failure)
        return snprintf(problem, room, "failure %u instead of %u: %s", outcome->failure, picture->failure, outcome->text), false;
    if (picture->failure) return true;
    if (outcome->failure) return snprintf(problem, room, "%s", outcome->text), false;
    if (differs(picture, have))
        return snprintf(problem, room, "the header has %u x %u, %u of %u, %u bits of %u, orientation %u, %u pages", have->width,
            have->height, have->channels, have->colour, have->depth, have->source_depth, have->orientation, have->pages), false;
    uint32_t most = picture->tolerance * 257 + (want->depth == have->depth && !picture->stored_depth ? 0 : 140);
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

static void judge(const char *name, const uint8_t *bytes, size_t count, const sample_picture *picture)
{
    /* In memory that ends where the file ends. */
    uint8_t *file = sample_allocate(count, 1);
    memcpy(file, bytes, count);
    inside_outcome outcome;
    inside_divisor = picture->divisor ? picture->divisor : 1;
    inside_decode(file, count, picture->page, &outcome);
    inside_divisor = 1;
    char problem[300] = "";
    bool is_good = compare(picture, &outcome, problem, sizeof problem);
    if (!is_good) failures++;
    printf("%s %s of %u x %u%s%s\n", is_good ? "ok" : "FAIL", name, size_of_sample[0], size_of_sample[1], problem[0] ? ": " : "",
        problem);
    inside_free(&outcome);
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
