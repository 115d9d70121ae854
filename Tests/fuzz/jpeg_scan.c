/* Holds our decoder for JPEG's data against libjpeg-turbo: both must give the same rows, and end with the same
 * result, message and remarks, at the same row. Every instruction set is tried.
 *
 * An input is a file, or its first bytes say what picture to make and how to damage its file. Of some
 * pictures every truncation is read first. */
#define _GNU_SOURCE
#include "darkroom_cpu.h"
#include "darkroom_jpeg.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jpeg_scripts.h"

enum { SETTINGS = 16, MOST_PIXELS = 1 << 18, WORDS = 4096 };

/* ---- Making a file ---- */

typedef struct {
    unsigned char *bytes;
    unsigned long count;
} file;

/* Smooth, noisy, flat or extreme. */
static void draw(uint8_t *row, size_t count, unsigned how, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t noise = next_random(state);
        switch (how % 5) {
        case 0: row[i] = (uint8_t)(i * 3 + noise % 8); break;
        case 1: row[i] = (uint8_t)noise; break;
        case 2: row[i] = (uint8_t)(how * 50); break;
        case 3: row[i] = noise % 2 == 0 ? 0 : 255; break;
        default: row[i] = (uint8_t)(row[i] + noise % 5); break;
        }
    }
}

static void set_sampling(struct jpeg_compress_struct *info, unsigned choice)
{
    static const uint8_t factors[][6] = {
        {2, 2, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {2, 1, 1, 1, 1, 1}, {1, 2, 1, 1, 1, 1},
        {4, 1, 1, 1, 1, 1}, {2, 2, 1, 2, 1, 2}, {2, 2, 2, 1, 1, 1}, {1, 1, 2, 2, 2, 1},
        {4, 2, 1, 1, 1, 1}, {1, 4, 1, 1, 1, 2}, {2, 2, 2, 2, 1, 1}, {3, 1, 1, 1, 1, 1},
    };
    const uint8_t *f = factors[choice % (sizeof factors / sizeof *factors)];
    for (int i = 0; i < info->num_components; i++) {
        info->comp_info[i].h_samp_factor = f[2 * i];
        info->comp_info[i].v_samp_factor = f[2 * i + 1];
    }
}

static void say_nothing(j_common_ptr info) { (void)info; }

static file encode(const uint8_t *settings, uint64_t *state)
{
    file result = {NULL, 0};
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    errors.output_message = say_nothing;
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &result.bytes, &result.count);
    /* Few are so large that their data do not fit into what the readers hold at once. */
    const unsigned most = settings[1] == 77 ? 500 : settings[1] % 4 == 0 ? 150 : 41;
    info.image_width = 1 + next_random(state) % most;
    info.image_height = 1 + next_random(state) % most;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    if (settings[2] % 4 == 1)
        jpeg_set_colorspace(&info, JCS_GRAYSCALE);
    else if (settings[2] % 8 == 2)
        jpeg_set_colorspace(&info, JCS_RGB);
    set_sampling(&info, settings[3]);
    jpeg_set_quality(&info, 1 + settings[4] % 100, settings[5] % 2);
    info.optimize_coding = settings[5] / 2 % 2;
    info.restart_interval = settings[5] / 4 % 2 == 0 ? 0 : 1 + settings[6] % 20;
    script scans;
    if (settings[5] / 8 % 2 == 1)
        set_scans(&info, settings[6] / 20u + settings[5] / 16u, &scans, state);
    jpeg_start_compress(&info, TRUE);
    uint8_t *row = calloc(info.image_width, 3);
    while (info.next_scanline < info.image_height) {
        draw(row, (size_t)info.image_width * 3, settings[7 + info.next_scanline / 16 % 3], state);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    free(row);
    return result;
}

/* Where the data of the scan begin. */
static size_t scan_of(const file *f)
{
    for (size_t i = 0; i + 20 < f->count; i++)
        if (f->bytes[i] == 0xff && f->bytes[i + 1] == 0xda)
            return i + 2;
    return 0;
}

static void damage(file *f, const uint8_t *input, size_t count, uint64_t *state)
{
    const size_t start = scan_of(f);
    for (size_t i = 0; i + 3 < count && i < 40; i += 4) {
        const size_t begin = input[i] % 8 == 0 ? 0 : start;
        if (f->count < begin + 4)
            return;
        const size_t step = 1 + f->count / 65536;
        size_t at = begin + (input[i + 1] * 256u + input[i + 2]) * step % (f->count - begin - 1);
        if (input[i] % 16 == 3)
            at = f->count - 1 - at % (f->count < 12 ? f->count - 1 : 12);
        switch (input[i] / 16 % 8) {
        case 0: f->bytes[at] ^= (uint8_t)(1 << input[i + 3] % 8); break;
        case 1: f->bytes[at] = input[i + 3]; break;
        case 2: f->count = at; break;
        case 3:
            memmove(f->bytes + at, f->bytes + at + 1, f->count - at - 1);
            f->count--;
            break;
        case 4: f->bytes[at] = 0xff; f->bytes[at + 1] = (uint8_t)(0xd0 + input[i + 3] % 12); break;
        case 5: f->bytes[at] = 0xff; f->bytes[at + 1] = (uint8_t)(input[i + 3] % 2 == 0 ? 0 : 0xff); break;
        case 6:
            for (size_t k = at; k < f->count && k < at + input[i + 3]; k++)
                f->bytes[k] = (uint8_t)next_random(state);
            break;
        default: f->bytes[at] += 1; break;
        }
    }
}

/* ---- Reading it ---- */

typedef struct {
    darkroom_jpeg_result result;
    uint32_t width, height, count; /* rows */
    unsigned channels;
    uint8_t *pixels;
    char words[WORDS]; /* message and remarks */
    bool is_own;
} outcome;

/* Reads all scans, if there are several. */
static darkroom_jpeg_result absorb(darkroom_jpeg_reader *reader)
{
    for (int is_complete = 0; !is_complete;) {
        const darkroom_jpeg_result result = darkroom_jpeg_reader_absorb(reader, &is_complete);
        if (result != DARKROOM_JPEG_OK)
            return result;
    }
    return DARKROOM_JPEG_OK;
}

static void read_rows(darkroom_jpeg_reader *reader, outcome *o, unsigned at_a_time)
{
    const size_t row_bytes = (size_t)o->width * o->channels;
    o->pixels = malloc(row_bytes * o->height + 1);
    while (o->count < o->height) {
        const uint32_t left = o->height - o->count;
        const uint32_t part = left < at_a_time ? left : at_a_time;
        /* A block of its own, so that the sanitizer sees what is written behind it. */
        uint8_t *rows = malloc(row_bytes * part);
        o->result = darkroom_jpeg_reader_rows(reader, rows, row_bytes, part);
        const uint32_t good = darkroom_jpeg_reader_last_count(reader);
        memcpy(o->pixels + o->count * row_bytes, rows, good * row_bytes);
        free(rows);
        o->count += good;
        if (o->result != DARKROOM_JPEG_OK)
            return;
    }
    o->result = darkroom_jpeg_reader_finish(reader);
}

/* A reader of the bytes in `fd`; of `f` in memory, if it is not NULL and so small. */
static darkroom_jpeg_reader *reader_of(int fd, const file *f)
{
    const bool from_memory = f != NULL && f->count <= DARKROOM_JPEG_RAW_BYTES;
    if (lseek(fd, 0, SEEK_SET) != 0)
        abort();
    darkroom_jpeg_reader *reader = darkroom_jpeg_reader_new(from_memory ? -1 : fd, 1 << 16);
    if (reader == NULL || (from_memory && !darkroom_jpeg_reader_fill(reader, f->bytes, f->count)))
        abort();
    return reader;
}

static outcome read_file(
    int fd, const file *f, darkroom_jpeg_decoder decoder, unsigned divisor, unsigned at_a_time)
{
    outcome o = {0};
    darkroom_jpeg_reader *reader = reader_of(fd, f);
    darkroom_jpeg_header header = {0};
    o.result = darkroom_jpeg_reader_open(reader, &header);
    o.channels = header.channels;
    if (o.result == DARKROOM_JPEG_OK
        && (uint64_t)header.width * header.height <= MOST_PIXELS) {
        o.result = darkroom_jpeg_reader_start(reader, decoder, divisor, &o.width, &o.height);
        if (o.result == DARKROOM_JPEG_OK)
            o.result = absorb(reader);
        if (o.result == DARKROOM_JPEG_OK)
            read_rows(reader, &o, at_a_time);
    }
    o.is_own = !darkroom_jpeg_reader_is_reference(reader);
    size_t used = (size_t)snprintf(o.words, WORDS, "%s", darkroom_jpeg_reader_message(reader));
    for (size_t i = 0; darkroom_jpeg_reader_warning(reader, i) != NULL && used < WORDS; i++)
        used += (size_t)snprintf(
            o.words + used, WORDS - used, "; %s", darkroom_jpeg_reader_warning(reader, i));
    darkroom_jpeg_reader_free(reader);
    return o;
}

/* ---- Several sizes at once ---- */

typedef struct {
    unsigned count, divisors[DARKROOM_JPEG_MOST_VIEWS];
    uint32_t widths[DARKROOM_JPEG_MOST_VIEWS], heights[DARKROOM_JPEG_MOST_VIEWS];
    uint32_t step_rows[DARKROOM_JPEG_MOST_VIEWS], given[DARKROOM_JPEG_MOST_VIEWS];
    uint8_t *pixels[DARKROOM_JPEG_MOST_VIEWS];
    unsigned channels;
} views;

/* Reads up to the end, or until there is doubt. Returns whether it has found the end. */
static bool read_steps(darkroom_jpeg_reader *reader, views *v)
{
    const bool has_scans = absorb(reader) == DARKROOM_JPEG_OK;
    for (unsigned i = 0; i < v->count; i++)
        v->pixels[i] = malloc((size_t)v->widths[i] * v->heights[i] * v->channels + 1);
    if (!has_scans)
        return false;
    for (bool is_more = true; is_more;) {
        uint8_t *rows[DARKROOM_JPEG_MOST_VIEWS] = {NULL};
        uint32_t counts[DARKROOM_JPEG_MOST_VIEWS] = {0};
        for (unsigned i = 0; i < v->count; i++)
            rows[i] = malloc((size_t)v->widths[i] * v->step_rows[i] * v->channels);
        const bool is_good = darkroom_jpeg_reader_step(reader, rows, counts) == DARKROOM_JPEG_OK;
        is_more = false;
        for (unsigned i = 0; i < v->count; i++) {
            const size_t row_bytes = (size_t)v->widths[i] * v->channels;
            if (is_good && counts[i] <= v->heights[i] - v->given[i])
                memcpy(v->pixels[i] + v->given[i] * row_bytes, rows[i], counts[i] * row_bytes);
            else if (is_good)
                abort();
            v->given[i] += is_good ? counts[i] : 0;
            is_more |= is_good && counts[i] > 0;
            free(rows[i]);
        }
        if (!is_good)
            return false;
    }
    return darkroom_jpeg_reader_finish(reader) == DARKROOM_JPEG_OK;
}

/* The rows of each size are those of libjpeg, as far as they go. If they go to the end, libjpeg finds nothing
 * wrong either. */
static void compare_views(int fd, const file *f, unsigned choice, unsigned at_a_time)
{
    views v = {0};
    for (unsigned i = 0; i < DARKROOM_JPEG_MOST_VIEWS; i++)
        if (choice >> i & 1)
            v.divisors[v.count++] = 1u << i;
    if (v.count == 0)
        return;
    darkroom_jpeg_reader *reader = reader_of(fd, choice % 2 == 0 ? f : NULL);
    darkroom_jpeg_header header = {0};
    if (darkroom_jpeg_reader_open(reader, &header) == DARKROOM_JPEG_OK
        && (uint64_t)header.width * header.height <= MOST_PIXELS
        && darkroom_jpeg_reader_start_views(
               reader, v.divisors, v.count, v.widths, v.heights, v.step_rows)
            == DARKROOM_JPEG_OK) {
        v.channels = header.channels;
        const bool is_complete = read_steps(reader, &v);
        for (unsigned i = 0; i < v.count; i++) {
            outcome wanted = read_file(fd, NULL, DARKROOM_JPEG_REFERENCE, v.divisors[i], at_a_time);
            const size_t bytes = (size_t)v.widths[i] * v.given[i] * v.channels;
            bool is_same = v.given[i] <= wanted.count
                && (bytes == 0 || memcmp(v.pixels[i], wanted.pixels, bytes) == 0);
            if (is_complete)
                is_same &= wanted.result == DARKROOM_JPEG_OK && v.given[i] == wanted.count
                    && v.widths[i] == wanted.width && v.heights[i] == wanted.height;
            if (!is_same) {
                fprintf(
                    stderr, "sizes %u, 1/%u: %u rows, complete %d; libjpeg: %d %s (%u rows)\n", choice,
                    v.divisors[i], v.given[i], is_complete, wanted.result, wanted.words, wanted.count);
                abort();
            }
            free(wanted.pixels);
            free(v.pixels[i]);
        }
    }
    darkroom_jpeg_reader_free(reader);
}

static void compare(const file *f, unsigned divisor, unsigned at_a_time)
{
    const int fd = memfd_create("picture", MFD_CLOEXEC);
    if (fd < 0 || write(fd, f->bytes, f->count) != (ssize_t)f->count)
        abort();
    compare_views(fd, f, (divisor + at_a_time + (unsigned)f->count) % 16, at_a_time);
    outcome wanted = read_file(fd, NULL, DARKROOM_JPEG_REFERENCE, divisor, at_a_time);
    for (int level = DARKROOM_CPU_SCALAR; level <= DARKROOM_CPU_AVX512; level++) {
        darkroom_cpu_limit((darkroom_cpu)level);
        /* From memory and from the file, so that each is compared at some level. */
        outcome own = read_file(
            fd, (level + f->count) % 2 == 0 ? f : NULL, DARKROOM_JPEG_AUTOMATIC, divisor, at_a_time);
        const size_t bytes = (size_t)wanted.width * wanted.count * wanted.channels;
        const bool is_same = own.result == wanted.result && own.width == wanted.width
            && own.height == wanted.height && own.count == wanted.count
            && strcmp(own.words, wanted.words) == 0
            && (bytes == 0 || memcmp(own.pixels, wanted.pixels, bytes) == 0);
        if (!is_same) {
            fprintf(
                stderr, "level %d, 1/%u, own %d: %d %s (%u rows); libjpeg: %d %s (%u rows)\n", level,
                divisor, own.is_own, own.result, own.words, own.count, wanted.result, wanted.words,
                wanted.count);
            for (size_t i = 0; i < bytes && own.pixels != NULL; i++)
                if (own.pixels[i] != wanted.pixels[i]) {
                    fprintf(stderr, "byte %zu: %d, not %d\n", i, own.pixels[i], wanted.pixels[i]);
                    break;
                }
            abort();
        }
        free(own.pixels);
    }
    free(wanted.pixels);
    close(fd);
}

/* Pictures, truncated at every byte, and with each byte as FF once. Half of them have several scans. */
static void truncate_all(void)
{
    uint64_t state = 7;
    for (unsigned i = 0; i < 16; i++) {
        uint8_t settings[SETTINGS] = {0, 1, 0};
        for (unsigned k = 2; k < SETTINGS; k++)
            settings[k] = (uint8_t)next_random(&state);
        settings[5] = (uint8_t)((settings[5] & 7) | (i % 2 == 0 ? 0 : 8 + 16 * i));
        file f = encode(settings, &state);
        const unsigned long whole = f.count;
        for (f.count = 0; f.count <= whole; f.count++)
            compare(&f, 1u << (f.count + i) % 4, 1 + f.count % 9);
        f.count = whole;
        for (size_t k = 0; k < whole; k++) {
            const unsigned char byte = f.bytes[k];
            f.bytes[k] = 0xff;
            compare(&f, 1u << (k + i) % 4, 16);
            f.bytes[k] = byte;
        }
        free(f.bytes);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    truncate_all();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count)
{
    if (count < SETTINGS)
        return 0;
    uint64_t state = 1;
    for (size_t i = 0; i < SETTINGS; i++)
        state = (state ^ input[i]) * 0x100000001b3u;
    const unsigned divisor = 1u << input[0] % 4, at_a_time = 1 + input[0] / 4 % 20;
    if (input[0] >= 0xf0) {
        file f = {malloc(count), count - SETTINGS};
        memcpy(f.bytes, input + SETTINGS, f.count);
        compare(&f, divisor, at_a_time);
        free(f.bytes);
        return 0;
    }
    file f = encode(input, &state);
    damage(&f, input + SETTINGS, count - SETTINGS, &state);
    compare(&f, divisor, at_a_time);
    free(f.bytes);
    return 0;
}
