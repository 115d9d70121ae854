/* Throws made-up files at a decoder of Sources/Codec*, and made-up orders at its encoder; built once for each codec, see
 * Tests/Codecs/build.sh. An order begins with `order:`, everything else is a file. The first run puts samples into the
 * folder of its arguments.
 *
 * A picture must come with all of its rows, or end with words; and use no more memory than its header has said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "samples.h"

enum { MARK = 6 };

/* What follows the mark. */
typedef struct {
    uint8_t width, height, colour, alpha, depth, orientation, icc, exif, xmp, is_smooth;
    uint8_t pixels_x;
    darkroom_codec_options options;
} order;

static const darkroom_codec *codec;
static const char *folder;
static uint32_t side;

static void decode(const uint8_t *bytes, size_t count)
{
    inside_outcome outcome;
    inside_divisor = 1u << count % 4;
    inside_decode(bytes, count, count % 7 == 0 ? 3 : count % 5 == 0 ? 2 : 1, &outcome);
    inside_free(&outcome);
}

static codec_blob blob(const uint8_t *bytes, size_t count, size_t most)
{
    return (codec_blob) {bytes, count < most ? count : most};
}

static void encode(const uint8_t *bytes, size_t count)
{
    order order;
    if (!codec->encode || count < sizeof order) return;
    memcpy(&order, bytes, sizeof order);
    bytes += sizeof order;
    count -= sizeof order;
    static const darkroom_codec_colour colours[] = {DARKROOM_CODEC_GRAY, DARKROOM_CODEC_RGB, DARKROOM_CODEC_CMYK};
    sample_picture picture = sample_of(order.width % 70 + 1u, order.height % 70 + 1u, colours[order.colour % 3],
        order.alpha & 1, order.depth & 1 ? 16 : 8);
    picture.header.orientation = order.orientation % 9;
    picture.header.pixels_x = picture.header.pixels_y = order.pixels_x * 100u;
    /* The daemon's side checks this one. */
    order.options.quality = order.options.quality % 100 + 1;
    /* More takes time and finds nothing of ours. */
    order.options.effort %= 5;
    /* A search takes eight times as long, so most have none. The daemon's side checks these, too. */
    order.options.most_bytes = order.options.most_bytes % 4 == 0 ? order.options.most_bytes % 8192 : 0;
    if (!(order.options.similarity > 0.5 && order.options.similarity <= 1)) order.options.similarity = 0;
    const codec_metadata metadata = {
        .icc = blob(bytes, count, order.icc), .exif = blob(bytes, count, order.exif), .xmp = blob(bytes, count, order.xmp)};
    uint8_t *rows = sample_rows(&picture, order.is_smooth & 1);
    inside_outcome outcome;
    inside_encode(&picture.header, &order.options, &metadata, rows, &outcome);
    if (!outcome.failure) decode(outcome.bytes, outcome.count);
    inside_free(&outcome);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count >= MARK && memcmp(bytes, "order:", MARK) == 0) encode(bytes + MARK, count - MARK);
    else decode(bytes, count);
    return 0;
}

/* Also decodes it: what a library keeps for all pictures is there afterwards. */
void sample_say(const char *name, const uint8_t *bytes, size_t count, const sample_picture *picture)
{
    inside_outcome outcome;
    inside_decode(bytes, count, picture->page, &outcome);
    inside_free(&outcome);
    if (!folder) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/sample-%s-%u", folder, name, side);
    FILE *file = fopen(path, "w");
    inside_require(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, "a sample is written");
}

static void make_orders(void)
{
    for (size_t option = 0; option < sample_options_count; option++)
        for (uint8_t kind = 0; kind < 6; kind++) {
            uint8_t bytes[MARK + sizeof(order) + 14] = "order:";
            order order = {.width = 8, .height = 7, .colour = kind % 3, .alpha = kind / 3, .depth = kind % 2, .icc = 0,
                .exif = 14, .xmp = 5, .is_smooth = 1, .options = sample_options[option]};
            memcpy(bytes + MARK, &order, sizeof order);
            memcpy(bytes + MARK + sizeof order, "MM\0*\0\0\0\x8\0\0\0\0\0\0", 14);
            LLVMFuzzerTestOneInput(bytes, sizeof bytes);
            char path[4096];
            snprintf(path, sizeof path, "%s/order-%zu-%u", folder ? folder : "", option, kind);
            FILE *file = folder ? fopen(path, "w") : NULL;
            inside_require(!folder || (file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0),
                "an order is written");
        }
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    struct stat status;
    for (int index = 1; index < *count && !folder; index++)
        if (stat((*arguments)[index], &status) == 0 && S_ISDIR(status.st_mode)) folder = (*arguments)[index];
    inside_limits = (darkroom_codec_limits) {
        .memory_at_first = 64 << 20, .memory_at_most = 256 << 20, .seconds = 60, .largest_side = 4096,
        .most_pixels = 1 << 16, .most_metadata = 1 << 16};
    codec = inside_codec();
    static const uint32_t sizes[][2] = {{2, 3}, {33, 17}};
    for (size_t index = 0; index < 2; index++) {
        side = sizes[index][0];
        samples_make(sizes[index][0], sizes[index][1]);
    }
    if (codec->encode) make_orders();
    if (samples_leave_nothing) inside_sweep();
    return 0;
}
