/* The bytes of a PNG file on their way from a descriptor to libpng. */
#ifndef DARKROOM_PNG_SOURCE_H
#define DARKROOM_PNG_SOURCE_H

#include "darkroom_png.h"
#include "png_kept.h"

#include <stdbool.h>

/* A number in a chunk. */
static inline uint32_t darkroom_png_big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

enum {
    DARKROOM_PNG_PIECE_BYTES = 64 << 10,
};

/*
 * Passes the chunks of a file through unchanged, except that the data of consecutive IDATs is joined and
 * divided into new IDATs of one piece each, the last one shorter.
 *
 * The reason: after the last row, libpng 1.6 calls inflate once more, with the rest of the current IDAT or
 * else with the next one, and then assumes that the compressed data are complete. If their end is spread over
 * more IDATs, as in files with one byte in each IDAT, it never sees the Adler checksum and does not report
 * this. The end of a stream, a few bytes, is spread over at most two pieces.
 *
 * Because the chunks are parsed here, the checksums of the critical ones are compared here too, and libpng is
 * told to ignore them. Those of the new IDATs are 0.
 */
typedef struct {
    int fd; /* negative if the buffer was filled with all bytes of the file */
    enum {
        SOURCE_SIGNATURE,
        SOURCE_HEADER,         /* a chunk's length and name, from `header` */
        SOURCE_BODY,           /* its data, from the file */
        SOURCE_CHECKSUM,       /* its checksum, from the file */
        SOURCE_PIECE,          /* the data of an IDAT dealt out anew, from `held` */
        SOURCE_PIECE_CHECKSUM, /* zeros */
    } state;
    size_t left; /* bytes to hand out in this state */

    uint8_t header[8]; /* of the chunk that is handed out */
    bool is_critical;
    uint32_t crc;   /* of name and data so far, of the chunk being read */
    uint32_t given; /* what the file says it is */

    bool is_in_data;       /* IDATs are being read, or some of their data is held */
    bool is_data_complete; /* the last of them has been read */
    size_t chunk_left;     /* unread bytes of the IDAT being read */
    size_t held_count;     /* bytes of the piece */
    uint8_t following[8]; /* the header of the chunk after the IDATs */
    bool has_following;

    /* The reader sets this when rows are being read: only then is damage in an IDAT reported, so that it does
     * not count as damage of the header. */
    bool reports_data;
    /* The reader sets this before the last row, with which libpng inflates all remaining data: the maximum
     * number of remaining bytes. They may give a thousand times as many bytes, at 500 MB/s, and nothing can
     * interrupt this. */
    bool is_last_row;
    size_t last_row_left;
    /* The reader sets this if libpng makes rows, and increases it before each of them: the number of bytes of
     * compressed data that may still be returned. A stream of empty blocks keeps the processor busy as long
     * as it lasts, and libpng checks nothing before a row is full. */
    bool is_counted;
    int64_t credit;
    /* The reader sets this after the last row: more data are counted. */
    bool is_after_rows;
    uint64_t surplus;      /* the number of their bytes */
    bool is_another_group; /* the IDATs that are read follow other chunks, and these follow IDATs */

    darkroom_png_kept kept; /* the data for a caller without libpng, if it is on */

    darkroom_png_result failure; /* stays once it is set */
    int system_error;
    char message[64];

    char names[DARKROOM_PNG_CHUNK_NAMES][5]; /* of the chunks met, each once */
    size_t name_count;

    size_t raw_next, raw_filled; /* unconsumed bytes of the file are raw[raw_next..<raw_filled] */
    uint8_t raw[DARKROOM_PNG_RAW_BYTES];
    uint8_t held[DARKROOM_PNG_PIECE_BYTES];
} darkroom_png_source;

/* `source` is all zeros. */
void darkroom_png_source_start(darkroom_png_source *source, int fd);
/* Before any byte is read: gives the source all bytes of the file, so that it reads no descriptor. False if
 * they do not fit into its buffer. */
bool darkroom_png_source_fill(darkroom_png_source *source, const uint8_t *bytes, size_t count);

void darkroom_png_source_end(darkroom_png_source *source);

/* Before the first call of darkroom_png_source_data: has the data be kept if they were compressed with some
 * effort. Returns whether they will be. */
bool darkroom_png_source_keep(darkroom_png_source *source);

/* Copies up to `count` of the file's first bytes, before any byte is read. */
darkroom_png_result darkroom_png_source_prefix(
    darkroom_png_source *source, uint8_t *bytes, size_t count, size_t *copied);

/* The next `count` bytes for libpng. On failure `message` is the error message. */
darkroom_png_result darkroom_png_source_read(
    darkroom_png_source *source, uint8_t *bytes, size_t count);

/* The next piece of the IDATs' data for a caller without libpng, after libpng has read the header of the
 * first one. `count` is 0 after the last; then libpng may continue with the following chunks. The bytes are
 * valid until the next call. */
darkroom_png_result darkroom_png_source_data(
    darkroom_png_source *source, const uint8_t **bytes, size_t *count);

/* Has data be kept that belong to the compressed stream, if they are kept. Returns false if there is no memory. */
bool darkroom_png_source_keep_data(
    darkroom_png_source *source, const uint8_t *bytes, size_t count);

/* Whether the file continues. If reading might wait, as for a pipe, only data that has already been read
 * counts. */
bool darkroom_png_source_has_more(darkroom_png_source *source);

bool darkroom_png_source_has_met(const darkroom_png_source *source, const char *name);

#endif
