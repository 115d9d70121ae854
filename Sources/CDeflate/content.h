/* What filtered rows look like, and so what pays. */
#ifndef DARKROOM_CONTENT_H
#define DARKROOM_CONTENT_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* A photograph: matches are not worth looking for. */
    DARKROOM_PHOTOGRAPHED,
    /* One whose channels depend on each other, as when it is toned with one colour: whole pixels
     * repeat. */
    DARKROOM_TONED,
    /* A drawing: much repeats itself. */
    DARKROOM_DRAWN,
} darkroom_content;

/* Tells it from a few thousand of the bytes. `stride` is a row with its filter's number, `coded` how
 * many bytes Huffman codes and runs need for all of them. */
darkroom_content darkroom_look(
    const uint8_t *bytes, size_t stride, size_t rows, int pixel_bytes, int depth, size_t coded);

#endif
