/* A zlib stream (RFC 1950) decompressed piece by piece, its checksum compared. */
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

/* NULL where there is no memory. */
darkroom_inflate *darkroom_inflate_new(void);
void darkroom_inflate_free(darkroom_inflate *inflate);

/*
 * Decompresses what follows of the stream.
 *
 * Takes up to `count` bytes of `in` and says in `taken` how many; writes up to `room` bytes to
 * `out` and says in `made` how many, those before damage too. What has been made before, its last
 * 32 KiB, must lie directly before `out`. Input that ends early is seen by a call with `count` 0
 * that answers MORE. After an end or an error it is not to be called again.
 *
 * What is damaged and what is not agrees with zlib: codes that are not complete are damaged, but for
 * a single one of one bit.
 */
darkroom_inflate_result darkroom_inflate_run(
    darkroom_inflate *inflate, const uint8_t *in, size_t count, size_t *taken, uint8_t *out,
    size_t room, size_t *made);

#endif
