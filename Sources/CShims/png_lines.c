#include "png_lines.h"

#include "CDarkroomDeflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 32 << 10, /* what compressed data may refer back to */
    AHEAD_BYTES = 128 << 10, /* decompressed beyond the lines that are needed next */
    /* Compressed data may use this number of bytes for each byte that they give, and a fixed number in
     * addition at any time. A stream of empty blocks keeps the processor busy as long as it lasts, and
     * between two rows nothing checks whether the picture is still needed. */
    MOST_FOR_ONE = 16,
    CREDIT = 4 << 20,
    /* So many bytes behind the last line are harmless; more would keep the processor busy. */
    MOST_EXTRA = 4 << 20,
};

struct darkroom_png_lines {
    darkroom_png_source *source;
    size_t line_bytes;
    uint64_t left;   /* bytes of lines not yet handed out */
    uint32_t lent;   /* those that the last call has handed out, still before them in the buffer */
    uint32_t at_once;

    darkroom_inflate *inflate;
    const uint8_t *piece; /* compressed data not yet taken */
    size_t piece_left;
    bool is_data_complete; /* and there are no pieces behind it */
    darkroom_inflate_result state;
    uint64_t to_make;      /* decompressed bytes that the picture still lacks */
    uint64_t extra;        /* those behind the last line */
    uint64_t surplus;      /* bytes behind the stream, in its last piece */
    int64_t credit;        /* compressed bytes that may be taken though they give nothing */
    /* Where decompression stopped. It is reported when the lines before it have been returned. */
    darkroom_png_result stop;

    uint8_t *buffer; /* decompressed: [next, filled) has not been given back, some is before it */
    size_t capacity, next, filled;
    uint8_t *scratch; /* for what is decompressed behind the last line; NULL until there is so much */
    char message[DARKROOM_PNG_WORDS];
};

/* ---- Setting up ---- */

darkroom_png_result darkroom_png_lines_new(
    darkroom_png_lines **result, darkroom_png_source *source, size_t line_bytes, uint64_t bytes,
    uint32_t at_once, size_t largest)
{
    *result = NULL;
    const size_t capacity = WINDOW_BYTES + at_once * line_bytes + AHEAD_BYTES;
    if (capacity > largest)
        return DARKROOM_PNG_LIMIT;
    darkroom_png_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL)
        return DARKROOM_PNG_MEMORY;
    lines->source = source;
    lines->line_bytes = line_bytes;
    lines->left = bytes;
    lines->at_once = at_once;
    lines->credit = CREDIT;
    lines->to_make = bytes;
    lines->capacity = capacity;
    lines->inflate = darkroom_inflate_new();
    lines->buffer = malloc(capacity);
    if (lines->inflate == NULL || lines->buffer == NULL) {
        darkroom_png_lines_free(lines);
        return DARKROOM_PNG_MEMORY;
    }
    *result = lines;
    return DARKROOM_PNG_OK;
}

void darkroom_png_lines_free(darkroom_png_lines *lines)
{
    if (lines == NULL)
        return;
    darkroom_inflate_free(lines->inflate);
    free(lines->buffer);
    free(lines->scratch);
    free(lines);
}

/* ---- Decompression ---- */

static darkroom_png_result stop(
    darkroom_png_lines *lines, darkroom_png_result result, const char *words)
{
    lines->stop = result;
    snprintf(lines->message, sizeof lines->message, "IDAT: %s", words);
    return result;
}

static darkroom_png_result too_few(darkroom_png_lines *lines)
{
    return stop(lines, DARKROOM_PNG_DATA, "not enough image data");
}

/* Fetches a piece if the last one is used up. It does not if decompression ended because there was no room:
 * the consumed data may still give output, which precedes an error in the next piece. */
static darkroom_png_result fetch(darkroom_png_lines *lines)
{
    if (lines->piece_left > 0 || lines->is_data_complete || lines->state == DARKROOM_INFLATE_ROOM)
        return DARKROOM_PNG_OK;
    const darkroom_png_result result =
        darkroom_png_source_data(lines->source, &lines->piece, &lines->piece_left);
    if (result != DARKROOM_PNG_OK) {
        lines->stop = result;
        snprintf(lines->message, sizeof lines->message, "%s", lines->source->message);
    }
    lines->is_data_complete = lines->piece_left == 0;
    return result;
}

static bool is_damaged(const darkroom_png_lines *lines)
{
    return lines->state == DARKROOM_INFLATE_HEADER || lines->state == DARKROOM_INFLATE_DAMAGED
        || lines->state == DARKROOM_INFLATE_CHECKSUM;
}

/* Decompresses up to `room` bytes to `to`, and records an error. Returns their number. */
static size_t decompress(darkroom_png_lines *lines, uint8_t *to, size_t room)
{
    size_t taken = 0, made = 0;
    lines->state = darkroom_inflate_run(
        lines->inflate, lines->piece, lines->piece_left, &taken, to, room, &made);
    const bool is_kept = darkroom_png_source_keep_data(lines->source, lines->piece, taken);
    lines->piece += taken;
    lines->piece_left -= taken;
    lines->credit += MOST_FOR_ONE * (int64_t)made - (int64_t)taken;
    if (lines->credit > CREDIT)
        lines->credit = CREDIT;
    switch (lines->state) {
    case DARKROOM_INFLATE_HEADER:
        stop(lines, DARKROOM_PNG_DATA, "the compressed data have no zlib header");
        break;
    case DARKROOM_INFLATE_DAMAGED:
        stop(lines, DARKROOM_PNG_DATA, "the compressed data are damaged");
        break;
    case DARKROOM_INFLATE_CHECKSUM:
        stop(lines, DARKROOM_PNG_ADLER, "incorrect data check (Adler-32)");
        break;
    case DARKROOM_INFLATE_SURPLUS:
        lines->surplus = lines->piece_left;
        lines->state = DARKROOM_INFLATE_END;
        break;
    case DARKROOM_INFLATE_MORE:
    case DARKROOM_INFLATE_ROOM:
        if (lines->credit < 0)
            stop(lines, DARKROOM_PNG_DATA, "the compressed data continue for too long without pixels");
        break;
    case DARKROOM_INFLATE_END:
        break;
    }
    if (!is_kept)
        stop(lines, DARKROOM_PNG_MEMORY, "not enough memory to keep the data");
    return made;
}

/* How much may be decompressed to the end of the buffer: at least AHEAD_BYTES if less than a group is
 * waiting. */
static size_t make_room(darkroom_png_lines *lines)
{
    if (lines->capacity - lines->filled < AHEAD_BYTES) {
        const size_t window = lines->filled < WINDOW_BYTES ? 0 : lines->filled - WINDOW_BYTES;
        const size_t from = lines->next < window ? lines->next : window;
        memmove(lines->buffer, lines->buffer + from, lines->filled - from);
        lines->filled -= from;
        lines->next -= from;
    }
    return lines->capacity - lines->filled;
}

/* Adds to the buffer, or records why this is not possible. */
static void fill(darkroom_png_lines *lines)
{
    size_t room = make_room(lines);
    if (room > lines->to_make)
        room = (size_t)lines->to_make;
    if (fetch(lines) != DARKROOM_PNG_OK)
        return;
    const size_t made = decompress(lines, lines->buffer + lines->filled, room);
    lines->filled += made;
    lines->to_make -= made;
    const bool is_all = lines->state == DARKROOM_INFLATE_END
        || (lines->state == DARKROOM_INFLATE_MORE && lines->is_data_complete);
    if (is_all && lines->to_make > 0)
        too_few(lines);
}

/* Where what follows the last line is decompressed to, for the second time and later: the lines that are lent stay
 * where they are. Before it is the window, whose last bytes are the last `made` of `from`. NULL without memory. */
static uint8_t *scratch_behind(darkroom_png_lines *lines, const uint8_t *from, size_t made)
{
    if (lines->scratch == NULL)
        lines->scratch = calloc(1, WINDOW_BYTES + AHEAD_BYTES);
    if (lines->scratch == NULL) {
        stop(lines, DARKROOM_PNG_MEMORY, "not enough memory for what follows the last row");
        return NULL;
    }
    const size_t window = made < WINDOW_BYTES ? made : WINDOW_BYTES;
    memmove(lines->scratch + WINDOW_BYTES - window, from + made - window, window);
    return lines->scratch + WINDOW_BYTES;
}

/* After the last line, the stream must end. Encoders that write too many rows do no harm: what comes of them is
 * counted, and not used, up to a limit. The checksum behind it is compared. */
static darkroom_png_result end(darkroom_png_lines *lines)
{
    size_t room = make_room(lines);
    room = room < AHEAD_BYTES ? room : AHEAD_BYTES;
    uint8_t *to = lines->buffer + lines->filled;
    size_t before = lines->filled; /* bytes before `to` */
    while (lines->stop == DARKROOM_PNG_OK && lines->state != DARKROOM_INFLATE_END) {
        if (fetch(lines) != DARKROOM_PNG_OK)
            return lines->stop;
        const size_t made = decompress(lines, to, room);
        lines->extra += made;
        if (lines->extra > MOST_EXTRA)
            return stop(lines, DARKROOM_PNG_DATA, "more image data after the last row than rows too many can be");
        if (lines->state == DARKROOM_INFLATE_MORE && lines->is_data_complete)
            return too_few(lines);
        if (made > 0) {
            to = scratch_behind(lines, to - before, before + made);
            if (to == NULL)
                return lines->stop;
            before = WINDOW_BYTES;
            room = AHEAD_BYTES;
        }
    }
    return lines->stop;
}

void darkroom_png_lines_surplus(
    const darkroom_png_lines *lines, uint64_t *extra, uint64_t *surplus)
{
    *extra = lines->extra;
    *surplus = lines->surplus;
}

/* ---- Lines ---- */

static void take_back(darkroom_png_lines *lines)
{
    lines->next += lines->lent * lines->line_bytes;
    lines->lent = 0;
}

void darkroom_png_lines_change(darkroom_png_lines *lines, size_t line_bytes)
{
    take_back(lines);
    lines->line_bytes = line_bytes;
}

/* The number of lines to return next, at most `wanted`; 0 if there can be none. */
static uint32_t available(darkroom_png_lines *lines, uint32_t wanted)
{
    const size_t line = lines->line_bytes;
    while (lines->filled - lines->next < wanted * line && lines->stop == DARKROOM_PNG_OK)
        fill(lines);
    size_t whole = (lines->filled - lines->next) / line;
    /* Damage directly after a line is found together with the line, as in zlib. */
    if (is_damaged(lines) && whole > 0 && whole * line == lines->filled - lines->next)
        whole--;
    return whole < wanted ? (uint32_t)whole : wanted;
}

darkroom_png_result darkroom_png_lines_next(
    darkroom_png_lines *lines, uint32_t wanted, const uint8_t **start, uint32_t *count)
{
    take_back(lines);
    lines->lent = available(lines, wanted < lines->at_once ? wanted : lines->at_once);
    lines->left -= lines->lent * lines->line_bytes;
    *count = lines->lent;
    darkroom_png_result result = DARKROOM_PNG_OK;
    if (lines->lent == 0)
        result = lines->stop;
    else if (lines->left == 0)
        result = end(lines);
    /* Not before this, because they may have been moved. */
    *start = lines->buffer + lines->next;
    return result;
}

void darkroom_png_lines_fetch(
    darkroom_png_lines *lines, uint8_t *to, uint32_t wanted, darkroom_png_fetched *fetched)
{
    fetched->count = 0;
    fetched->result = DARKROOM_PNG_OK;
    while (fetched->count < wanted && fetched->result == DARKROOM_PNG_OK) {
        const uint8_t *start = NULL;
        uint32_t count = 0;
        fetched->result = darkroom_png_lines_next(lines, wanted - fetched->count, &start, &count);
        memcpy(to + fetched->count * lines->line_bytes, start, count * lines->line_bytes);
        fetched->count += count;
    }
    memcpy(fetched->message, lines->message, sizeof fetched->message);
}

const char *darkroom_png_lines_message(const darkroom_png_lines *lines)
{
    return lines->message;
}
