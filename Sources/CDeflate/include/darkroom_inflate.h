/* Decompresses a zlib stream (RFC 1950) in pieces and compares its checksum. */
#ifndef DARKROOM_INFLATE_H
#define DARKROOM_INFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct darkroom_inflate darkroom_inflate;

typedef enum {
    DARKROOM_INFLATE_MORE = 0, /* all input is taken, and all that it gives has been written */
    DARKROOM_INFLATE_ROOM,     /* there is no room left; there may be more to come */
    DARKROOM_INFLATE_END,      /* the stream has ended, its checksum is right */
    DARKROOM_INFLATE_SURPLUS,  /* the same, and there is input behind it */
    DARKROOM_INFLATE_HEADER,   /* not a zlib stream of deflate with at most 32 KiB of window */
    DARKROOM_INFLATE_DAMAGED,  /* no deflate data */
    DARKROOM_INFLATE_CHECKSUM, /* the Adler-32 of what has been decompressed is wrong */
} darkroom_inflate_result;

/* NULL if there is no memory. */
darkroom_inflate *darkroom_inflate_new(void);
void darkroom_inflate_free(darkroom_inflate *inflate);

/*
 * Decompresses the next part of the stream.
 *
 * Takes up to `count` bytes of `in` and sets `taken` to their number. Writes up to `room` bytes to `out` and
 * sets `made` to their number; this includes the bytes before damage. The last 32 KiB of the bytes made
 * before must be directly before `out`. For input that ends early, a call with `count` 0 returns MORE. After
 * an end or an error it must not be called again.
 *
 * It agrees with zlib about what is damaged: incomplete codes are, except a single code of one bit.
 */
darkroom_inflate_result darkroom_inflate_run(
    darkroom_inflate *inflate, const uint8_t *in, size_t count, size_t *taken, uint8_t *out,
    size_t room, size_t *made);

#endif
