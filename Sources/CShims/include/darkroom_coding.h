/* Undoes the content codings gzip (RFC 1952) and deflate (RFC 1950) of HTTP, in pieces. */
#ifndef DARKROOM_CODING_H
#define DARKROOM_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct darkroom_coding darkroom_coding;

typedef enum {
    DARKROOM_CODING_MORE = 0, /* all input is taken, and all that it gives has been written */
    DARKROOM_CODING_ROOM,     /* there is no room left; there may be more to come */
    DARKROOM_CODING_SURPLUS,  /* the coded data have ended, and there is something else behind them */
    DARKROOM_CODING_DAMAGED,
    DARKROOM_CODING_MEMORY,   /* there is none */
} darkroom_coding_result;

/*
 * With `is_gzip`, the data are gzip files in sequence, as RFC 1952, 2.2 allows it. Otherwise they are one zlib stream,
 * or deflate data without a header, as some servers send them. NULL if there is no memory.
 */
darkroom_coding *darkroom_coding_new(bool is_gzip);
void darkroom_coding_free(darkroom_coding *coding);

/*
 * Takes up to `count` bytes of `in` and sets `taken` to their number. Writes up to `room` bytes to `out`, at least one
 * is necessary, and sets `made` to their number. After SURPLUS, DAMAGED and MEMORY it must not be called again.
 */
darkroom_coding_result darkroom_coding_run(
    darkroom_coding *coding, const uint8_t *in, size_t count, size_t *taken, uint8_t *out,
    size_t room, size_t *made);

/* Whether the data may end here: nothing has been taken, or the last file or stream is complete. */
bool darkroom_coding_is_whole(const darkroom_coding *coding);

#endif
