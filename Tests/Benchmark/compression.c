/*
 * Darkroom's three compressions beside libpng with zlib's level 6 and all row filters: encoding alone,
 * on one thread, of photographs and of pictures made here.
 *
 *   compression [PICTURE.png]...
 *
 * The photographs are measured as they are and toned with sepia. Each round has libpng and Darkroom do
 * a picture in turn. Prints a line for each, of medians: how many times as fast as libpng each
 * compression is, and how much larger or smaller its bytes are; and what libpng makes of it without
 * filters, as libvips has it do by default.
 */
#include "CDarkroomDeflate.h"

#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, COMPRESSIONS = 3, CHANNELS = 3 };

typedef struct {
    int width, height;
    size_t row_bytes;
    uint8_t *rows;
} picture;

static void die(const char *words)
{
    fprintf(stderr, "compression: %s\n", words);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static picture blank(int width, int height, uint8_t shade)
{
    picture p = {width, height, (size_t)width * CHANNELS, NULL};
    p.rows = malloc(p.row_bytes * (size_t)height);
    if (p.rows == NULL)
        die("no memory");
    memset(p.rows, shade, p.row_bytes * (size_t)height);
    return p;
}

static picture photograph(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path))
        die(image.message);
    image.format = PNG_FORMAT_RGB;
    picture p = blank((int)image.width, (int)image.height, 0);
    if (!png_image_finish_read(&image, NULL, p.rows, 0, NULL))
        die(image.message);
    return p;
}

/* By the matrix of the W3C's Filter Effects Module. */
static void tone(picture p)
{
    static const double sepia[CHANNELS][CHANNELS] = {
        {.393, .769, .189}, {.349, .686, .168}, {.272, .534, .131}};
    for (uint8_t *pixel = p.rows; pixel < p.rows + p.row_bytes * (size_t)p.height; pixel += CHANNELS) {
        const double red = pixel[0], green = pixel[1], blue = pixel[2];
        for (int i = 0; i < CHANNELS; i++) {
            const double sum = sepia[i][0] * red + sepia[i][1] * green + sepia[i][2] * blue;
            pixel[i] = (uint8_t)fmin(sum + .5, 255);
        }
    }
}

static uint32_t next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Lays a colour over a pixel, as much of it as `cover`. */
static void lay(picture p, int x, int y, uint32_t colour, double cover)
{
    if (x < 0 || y < 0 || x >= p.width || y >= p.height || cover <= 0)
        return;
    uint8_t *pixel = p.rows + (size_t)y * p.row_bytes + (size_t)x * CHANNELS;
    for (int i = 0; i < CHANNELS; i++) {
        const double below = pixel[i], above = colour >> 8 * i & 255;
        pixel[i] = (uint8_t)(below + (above - below) * fmin(cover, 1) + .5);
    }
}

/* Smooth letters of a made-up alphabet, in lines of words. */
static void write_text(picture p, int left, int top, int right, int bottom)
{
    enum { LETTERS = 48, HEIGHT = 12, WIDTH = 8, STROKES = 3 };
    static double alphabet[LETTERS][HEIGHT][WIDTH];
    if (alphabet[0][0][0] == 0)
        for (int i = 0; i < LETTERS * STROKES; i++) {
            const double x = next_random() % WIDTH, y = next_random() % HEIGHT;
            const double turn = next_random() % 8 * .785, reach = 3 + next_random() % 6;
            for (int k = 0; k < HEIGHT * WIDTH; k++) {
                double *cover = &alphabet[i / STROKES][k / WIDTH][k % WIDTH];
                const double across = k % WIDTH - x, down = k / WIDTH - y;
                const double along = across * cos(turn) + down * sin(turn);
                const double nearest = fmax(0, fmin(reach, along));
                const double away =
                    hypot(across - nearest * cos(turn), down - nearest * sin(turn));
                *cover = fmax(*cover, fmax(1e-9, 1.3 - away));
            }
        }
    for (int y = top; y + HEIGHT <= bottom; y += HEIGHT + 4)
        for (int x = left; x + WIDTH < right;) {
            /* Some letters are more frequent than others. */
            const uint32_t letter = next_random() % LETTERS * (next_random() % LETTERS) / LETTERS;
            for (int k = 0; k < HEIGHT * WIDTH; k++)
                lay(p, x + k % WIDTH, y + k / WIDTH, 0x302020, alphabet[letter][k / WIDTH][k % WIDTH]);
            x += next_random() % 6 == 0 ? WIDTH + 6 : WIDTH - 1;
        }
}

static void draw_disc(picture p, double x, double y, double radius, uint32_t colour)
{
    for (int row = (int)(y - radius) - 1; row <= y + radius + 1; row++)
        for (int column = (int)(x - radius) - 1; column <= x + radius + 1; column++)
            lay(p, column, row, colour, radius - hypot(column - x, row - y) + .5);
}

static picture text(void)
{
    picture p = blank(1240, 1754, 255);
    write_text(p, 60, 60, p.width - 60, p.height - 60);
    return p;
}

static picture plot(void)
{
    picture p = blank(1600, 1000, 255);
    for (int i = 0; i <= 10; i++) {
        for (int y = 20; y < 960; y++)
            lay(p, 60 + i * 150, y, 0xb0b0b0, 1);
        for (int x = 60; x < 1560; x++)
            lay(p, x, 20 + i * 94, 0xb0b0b0, 1);
    }
    static const uint32_t colours[] = {0xb4771f, 0x0e7fff, 0x2ca02c, 0x2827d6};
    for (size_t i = 0; i < 4; i++) {
        double level = 490;
        for (int x = 60; x < 1560; x++) {
            level += next_random() % 21 - 10. + (490 - level) * .01 + 6 * sin(x * .01 * (double)(i + 1));
            draw_disc(p, x, level, 1.5, colours[i]);
        }
    }
    write_text(p, 1250, 30, 1550, 130);
    return p;
}

static picture shapes(void)
{
    picture p = blank(1400, 1000, 245);
    for (int i = 0; i < 60; i++)
        draw_disc(
            p, next_random() % 1400, next_random() % 1000, 20 + next_random() % 150,
            next_random() & 0xffffff);
    return p;
}

static picture screen(void)
{
    picture p = blank(1920, 1080, 242);
    for (int i = 0; i < 14; i++) {
        const int left = (int)(next_random() % 1600), top = (int)(next_random() % 860);
        for (int k = 0; k < 300 * 200; k++)
            lay(p, left + k % 300, top + k / 300, k < 300 * 24 ? 0xc86e46 : 0xffffff, 1);
        write_text(p, left + 10, top + 32, left + 290, top + 190);
    }
    return p;
}

/* Slopes: across, radial with a grain of one step, or of an ordered dither. */
static picture gradient(int kind)
{
    picture p = blank(1200, 1000, 0);
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            for (int i = 0; i < CHANNELS; i++) {
                const double across = x / 1200., down = y / 1000.;
                double light = (i == 2 ? 200 : 20) + (i == 2 ? -90 : 100) * across + (60 + 15 * i) * down;
                if (kind == 1)
                    light = 250 - (100 + 50 * i) * hypot(across - .5, down - .5);
                else if (kind == 2)
                    light += ((x * 5 + y * 11) % 16 + .5) / 16;
                p.rows[(size_t)y * p.row_bytes + (size_t)x * CHANNELS + (size_t)i] = (uint8_t)light;
            }
    return p;
}

static picture plain_gradient(void) { return gradient(0); }
static picture round_gradient(void) { return gradient(1); }
static picture dithered_gradient(void) { return gradient(2); }

/* Slopes of another kind, which repeat themselves in no row: spokes of a fan, whose pixels repeat but whose
 * differences do not. */
static picture fan_gradient(void)
{
    picture p = blank(1200, 1000, 0);
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++) {
            const double turn = atan2(y - 500, x - 600) / 6.2831853 + .5;
            uint8_t *pixel = p.rows + (size_t)y * p.row_bytes + (size_t)x * CHANNELS;
            pixel[0] = (uint8_t)(turn * 255);
            pixel[1] = (uint8_t)(255 - turn * 255);
            pixel[2] = 64;
        }
    return p;
}

/* Covers a picture with copies of its corner. */
static picture tile(picture p, int width, int height)
{
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            memcpy(
                p.rows + (size_t)y * p.row_bytes + (size_t)x * CHANNELS,
                p.rows + (size_t)(y % height) * p.row_bytes + (size_t)(x % width) * CHANNELS,
                CHANNELS);
    return p;
}

static picture drawn_pattern(void)
{
    picture p = blank(500, 2000, 230);
    for (int i = 0; i < 12; i++)
        draw_disc(
            p, next_random() % 250, next_random() % 20, next_random() % 12, next_random() & 0xffffff);
    return tile(p, 250, 20);
}

static picture grained_pattern(void)
{
    picture p = blank(300, 2000, 0);
    for (size_t i = 0; i < 32 * p.row_bytes; i++)
        p.rows[i] = (uint8_t)(i % p.row_bytes / 5 + next_random() % 16);
    return tile(p, 300, 32);
}

/* Its rows reach just beyond deflate's window. */
static picture low_pattern(void)
{
    picture p = blank(1600, 1200, 0);
    for (size_t i = 0; i < 7 * p.row_bytes; i++)
        p.rows[i] = next_random() % 16;
    return tile(p, 100, 7);
}

static picture wide_pattern(void)
{
    picture p = blank(1200, 1000, 255);
    write_text(p, 0, 0, 200, 150);
    return tile(p, 200, 150);
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static void count_bytes(png_structp png, png_bytep bytes, size_t count)
{
    (void)bytes;
    *(size_t *)png_get_io_ptr(png) += count;
}

static void flush(png_structp png)
{
    (void)png;
}

static size_t encode_by_libpng(picture p, int filters)
{
    size_t bytes = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    if (info == NULL)
        die("no memory");
    if (setjmp(png_jmpbuf(png)))
        die("libpng has failed");
    png_set_write_fn(png, &bytes, count_bytes, flush);
    png_set_IHDR(
        png, info, (png_uint_32)p.width, (png_uint_32)p.height, 8, PNG_COLOR_TYPE_RGB,
        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, 0, filters);
    png_set_compression_level(png, 6);
    png_write_info(png, info);
    for (int y = 0; y < p.height; y++)
        png_write_row(png, p.rows + (size_t)y * p.row_bytes);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

static size_t encode_by_strips(picture p, darkroom_effort effort)
{
    const size_t height = (size_t)p.height;
    const size_t rows = darkroom_strip_rows(p.row_bytes, height, effort);
    darkroom_strip *strips[2];
    for (int i = 0; i < 2; i++)
        if ((strips[i] = darkroom_strip_new(p.row_bytes, CHANNELS, 8, rows, effort)) == NULL)
            die("no memory");
    const darkroom_strip *above = NULL;
    size_t bytes = 0, taken = 0;
    for (int turn = 0; taken < height; turn ^= 1) {
        darkroom_strip_begin(strips[turn], above);
        taken += darkroom_strip_fill(strips[turn], p.rows + taken * p.row_bytes, height - taken);
        if (darkroom_strip_encode(strips[turn]) != DARKROOM_STRIP_OK)
            die("a strip has failed");
        size_t count;
        darkroom_strip_chunk(strips[turn], &count);
        bytes += count;
        above = strips[turn];
    }
    for (int i = 0; i < 2; i++)
        darkroom_strip_free(strips[i]);
    return bytes;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof times[0], compare_numbers);
    return times[ROUNDS / 2];
}

static void measure(const char *name, picture p)
{
    double times[1 + COMPRESSIONS][ROUNDS];
    size_t bytes[1 + COMPRESSIONS];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i <= COMPRESSIONS; i++) {
            const double start = seconds();
            bytes[i] = i == 0 ? encode_by_libpng(p, PNG_ALL_FILTERS)
                              : encode_by_strips(p, (darkroom_effort)(i - 1));
            times[i][round] = seconds() - start;
        }
    const double own = median(times[0]);
    printf("| %s | %zu | %zu |", name, bytes[0] / 1000, encode_by_libpng(p, PNG_FILTER_NONE) / 1000);
    for (int i = 1; i <= COMPRESSIONS; i++) {
        const double faster = own / median(times[i]);
        const double larger = (double)bytes[i] / (double)bytes[0] - 1;
        printf(" %.*f×, %+.1f %% |", faster < 1 ? 2 : faster < 10 ? 1 : 0, faster, larger * 100);
    }
    printf("\n");
    fflush(stdout);
    free(p.rows);
}

int main(int count, char **paths)
{
    static const struct {
        const char *name;
        picture (*make)(void);
    } made[] = {
        {"text", text}, {"plot", plot}, {"discs", shapes}, {"screen", screen},
        {"gradient", plain_gradient}, {"radial gradient", round_gradient},
        {"dithered gradient", dithered_gradient}, {"fan gradient", fan_gradient},
        {"pattern, drawn, 250 × 20", drawn_pattern},
        {"pattern, grained, 300 × 32", grained_pattern}, {"pattern, text, 200 × 150", wide_pattern},
        {"pattern, noise, 100 × 7", low_pattern},
    };
    printf("| picture | libpng, kB | without filters | fast | balanced | small |\n");
    printf("|---|---|---|---|---|---|\n");
    for (int i = 1; i < count; i++) {
        const char *slash = strrchr(paths[i], '/');
        char name[100];
        measure(slash == NULL ? paths[i] : slash + 1, photograph(paths[i]));
        picture toned = photograph(paths[i]);
        tone(toned);
        snprintf(name, sizeof name, "%s, sepia", slash == NULL ? paths[i] : slash + 1);
        measure(name, toned);
    }
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        measure(made[i].name, made[i].make());
}
