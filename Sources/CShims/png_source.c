#include "png_source.h"

#include "CDarkroomDeflate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static darkroom_png_result fail(
    darkroom_png_source *source, darkroom_png_result result, const char *chunk, const char *words)
{
    source->failure = result;
    snprintf(source->message, sizeof source->message, "%s%s", chunk, words);
    return result;
}

void darkroom_png_source_start(darkroom_png_source *source, int fd)
{
    source->fd = fd;
    source->state = SOURCE_SIGNATURE;
    source->left = 8;
    darkroom_png_kept_start(&source->kept);
}

bool darkroom_png_source_fill(darkroom_png_source *source, const uint8_t *bytes, size_t count)
{
    if (count > sizeof source->raw)
        return false;
    if (count > 0)
        memcpy(source->raw, bytes, count);
    source->raw_filled = count;
    source->fd = -1;
    return true;
}

void darkroom_png_source_end(darkroom_png_source *source)
{
    darkroom_png_kept_free(&source->kept);
}

bool darkroom_png_source_keep(darkroom_png_source *source)
{
    /* The first piece was collected with its header. */
    source->kept.is_on = source->state == SOURCE_HEADER && source->is_in_data
        && darkroom_png_is_compressed_well(source->held, source->held_count);
    return source->kept.is_on;
}

/* ---- From the file ---- */

/* Reads more of the file into the free part of the buffer. Returns 0 at its end, -1 on failure. */
static ssize_t read_more(darkroom_png_source *source)
{
    if (source->fd < 0)
        return 0;
    ssize_t count;
    do
        count = read(
            source->fd, source->raw + source->raw_filled, sizeof source->raw - source->raw_filled);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        source->system_error = errno;
        fail(source, DARKROOM_PNG_IO, "", "read failed");
    } else {
        source->raw_filled += (size_t)count;
    }
    return count;
}

darkroom_png_result darkroom_png_source_prefix(
    darkroom_png_source *source, uint8_t *bytes, size_t count, size_t *copied)
{
    /* A pipe may give a few bytes at a time. */
    while (source->raw_filled < count && source->raw_filled < sizeof source->raw) {
        ssize_t got = read_more(source);
        if (got < 0)
            return source->failure;
        if (got == 0)
            break;
    }
    *copied = source->raw_filled < count ? source->raw_filled : count;
    memcpy(bytes, source->raw, *copied);
    return DARKROOM_PNG_OK;
}

/* Consumes the file's next `count` bytes, or fewer on failure. Returns their number. */
static size_t take_some(darkroom_png_source *source, uint8_t *bytes, size_t count)
{
    size_t taken = 0;
    while (taken < count) {
        if (source->raw_next == source->raw_filled) {
            source->raw_next = source->raw_filled = 0;
            ssize_t got = read_more(source);
            if (got == 0)
                fail(source, DARKROOM_PNG_TRUNCATED, "", "the file ends too early");
            if (got <= 0)
                return taken;
        }
        size_t part = source->raw_filled - source->raw_next;
        if (part > count - taken)
            part = count - taken;
        memcpy(bytes + taken, source->raw + source->raw_next, part);
        source->raw_next += part;
        taken += part;
    }
    return taken;
}

/* Consumes the file's next `count` bytes. */
static darkroom_png_result take(darkroom_png_source *source, uint8_t *bytes, size_t count)
{
    return take_some(source, bytes, count) == count ? DARKROOM_PNG_OK : source->failure;
}

bool darkroom_png_source_has_more(darkroom_png_source *source)
{
    if (source->raw_next < source->raw_filled)
        return true;
    if (source->fd < 0)
        return false;
    /* More may come from a pipe, but who waits for it? */
    if (lseek(source->fd, 0, SEEK_CUR) < 0)
        return false;
    source->raw_next = source->raw_filled = 0;
    return read_more(source) > 0;
}

/* ---- Chunks ---- */

static void set_length(uint8_t *bytes, size_t length)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(length >> (24 - 8 * i));
}

static bool is_data(const uint8_t *header)
{
    return memcmp(header + 4, "IDAT", 4) == 0;
}

bool darkroom_png_source_has_met(const darkroom_png_source *source, const char *name)
{
    for (size_t i = 0; i < source->name_count; i++)
        if (strcmp(source->names[i], name) == 0)
            return true;
    return false;
}

/* Records a chunk's name. */
static void meet(darkroom_png_source *source, const uint8_t *header)
{
    char name[5] = {0};
    memcpy(name, header + 4, 4);
    for (int i = 0; i < 4; i++)
        if (!((name[i] >= 'A' && name[i] <= 'Z') || (name[i] >= 'a' && name[i] <= 'z')))
            return; /* libpng refuses it */
    if (!darkroom_png_source_has_met(source, name) && source->name_count < DARKROOM_PNG_CHUNK_NAMES)
        memcpy(source->names[source->name_count++], name, sizeof name);
}

/* Begins to read the data of the IDAT whose header has just been consumed. */
static darkroom_png_result begin_data_chunk(darkroom_png_source *source, const uint8_t *header)
{
    source->chunk_left = darkroom_png_big_endian(header);
    source->crc = darkroom_crc32(0, header + 4, 4);
    if (source->chunk_left > 0x7fffffff)
        return fail(source, DARKROOM_PNG_DATA, "IDAT", ": the length is out of range");
    return DARKROOM_PNG_OK;
}

/* Ends an IDAT and continues with the next one, if there is one. */
static darkroom_png_result end_data_chunk(darkroom_png_source *source)
{
    uint8_t bytes[8];
    if (take(source, bytes, 4) != DARKROOM_PNG_OK)
        return source->failure;
    if (darkroom_png_big_endian(bytes) != source->crc)
        return fail(source, DARKROOM_PNG_CRC, "IDAT", ": CRC error");
    if (take(source, bytes, 8) != DARKROOM_PNG_OK)
        return source->failure;
    if (is_data(bytes))
        return begin_data_chunk(source, bytes);
    memcpy(source->following, bytes, 8);
    source->has_following = true;
    source->is_data_complete = true;
    return DARKROOM_PNG_OK;
}

/* Fills `held`, as far as there is data. Data before a failure stays in it, so that the rows before the
 * failure are read. Data with a wrong checksum does not. */
static darkroom_png_result gather(darkroom_png_source *source)
{
    size_t chunk_start = source->held_count;
    while (source->held_count < sizeof source->held && !source->is_data_complete) {
        if (source->chunk_left == 0) {
            if (end_data_chunk(source) == DARKROOM_PNG_CRC)
                source->held_count = chunk_start;
            if (source->failure != DARKROOM_PNG_OK)
                return source->failure;
            chunk_start = source->held_count;
            continue;
        }
        size_t part = sizeof source->held - source->held_count;
        if (part > source->chunk_left)
            part = source->chunk_left;
        uint8_t *to = source->held + source->held_count;
        const size_t taken = take_some(source, to, part);
        source->crc = darkroom_crc32(source->crc, to, taken);
        source->chunk_left -= taken;
        source->held_count += taken;
        if (source->failure != DARKROOM_PNG_OK)
            return source->failure;
    }
    return DARKROOM_PNG_OK;
}

/* Makes `header` that of a new IDAT. Its data is as much as `held` can contain. */
static darkroom_png_result next_piece(darkroom_png_source *source)
{
    if (gather(source) != DARKROOM_PNG_OK && source->reports_data && source->held_count == 0)
        return source->failure;
    if (source->is_after_rows && source->held_count > 0) {
        /* Data behind other chunks contradict these. */
        if (source->is_another_group)
            return fail(source, DARKROOM_PNG_DATA, "IDAT", ": more compressed data after its end");
        source->surplus += source->held_count;
    }
    if (source->is_counted && !source->is_after_rows) {
        source->credit -= (int64_t)source->held_count;
        if (source->credit < 0)
            return fail(
                source, DARKROOM_PNG_DATA, "IDAT",
                ": the compressed data continue for too long without pixels");
    }
    if (source->is_last_row && !source->is_after_rows) {
        if (source->held_count > source->last_row_left)
            return fail(
                source, DARKROOM_PNG_DATA, "IDAT", ": more compressed data than a row can need");
        source->last_row_left -= source->held_count;
    }
    set_length(source->header, source->held_count);
    memcpy(source->header + 4, "IDAT", 4);
    return DARKROOM_PNG_OK;
}

/* Makes `header` that of the next chunk to return. */
static darkroom_png_result next_header(darkroom_png_source *source)
{
    if (source->failure != DARKROOM_PNG_OK)
        return source->failure;
    if (source->is_in_data)
        return next_piece(source);
    if (source->has_following) {
        memcpy(source->header, source->following, 8);
        source->has_following = false;
    } else if (take(source, source->header, 8) != DARKROOM_PNG_OK) {
        return source->failure;
    }
    source->is_another_group = darkroom_png_source_has_met(source, "IDAT");
    meet(source, source->header);
    if (is_data(source->header)) {
        source->is_in_data = true;
        source->is_data_complete = false;
        if (begin_data_chunk(source, source->header) != DARKROOM_PNG_OK)
            return source->failure;
        return next_piece(source);
    }
    source->is_critical = (source->header[4] & 0x20) == 0;
    source->crc = darkroom_crc32(0, source->header + 4, 4);
    return DARKROOM_PNG_OK;
}

static darkroom_png_result compare_checksum(darkroom_png_source *source)
{
    /* libpng compares the checksums of ancillary chunks. */
    if (!source->is_critical || source->given == source->crc)
        return DARKROOM_PNG_OK;
    char name[5] = {0};
    memcpy(name, source->header + 4, 4);
    return fail(source, DARKROOM_PNG_CRC, name, ": CRC error");
}

/* ---- To libpng ---- */

/* Enters the next state. This happens only when its bytes are requested: after IEND nothing more is read. */
static darkroom_png_result advance(darkroom_png_source *source)
{
    switch (source->state) {
    case SOURCE_HEADER:
        source->state = source->is_in_data ? SOURCE_PIECE : SOURCE_BODY;
        source->left = darkroom_png_big_endian(source->header);
        return DARKROOM_PNG_OK;
    case SOURCE_BODY:
        source->state = SOURCE_CHECKSUM;
        source->left = 4;
        source->given = 0;
        return DARKROOM_PNG_OK;
    case SOURCE_PIECE:
        source->state = SOURCE_PIECE_CHECKSUM;
        source->left = 4;
        source->held_count = 0;
        source->is_in_data = !source->is_data_complete;
        return DARKROOM_PNG_OK;
    case SOURCE_SIGNATURE:
    case SOURCE_CHECKSUM:
    case SOURCE_PIECE_CHECKSUM:
        source->state = SOURCE_HEADER;
        source->left = 8;
        return next_header(source);
    }
    return DARKROOM_PNG_MISUSE;
}

/* Returns `count` bytes of the current state. */
static darkroom_png_result hand_out(darkroom_png_source *source, uint8_t *bytes, size_t count)
{
    darkroom_png_result result = DARKROOM_PNG_OK;
    switch (source->state) {
    case SOURCE_HEADER:
        memcpy(bytes, source->header + 8 - source->left, count);
        break;
    case SOURCE_PIECE:
        memcpy(bytes, source->held + source->held_count - source->left, count);
        break;
    case SOURCE_PIECE_CHECKSUM:
        memset(bytes, 0, count);
        break;
    case SOURCE_SIGNATURE:
        result = take(source, bytes, count);
        break;
    case SOURCE_BODY:
        result = take(source, bytes, count);
        if (result == DARKROOM_PNG_OK && source->is_critical)
            source->crc = darkroom_crc32(source->crc, bytes, count);
        break;
    case SOURCE_CHECKSUM:
        result = take(source, bytes, count);
        for (size_t i = 0; i < count; i++)
            source->given = source->given << 8 | bytes[i];
        if (result == DARKROOM_PNG_OK && count == source->left)
            result = compare_checksum(source);
        break;
    }
    source->left -= count;
    return result;
}

darkroom_png_result darkroom_png_source_read(
    darkroom_png_source *source, uint8_t *bytes, size_t count)
{
    while (count > 0) {
        while (source->left == 0)
            if (advance(source) != DARKROOM_PNG_OK)
                return source->failure;
        size_t part = source->left < count ? source->left : count;
        if (hand_out(source, bytes, part) != DARKROOM_PNG_OK)
            return source->failure;
        bytes += part;
        count -= part;
    }
    return DARKROOM_PNG_OK;
}

/* ---- Without libpng ---- */

bool darkroom_png_source_keep_data(
    darkroom_png_source *source, const uint8_t *bytes, size_t count)
{
    return !source->kept.is_on || count == 0 || darkroom_png_kept_add(&source->kept, bytes, count);
}

darkroom_png_result darkroom_png_source_data(
    darkroom_png_source *source, const uint8_t **bytes, size_t *count)
{
    *count = 0;
    if (source->state == SOURCE_HEADER) {
        /* The first piece was collected with its header. */
        source->state = SOURCE_PIECE;
        if (source->held_count == 0 && source->failure != DARKROOM_PNG_OK)
            return source->failure;
    } else {
        if (source->failure != DARKROOM_PNG_OK)
            return source->failure;
        source->held_count = 0;
        if (next_piece(source) != DARKROOM_PNG_OK)
            return source->failure;
    }
    *bytes = source->held;
    *count = source->held_count;
    if (*count == 0) {
        source->is_in_data = false;
        source->state = SOURCE_PIECE_CHECKSUM;
    }
    return DARKROOM_PNG_OK;
}
