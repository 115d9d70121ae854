/* The bytes of a PNG file on their way from a descriptor to libpng. */
#ifndef DARKROOM_PNG_SOURCE_H
#define DARKROOM_PNG_SOURCE_H

#include "darkroom_png.h"

#include <stdbool.h>

enum {
    DARKROOM_PNG_PIECE_BYTES = 64 << 10,
    DARKROOM_PNG_RAW_BYTES = 64 << 10,
};

/* Hands the chunks of a file through as they are, except that the data of consecutive IDATs is
 * joined and dealt out anew in IDATs of one piece each, the last one shorter.
 *
 * Why: after the last row libpng 1.6 calls inflate once more, with what it has of the current IDAT
 * or else with the next one, and then takes the compressed data to be complete. Where the end of it
 * is spread over more IDATs, as in files whose IDATs hold one byte each, it never sees the Adler
 * checksum and does not mind. The end of a stream, a few bytes, is spread over two pieces at most.
 *
 * Since the chunks are taken apart here, so are the checksums of the critical ones compared
 * here, and libpng is told to ignore them; those of the new IDATs are 0. */
typedef struct {
    int fd;
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

    /* Set by the reader when rows are being read: only then is damage in an IDAT reported, so
     * that it is not taken for one of the header. */
    bool reports_data;
    /* Set by the reader before the last row, with which libpng inflates all that is left: at most so
     * many bytes may be. A thousand times as much comes out of them, as fast as 500 MB/s, and nothing
     * can interrupt it. */
    bool is_last_row;
    size_t last_row_left;
    /* Set by the reader where libpng makes rows, and added to before each of them: so many bytes of
     * compressed data may still be handed out. A stream of empty blocks keeps the processor busy for as
     * long as it lasts, and libpng asks nobody before a row is full. */
    bool is_counted;
    int64_t credit;
    /* Set by the reader after the last row: there must be no more data. */
    bool is_after_rows;

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

/* Copies up to `count` of the file's first bytes, before any is read. */
darkroom_png_result darkroom_png_source_prefix(
    darkroom_png_source *source, uint8_t *bytes, size_t count, size_t *copied);

/* The next `count` bytes for libpng; on failure `message` says what is wrong. */
darkroom_png_result darkroom_png_source_read(
    darkroom_png_source *source, uint8_t *bytes, size_t count);

/* The next piece of the IDATs' data for one who does without libpng, from when libpng has read the
 * first one's header. `count` is 0 after the last; then libpng may go on with what follows them. The
 * bytes stay until the next call. */
darkroom_png_result darkroom_png_source_data(
    darkroom_png_source *source, const uint8_t **bytes, size_t *count);

/* Whether the file goes on. Only of what has been read already where reading could wait, as of a pipe. */
bool darkroom_png_source_has_more(darkroom_png_source *source);

bool darkroom_png_source_has_met(const darkroom_png_source *source, const char *name);

#endif
