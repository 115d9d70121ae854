/* Compressed data that are kept while they are read, so that they can be written again as they are. */
#ifndef DARKROOM_PNG_KEPT_H
#define DARKROOM_PNG_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thread may add while another one takes. */
typedef struct {
    bool is_on; /* does not change while there are two threads */
    bool has_begun;
    pthread_mutex_t lock;
    uint8_t *bytes;
    size_t count, room;
} darkroom_png_kept;

void darkroom_png_kept_start(darkroom_png_kept *kept);
void darkroom_png_kept_free(darkroom_png_kept *kept);

/* Whether a zlib stream that begins like this was compressed with some effort. */
bool darkroom_png_is_compressed_well(const uint8_t *bytes, size_t count);

/* Adds the next bytes of a zlib stream. Returns false if there is no memory. */
bool darkroom_png_kept_add(darkroom_png_kept *kept, const uint8_t *bytes, size_t count);

/* Moves the first `count` bytes to `to`; 0 if there are fewer, or with `is_end` those that there are. Returns
 * their number. */
size_t darkroom_png_kept_take(darkroom_png_kept *kept, uint8_t *to, size_t count, bool is_end);

#endif
