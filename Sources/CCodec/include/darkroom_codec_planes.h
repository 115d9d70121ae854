/* Averages of blocks of samples, for decoders that reduce a picture before its samples become RGB. */
#ifndef DARKROOM_CODEC_PLANES_H
#define DARKROOM_CODEC_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plane of a decoded picture, with samples of 8 bits, or of up to 12 bits in 16. */
typedef struct {
    const void *samples;
    /* The distance of two rows in bytes. */
    size_t stride;
    /* In pixels, of which each has one or three samples, as `channels` says. */
    uint32_t width, height, channels;
    bool is_wide;
    /* How many pixels of each direction become one: 1, 2, 4 or 8. */
    uint32_t across, down;
    /* Averages have so many times the values, for rounding: a power of two. They fit into 16 bits. */
    uint32_t scale;
} codec_plane;

/* The bytes that `room` of codec_average needs. */
size_t codec_average_room(const codec_plane *plane);
/* The averages of row `y` of the reduced plane, times the scale and rounded down. Blocks at the right and at the bottom may
 * have fewer pixels. */
void codec_average(const codec_plane *plane, uint32_t y, void *room, uint16_t *averages);

#endif
