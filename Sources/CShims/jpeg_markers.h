/* The markers of a JPEG (ITU-T T.81, table B.1) that libjpeg's header does not name. */
#ifndef DARKROOM_JPEG_MARKERS_H
#define DARKROOM_JPEG_MARKERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MARKER_FIRST_FRAME = 0xc0,
    MARKER_DHT = 0xc4,
    MARKER_JPG = 0xc8,
    MARKER_DAC = 0xcc,
    MARKER_LAST_FRAME = 0xcf,
    MARKER_FIRST_RESTART = 0xd0,
    MARKER_LAST_RESTART = 0xd7,
    MARKER_SOI = 0xd8,
    MARKER_SOS = 0xda,
    MARKER_DNL = 0xdc,
};

/* The header of a frame: SOF0 to SOF15. */
static inline bool darkroom_jpeg_is_frame(uint8_t marker)
{
    return marker >= MARKER_FIRST_FRAME && marker <= MARKER_LAST_FRAME && marker != MARKER_DHT
        && marker != MARKER_JPG && marker != MARKER_DAC;
}

static inline bool darkroom_jpeg_is_restart(uint8_t marker)
{
    return marker >= MARKER_FIRST_RESTART && marker <= MARKER_LAST_RESTART;
}

#endif
