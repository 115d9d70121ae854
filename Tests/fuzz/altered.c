/* Alters one byte of a good picture. Each such file must fail, or pass with a warning, or have exactly the pixels that
 * libjpeg-turbo or libpng gives it by itself: none whose pixels have changed passes without a word. With damaged
 * pictures kept, the file must pass where only its pixels were refused, with a warning.
 *
 * An input says which picture, which byte and which value. Some are tried first in any case; ALTERED_FILES is their
 * number, 2000 by itself. */
#define _GNU_SOURCE
#include "darkroom_jpeg.h"
#include "darkroom_png.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>

enum { JPEGS = 12, PNGS = 10, PICTURES = JPEGS + PNGS, MOST_PIXELS = 1 << 16, ROWS_AT_A_TIME = 7 };

typedef struct {
    uint8_t *bytes;
    size_t count;
} file;

typedef struct {
    int result;
    bool was_opened, is_warned, is_damage;
    char words[200]; /* of a failure */
    size_t count;
    uint8_t *pixels; /* NULL without a result */
} outcome;

static file pictures[PICTURES];

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void require(bool condition, const char *what, size_t picture, size_t at, unsigned value)
{
    if (condition)
        return;
    fprintf(stderr, "failed: %s: picture %zu, byte %zu as %02x\n", what, picture, at, value);
    abort();
}

/* ---- Good pictures ---- */

static uint8_t sample(size_t x, size_t y, size_t i)
{
    return (uint8_t)((x * 7 + y * 3 + i * 40) ^ (x * y / 8));
}

static file make_jpeg(unsigned kind)
{
    static const int factors[4][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 2}};
    file result = {0};
    unsigned long count = 0;
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &result.bytes, &count);
    info.image_width = 45;
    info.image_height = 52;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    if (kind % 4 == 3)
        jpeg_set_colorspace(&info, JCS_GRAYSCALE);
    info.comp_info[0].h_samp_factor = factors[kind % 4][0];
    info.comp_info[0].v_samp_factor = factors[kind % 4][1];
    info.restart_interval = kind / 4 == 1 ? 3 : 0;
    if (kind / 4 == 2)
        jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    uint8_t row[45 * 3];
    JSAMPROW rows[] = {row};
    while (info.next_scanline < info.image_height) {
        for (size_t i = 0; i < sizeof row; i++)
            row[i] = sample(i / 3, info.next_scanline, i % 3);
        jpeg_write_scanlines(&info, rows, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    result.count = count;
    return result;
}

static void append(png_structp png, png_bytep bytes, size_t count)
{
    file *to = png_get_io_ptr(png);
    to->bytes = realloc(to->bytes, to->count + count);
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

static file make_png(unsigned kind)
{
    static const int types[5] = {
        PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGB_ALPHA,
        PNG_COLOR_TYPE_RGB};
    file result = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &result, append, NULL);
    const int type = types[kind % 5], depth = kind % 5 == 4 ? 16 : 8;
    png_set_IHDR(png, info, 29, 31, depth, type, kind / 5, 0, 0);
    png_color palette[256];
    for (size_t i = 0; i < 256; i++)
        palette[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(i * 3)};
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 256);
    png_write_info(png, info);
    const int passes = png_set_interlace_handling(png);
    const size_t row_bytes = png_get_rowbytes(png, info);
    uint8_t *row = malloc(row_bytes);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < 31; y++) {
            for (size_t i = 0; i < row_bytes; i++)
                row[i] = sample(i / 3, y, i % 3);
            png_write_row(png, row);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    return result;
}

/* ---- By the libraries ---- */

typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
} jpeg_trap;

static void leave_jpeg(j_common_ptr info) { longjmp(((jpeg_trap *)info->err)->jump, 1); }
static void say_nothing(j_common_ptr info) { (void)info; }

static outcome plain_jpeg(const file *f)
{
    static outcome o;
    struct jpeg_decompress_struct info;
    jpeg_trap trap;
    o = (outcome){0};
    info.err = jpeg_std_error(&trap.manager);
    trap.manager.error_exit = leave_jpeg;
    trap.manager.output_message = say_nothing;
    jpeg_create_decompress(&info);
    if (setjmp(trap.jump) != 0) {
        free(o.pixels);
        o.pixels = NULL;
    } else {
        jpeg_mem_src(&info, f->bytes, f->count);
        jpeg_read_header(&info, TRUE);
        info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        info.dct_method = JDCT_ISLOW;
        info.do_block_smoothing = FALSE;
        jpeg_start_decompress(&info);
        const size_t row_bytes = (size_t)info.output_width * (size_t)info.output_components;
        o.count = row_bytes * info.output_height;
        o.pixels = malloc(o.count + 1);
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = o.pixels + info.output_scanline * row_bytes;
            jpeg_read_scanlines(&info, &row, 1);
        }
    }
    jpeg_destroy_decompress(&info);
    return o;
}

static void give(png_structp png, png_bytep bytes, size_t count)
{
    file *from = png_get_io_ptr(png);
    if (count > from->count)
        png_error(png, "the end");
    memcpy(bytes, from->bytes, count);
    from->bytes += count;
    from->count -= count;
}

static void leave_png(png_structp png, png_const_charp words)
{
    (void)words;
    png_longjmp(png, 1);
}

static void ignore_png(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

static outcome plain_png(const file *f)
{
    static outcome o;
    static file rest;
    o = (outcome){0};
    rest = *f;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, leave_png, ignore_png);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0) {
        free(o.pixels);
        o.pixels = NULL;
    } else {
        png_set_read_fn(png, &rest, give);
        png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
        png_read_info(png, info);
        png_set_expand(png);
        png_set_swap(png);
        const int passes = png_set_interlace_handling(png);
        png_read_update_info(png, info);
        const size_t row_bytes = png_get_rowbytes(png, info);
        const uint32_t height = png_get_image_height(png, info);
        o.count = row_bytes * height;
        o.pixels = malloc(o.count + 1);
        for (int pass = 0; pass < passes; pass++)
            for (uint32_t y = 0; y < height; y++)
                png_read_row(png, o.pixels + y * row_bytes, NULL);
    }
    png_destroy_read_struct(&png, &info, NULL);
    return o;
}

/* ---- By our readers ---- */

static int jpeg_rows(darkroom_jpeg_reader *reader, const darkroom_jpeg_header *header, outcome *o)
{
    uint32_t width = 0, height = 0;
    int result = darkroom_jpeg_reader_start(reader, DARKROOM_JPEG_AUTOMATIC, 1, &width, &height);
    for (int is_complete = 0; !is_complete && result == DARKROOM_JPEG_OK;)
        result = darkroom_jpeg_reader_absorb(reader, &is_complete);
    const size_t row_bytes = (size_t)width * header->channels;
    o->count = row_bytes * height;
    o->pixels = malloc(o->count + 1);
    for (uint32_t y = 0; y < height && result == DARKROOM_JPEG_OK; y += ROWS_AT_A_TIME)
        result = darkroom_jpeg_reader_rows(
            reader, o->pixels + y * row_bytes, row_bytes,
            height - y < ROWS_AT_A_TIME ? height - y : ROWS_AT_A_TIME);
    return result == DARKROOM_JPEG_OK ? (int)darkroom_jpeg_reader_finish(reader) : result;
}

static outcome own_jpeg(const file *f, bool keeps)
{
    outcome o = {0};
    darkroom_jpeg_header header = {0};
    darkroom_jpeg_reader *reader = darkroom_jpeg_reader_new(-1, 1 << 16);
    if (reader == NULL || !darkroom_jpeg_reader_fill(reader, f->bytes, f->count))
        abort();
    if (keeps)
        darkroom_jpeg_reader_keep_damaged(reader);
    o.result = darkroom_jpeg_reader_open(reader, &header);
    o.was_opened = o.result == DARKROOM_JPEG_OK && (uint64_t)header.width * header.height <= MOST_PIXELS;
    if (o.was_opened)
        o.result = jpeg_rows(reader, &header, &o);
    else
        o.result = DARKROOM_JPEG_HEADER;
    o.is_warned = darkroom_jpeg_reader_warning(reader, 0) != NULL;
    snprintf(o.words, sizeof o.words, "%s", darkroom_jpeg_reader_message(reader));
    o.is_damage = o.result == DARKROOM_JPEG_DATA || o.result == DARKROOM_JPEG_TRUNCATED;
    darkroom_jpeg_reader_free(reader);
    return o;
}

static int png_rows(darkroom_png_reader *reader, const darkroom_png_header *header, outcome *o)
{
    size_t row_bytes = 0;
    int result = darkroom_png_reader_start(reader, DARKROOM_PNG_AUTOMATIC, &row_bytes);
    o->count = row_bytes * header->height;
    o->pixels = calloc(1, o->count + 1);
    for (int pass = 0; pass < (header->interlaced ? 7 : 1); pass++)
        for (uint32_t y = 0; y < header->height && result == DARKROOM_PNG_OK; y += ROWS_AT_A_TIME)
            result = darkroom_png_reader_rows(
                reader, o->pixels + y * row_bytes,
                header->height - y < ROWS_AT_A_TIME ? header->height - y : ROWS_AT_A_TIME);
    return result == DARKROOM_PNG_OK ? (int)darkroom_png_reader_finish(reader) : result;
}

static outcome own_png(const file *f, bool keeps)
{
    outcome o = {0};
    darkroom_png_header header = {0};
    darkroom_png_reader *reader = darkroom_png_reader_new(-1, 4 << 20, 1 << 20);
    if (reader == NULL || !darkroom_png_reader_fill(reader, f->bytes, f->count))
        abort();
    if (keeps)
        darkroom_png_reader_keep_damaged(reader);
    o.result = darkroom_png_reader_open(reader, &header);
    o.was_opened = o.result == DARKROOM_PNG_OK && (uint64_t)header.width * header.height <= MOST_PIXELS;
    if (o.was_opened)
        o.result = png_rows(reader, &header, &o);
    else
        o.result = DARKROOM_PNG_HEADER;
    o.is_warned = darkroom_png_reader_warning(reader, 0) != NULL;
    snprintf(o.words, sizeof o.words, "%s", darkroom_png_reader_message(reader));
    o.is_damage = o.was_opened && o.result != DARKROOM_PNG_OK;
    darkroom_png_reader_free(reader);
    return o;
}

/* ---- The comparison ---- */

static size_t failed, warned, exact;

static void alter(size_t picture, size_t at, uint8_t value)
{
    const file *good = &pictures[picture];
    file f = {malloc(good->count), good->count};
    memcpy(f.bytes, good->bytes, f.count);
    f.bytes[at] = value;
    const bool is_jpeg = picture < JPEGS;
    outcome own = is_jpeg ? own_jpeg(&f, false) : own_png(&f, false);
    outcome kept = is_jpeg ? own_jpeg(&f, true) : own_png(&f, true);
    if (own.result != 0) {
        failed++;
        if (own.is_damage && kept.result != 0)
            fprintf(stderr, "%s; kept: %s\n", own.words, kept.words);
        require(
            !own.is_damage || (kept.result == 0 && kept.is_warned), "damage is kept, with a warning", picture,
            at, value);
    } else {
        *(own.is_warned ? &warned : &exact) += 1;
        outcome plain = is_jpeg ? plain_jpeg(&f) : plain_png(&f);
        require(
            own.is_warned
                || (plain.pixels != NULL && plain.count == own.count
                    && memcmp(plain.pixels, own.pixels, own.count) == 0),
            "the pixels of the library, or a warning", picture, at, value);
        require(
            kept.result == 0 && kept.count == own.count && memcmp(kept.pixels, own.pixels, own.count) == 0,
            "kept pixels are those of a good picture", picture, at, value);
        free(plain.pixels);
    }
    free(kept.pixels);
    free(own.pixels);
    free(f.bytes);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    for (unsigned i = 0; i < PICTURES; i++)
        pictures[i] = i < JPEGS ? make_jpeg(i) : make_png(i - JPEGS);
    const char *number = getenv("ALTERED_FILES");
    uint64_t state = 11;
    for (long left = number == NULL ? 2000 : atol(number); left > 0; left--) {
        const size_t picture = next_random(&state) % PICTURES;
        const size_t at = next_random(&state) % pictures[picture].count;
        alter(picture, at, (uint8_t)(pictures[picture].bytes[at] + 1 + next_random(&state) % 255));
    }
    fprintf(stderr, "altered: %zu failed, %zu with a warning, %zu exact\n", failed, warned, exact);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count)
{
    if (count < 4)
        return 0;
    const size_t picture = input[0] % PICTURES;
    alter(picture, (input[1] * 256u + input[2]) % pictures[picture].count, input[3]);
    return 0;
}
