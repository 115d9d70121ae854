/* The compressed data: a part of one segment at a time, without the zeros that are stuffed behind bytes FF.
 * So whoever reads bits need not look at them. A segment ends at a marker. */
#ifndef DARKROOM_JPEG_WINDOW_H
#define DARKROOM_JPEG_WINDOW_H

#include "CDarkroomJpeg.h"

enum {
    DARKROOM_WINDOW_BYTES = 16 << 10,
    /* Zeros behind the end of a segment: more than the longest block of coefficients takes, which is read as a
     * whole before anybody looks whether its bits are there. */
    DARKROOM_WINDOW_PADDING = 320,
};

typedef struct {
    darkroom_jpeg_source source;
    void *context;
    const uint8_t *raw; /* not yet taken from the source's last bytes */
    size_t raw_count;
    size_t count;       /* of `bytes` */
    bool is_closed;     /* the segment's last byte is in `bytes`, and `marker` is known */
    /* The data end without a marker, or there is filling before one, behind which they may end. libjpeg, which
     * reads ahead, fails long before it has used the bytes up. So everything is in doubt. */
    bool is_broken;
    uint8_t marker;     /* the byte after FF */
    uint8_t bytes[DARKROOM_WINDOW_BYTES + DARKROOM_WINDOW_PADDING];
} darkroom_jpeg_window;

void darkroom_jpeg_window_start(darkroom_jpeg_window *window, darkroom_jpeg_source source, void *context);

/* Drops the first `used` bytes, and fills the window until it is full or the segment's end. */
void darkroom_jpeg_window_fill(darkroom_jpeg_window *window, size_t used);

/* Begins the next segment, behind the marker. */
void darkroom_jpeg_window_next(darkroom_jpeg_window *window);

/* Takes the next byte behind the marker of a closed window. Returns false at the end of the file. */
bool darkroom_jpeg_window_take(darkroom_jpeg_window *window, uint8_t *byte);

/* Whether the source has bytes after those that have been taken. */
bool darkroom_jpeg_window_has_surplus(darkroom_jpeg_window *window);

#endif
