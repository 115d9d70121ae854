/* Holds the two ways of decoding a PNG against each other: the same pixels, or the same kind of error.
 *
 * An input is a PNG file. Most changes to one only break a checksum, so the mutator here takes the
 * file apart: it mends the checksums of chunks, and it changes the decompressed rows or the raw
 * deflate data and packs them up again. */
#define _GNU_SOURCE
#include "darkroom_cpu.h"
#include "darkroom_png.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum {
    MOST_PIXELS = 1 << 16, /* larger pictures take time and show nothing more */
    MOST_BYTES = 1 << 20,
    REMARKS = 8,
};

/* ---- The comparison ---- */

typedef struct {
    darkroom_png_result result;
    bool has_pixels;
    darkroom_png_header header;
    uint8_t *pixels;
    size_t count;
    char message[160];
    bool has_too_much; /* a remark about rows too many, which libpng reads no further than that */
} picture;

static int file_of(const uint8_t *bytes, size_t count)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("png", 0);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, count, 0) != (ssize_t)count
        || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

/* The rows in two steps, the first of them AHEAD bands ahead of the second. */
static darkroom_png_result read_in_two_steps(darkroom_png_reader *reader, picture *p, uint32_t band)
{
    enum { AHEAD = 3 };
    const uint32_t height = p->header.height, bands = (height + band - 1) / band;
    const size_t row_bytes = p->count / height, line = darkroom_png_reader_line_bytes(reader);
    uint8_t *slots[AHEAD];
    darkroom_png_fetched fetched[AHEAD] = {0};
    for (int i = 0; i < AHEAD; i++)
        slots[i] = malloc(band * line);
    darkroom_png_result result = DARKROOM_PNG_OK;
    bool goes_on = true;
    for (uint32_t k = 0; k < bands + AHEAD && result == DARKROOM_PNG_OK; k++) {
        const uint32_t slot = k % AHEAD;
        if (k >= AHEAD)
            result = darkroom_png_reader_undo(
                reader, slots[slot], &fetched[slot], p->pixels + (k - AHEAD) * band * row_bytes,
                height - (k - AHEAD) * band < band ? height - (k - AHEAD) * band : band);
        if (k < bands && goes_on) {
            const uint32_t left = height - k * band;
            darkroom_png_reader_fetch(
                reader, slots[slot], left < band ? left : band, &fetched[slot]);
            goes_on = fetched[slot].result == DARKROOM_PNG_OK;
        }
    }
    for (int i = 0; i < AHEAD; i++)
        free(slots[i]);
    return result;
}

/* Where the picture can be read in two steps and that is asked for, so; else band by band. */
static darkroom_png_result read_pixels(
    darkroom_png_reader *reader, picture *p, uint32_t band, bool in_two_steps)
{
    size_t row_bytes = 0;
    const uint32_t height = p->header.height;
    const darkroom_png_decoder decoder = band == 0 ? DARKROOM_PNG_REFERENCE : DARKROOM_PNG_AUTOMATIC;
    darkroom_png_result result = darkroom_png_reader_start(reader, decoder, &row_bytes);
    if (result != DARKROOM_PNG_OK)
        return result;
    p->count = row_bytes * height;
    p->pixels = calloc(1, p->count);
    const bool has_two_steps = in_two_steps && darkroom_png_reader_line_bytes(reader) > 0;
    if (has_two_steps)
        result = read_in_two_steps(reader, p, band);
    if (result != DARKROOM_PNG_OK)
        return result;
    for (int pass = 0; pass < (has_two_steps ? 0 : p->header.interlaced ? 7 : 1); pass++) {
        for (uint32_t row = 0; row < height;) {
            uint32_t rows = band == 0 ? 1 : band;
            if (rows > height - row)
                rows = height - row;
            result = darkroom_png_reader_rows(reader, p->pixels + row * row_bytes, rows);
            if (result != DARKROOM_PNG_OK)
                return result;
            row += rows;
        }
    }
    result = darkroom_png_reader_finish(reader);
    p->has_pixels = result == DARKROOM_PNG_OK;
    return result;
}

/* Decodes by libpng where `band` is 0, else by code of our own, so many rows at a time; in two steps if
 * that is asked for, where there are two, and then from memory, if the file is so small. */
static picture decode(const uint8_t *bytes, size_t count, uint32_t band, bool in_two_steps)
{
    picture p = {0};
    const bool from_memory = in_two_steps && count <= DARKROOM_PNG_RAW_BYTES;
    darkroom_png_reader *reader = darkroom_png_reader_new(
        from_memory ? -1 : file_of(bytes, count), 4 << 20, 1 << 20);
    if (reader == NULL || (from_memory && !darkroom_png_reader_fill(reader, bytes, count)))
        abort();
    uint8_t prefix[64];
    size_t copied = 0;
    p.result = darkroom_png_reader_prefix(reader, prefix, sizeof prefix, &copied);
    if (p.result == DARKROOM_PNG_OK)
        p.result = darkroom_png_reader_open(reader, &p.header);
    darkroom_png_colour colour;
    darkroom_png_reader_colour(reader, &colour);
    if (p.result == DARKROOM_PNG_OK
        && (uint64_t)p.header.width * p.header.height <= MOST_PIXELS)
        p.result = read_pixels(reader, &p, band, in_two_steps);
    snprintf(p.message, sizeof p.message, "%s", darkroom_png_reader_message(reader));
    for (size_t i = 0; i < REMARKS; i++)
        if (darkroom_png_reader_warning(reader, i) == NULL)
            break;
        else if (strstr(darkroom_png_reader_warning(reader, i), "oo much image data") != NULL)
            p.has_too_much = true;
    darkroom_png_reader_free(reader);
    return p;
}

/* A file may be broken in more than one way. Damage to the data, and a pixel beyond the palette, end
 * reading at once here, while libpng may first go on to the stream's end, or to the next chunk's name,
 * and find something else there. Both fail in any case. */
static bool agree(const picture *a, const picture *reference)
{
    /* Behind rows too many, libpng finds neither damage nor a wrong checksum. */
    if (reference->result == DARKROOM_PNG_OK && reference->has_too_much
        && (a->result == DARKROOM_PNG_DATA || a->result == DARKROOM_PNG_ADLER))
        return true;
    if (a->result != reference->result)
        return (a->result == DARKROOM_PNG_DATA || a->result == DARKROOM_PNG_PALETTE)
            && reference->result != DARKROOM_PNG_OK;
    if (a->has_pixels != reference->has_pixels)
        return false;
    return !a->has_pixels
        || (a->count == reference->count && memcmp(a->pixels, reference->pixels, a->count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    /* The bands' size is taken from the input, so that a file always shows the same. */
    const uint32_t bands[] = {8, 1, 3, 64};
    const uint32_t band = bands[count % 4];
    picture reference = decode(bytes, count, 0, false);
    for (int level = DARKROOM_CPU_SCALAR; level <= DARKROOM_CPU_AVX512; level++) {
        darkroom_cpu_limit((darkroom_cpu)level);
        picture own = decode(bytes, count, band, false);
        if (!agree(&own, &reference)) {
            fprintf(
                stderr, "level %d: %d %s; libpng: %d %s\n", level, own.result, own.message,
                reference.result, reference.message);
            abort();
        }
        picture again = decode(bytes, count, band, true);
        if (again.result != own.result || again.has_pixels != own.has_pixels
            || strcmp(again.message, own.message) != 0
            || (own.has_pixels && memcmp(again.pixels, own.pixels, own.count) != 0)) {
            fprintf(
                stderr, "level %d: %d %s; in two steps: %d %s\n", level, own.result, own.message,
                again.result, again.message);
            abort();
        }
        free(again.pixels);
        free(own.pixels);
    }
    free(reference.pixels);
    return 0;
}

/* ---- The mutator ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t largest);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t largest, unsigned seed);

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_big_endian(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Where the chunk at `offset` ends; 0 where it does not lie within the file. */
static size_t chunk_end(const uint8_t *data, size_t size, size_t offset)
{
    if (size - offset < 12)
        return 0;
    const uint32_t length = big_endian(data + offset);
    return length > size - offset - 12 ? 0 : offset + 12 + length;
}

static void mend_checksums(uint8_t *data, size_t size)
{
    size_t end = 0;
    for (size_t at = sizeof signature; at < size && (end = chunk_end(data, size, at)) != 0; at = end)
        put_big_endian(
            data + end - 4, (uint32_t)crc32(0, data + at + 4, (uInt)(end - at - 8)));
}

/* A file taken apart: what comes before the IDATs, their data joined, what comes after. */
typedef struct {
    size_t first, last; /* the first IDAT's beginning, the last one's end */
    uint8_t *stream;
    size_t count;
} parts;

static bool take_apart(const uint8_t *data, size_t size, parts *p)
{
    memset(p, 0, sizeof *p);
    p->stream = malloc(size);
    size_t end = 0;
    for (size_t at = sizeof signature; at < size && (end = chunk_end(data, size, at)) != 0; at = end) {
        if (memcmp(data + at + 4, "IDAT", 4) != 0) {
            if (p->last != 0)
                break;
            continue;
        }
        if (p->last == 0)
            p->first = at;
        p->last = end;
        memcpy(p->stream + p->count, data + at + 8, end - at - 12);
        p->count += end - at - 12;
    }
    return p->last != 0;
}

/* Writes the file anew, its data cut into IDATs of up to `cut` bytes. */
static size_t put_together(
    uint8_t *data, size_t size, size_t largest, const parts *p, const uint8_t *stream, size_t count,
    size_t cut)
{
    const size_t chunks = count / cut + 1;
    const size_t after = size - p->last;
    if (p->first + count + chunks * 12 + after > largest)
        return 0;
    uint8_t *tail = malloc(after + 1);
    memcpy(tail, data + p->last, after);
    size_t at = p->first;
    for (size_t from = 0; from < count || from == 0; from += cut) {
        const size_t length = count - from < cut ? count - from : cut;
        put_big_endian(data + at, (uint32_t)length);
        memcpy(data + at + 4, "IDAT", 4);
        memcpy(data + at + 8, stream + from, length);
        at += length + 12;
    }
    memcpy(data + at, tail, after);
    free(tail);
    return at + after;
}

/* All that comes out of a stream, also of one that is damaged further on. */
static size_t unpack(const uint8_t *stream, size_t count, uint8_t *rows)
{
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK)
        abort();
    z.next_in = (uint8_t *)(uintptr_t)stream;
    z.avail_in = (uInt)count;
    z.next_out = rows;
    z.avail_out = MOST_BYTES;
    inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return MOST_BYTES - z.avail_out;
}

static size_t pack(const uint8_t *rows, size_t count, uint8_t *stream, unsigned seed)
{
    static const int strategies[] = {
        Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED, Z_DEFAULT_STRATEGY};
    static const int levels[] = {6, 9, 1, 6, 6, 0};
    z_stream z = {0};
    if (deflateInit2(&z, levels[seed % 6], Z_DEFLATED, 15, 8, strategies[seed % 6]) != Z_OK)
        abort();
    z.next_in = (uint8_t *)(uintptr_t)rows;
    z.avail_in = (uInt)count;
    z.next_out = stream;
    z.avail_out = MOST_BYTES;
    const int result = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return result == Z_STREAM_END ? MOST_BYTES - z.avail_out : 0;
}

/* Makes the checksum at the stream's end that of what comes out before. */
static void mend_adler(uint8_t *stream, size_t count, uint8_t *rows)
{
    if (count < 6)
        return;
    const size_t made = unpack(stream, count, rows);
    put_big_endian(stream + count - 4, (uint32_t)adler32(1, rows, (uInt)made));
}

static size_t change_stream(uint8_t *data, size_t size, size_t largest, unsigned seed)
{
    static uint8_t rows[MOST_BYTES], stream[MOST_BYTES];
    parts p;
    size_t result = 0;
    if (take_apart(data, size, &p) && p.count <= MOST_BYTES / 2) {
        const size_t cuts[] = {1 << 16, 1 << 16, 1, 7, 100, 1000};
        const size_t cut = cuts[seed / 16 % 6];
        size_t count = p.count;
        if (seed % 3 == 0) {
            memcpy(stream, p.stream, count);
            count = LLVMFuzzerMutate(stream, count, count + 64);
            if (seed / 128 % 4 != 0)
                mend_adler(stream, count, rows);
        } else {
            size_t made = unpack(p.stream, count, rows);
            if (made > MOST_BYTES / 2)
                made = MOST_BYTES / 2;
            if (seed % 3 == 1)
                made = LLVMFuzzerMutate(rows, made, made + 64);
            count = pack(rows, made, stream, seed / 128);
        }
        result = put_together(data, size, largest, &p, stream, count, cut);
    }
    free(p.stream);
    return result;
}

/* ---- New files, for the mutator to begin with ---- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static size_t add_chunk(uint8_t *data, const char *name, const uint8_t *body, size_t count)
{
    put_big_endian(data, (uint32_t)count);
    memcpy(data + 4, name, 4);
    memcpy(data + 8, body, count);
    put_big_endian(data + 8 + count, (uint32_t)crc32(0, data + 4, (uInt)(count + 4)));
    return count + 12;
}

/* The bytes of all rows of a picture, pass by pass where it is interlaced (section 8). */
static size_t size_of_rows(uint32_t width, uint32_t height, unsigned bits, bool interlaced)
{
    static const uint8_t x[7] = {0, 4, 0, 2, 0, 1, 0}, y[7] = {0, 0, 4, 0, 2, 0, 1};
    static const uint8_t step_x[7] = {8, 8, 4, 4, 2, 2, 1}, step_y[7] = {8, 8, 8, 4, 4, 2, 2};
    if (!interlaced)
        return height * ((width * (size_t)bits + 7) / 8 + 1);
    size_t sum = 0;
    for (int i = 0; i < 7; i++) {
        const uint32_t columns = (width + step_x[i] - 1 - x[i]) / step_x[i];
        const uint32_t rows = (height + step_y[i] - 1 - y[i]) / step_y[i];
        if (columns > 0)
            sum += rows * ((columns * (size_t)bits + 7) / 8 + 1);
    }
    return sum;
}

/* A PNG of a random kind and size, of small bytes: so all of them may be filters' numbers. */
static size_t make_file(uint8_t *data, size_t largest, uint32_t seed)
{
    static const uint8_t kinds[15][3] = {
        {0, 1, 1},  {0, 2, 1},  {0, 4, 1},  {0, 8, 1},  {0, 16, 1}, {2, 8, 3},  {2, 16, 3}, {3, 1, 1},
        {3, 2, 1},  {3, 4, 1},  {3, 8, 1},  {4, 8, 2},  {4, 16, 2}, {6, 8, 4},  {6, 16, 4},
    };
    static uint8_t rows[1 << 16], stream[MOST_BYTES]; /* at most 40 rows of 321 bytes */
    const uint8_t *kind = kinds[next_random(&seed) % 15];
    const uint32_t width = 1 + next_random(&seed) % 40, height = 1 + next_random(&seed) % 40;
    const bool interlaced = next_random(&seed) % 2 == 0;
    uint8_t header[13] = {0};
    put_big_endian(header, width);
    put_big_endian(header + 4, height);
    header[8] = kind[1];
    header[9] = kind[0];
    header[12] = interlaced;
    const size_t count = size_of_rows(width, height, (unsigned)kind[1] * kind[2], interlaced);
    const uint32_t spread = 1 + next_random(&seed) % 5;
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint8_t)(next_random(&seed) % spread);
    const size_t packed = pack(rows, count, stream, next_random(&seed));
    if (packed + 4096 > largest)
        return 0;
    memcpy(data, signature, sizeof signature);
    size_t at = sizeof signature;
    at += add_chunk(data + at, "IHDR", header, sizeof header);
    if (kind[0] == 3)
        at += add_chunk(data + at, "PLTE", stream, 3 * (1 + next_random(&seed) % (1u << kind[1])));
    if (kind[0] != 4 && kind[0] != 6 && next_random(&seed) % 3 == 0)
        at += add_chunk(data + at, "tRNS", rows, kind[0] == 0 ? 2 : kind[0] == 2 ? 6 : 2);
    at += add_chunk(data + at, "IDAT", stream, packed);
    return at + add_chunk(data + at, "IEND", rows, 0);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t largest, unsigned seed)
{
    size_t result = 0;
    if (size <= 57 || seed % 256 == 0)
        result = make_file(data, largest, seed);
    else if (seed % 4 != 0)
        result = change_stream(data, size, largest, seed / 4);
    if (result == 0)
        result = LLVMFuzzerMutate(data, size, largest);
    if (result > sizeof signature && seed % 64 != 0) {
        memcpy(data, signature, sizeof signature);
        mend_checksums(data, result);
    }
    return result;
}
