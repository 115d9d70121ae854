#ifndef DARKROOM_CODEC_TIFF_PICTURE_H
#define DARKROOM_CODEC_TIFF_PICTURE_H

#include "tiff.h"

/* The picture as its tags say. */
typedef struct {
    darkroom_codec_call *call;
    const tiff_file *file;
    TIFF *tiff;
    uint32_t width, height;
    uint16_t bits, samples, photometric, planar, compression;
    /* Samples of a pixel that are colours, and the kind of the next one. */
    uint16_t colours, alpha;
    uint16_t *palette[3];
    /* What a value of the palette is divided by. */
    uint16_t palette_divisor;
    /* Whether libtiff converts the pixels. */
    bool is_converted;
    darkroom_codec_header header;
} picture;

enum { NO_ALPHA = 0xffff };

/* Ends with libtiff's last words: damage.c. */
_Noreturn void picture_fail(const picture *picture);

/* The place of a page and the number of pages: chain.c. False if there is no such page, or if something is unusual about
 * the chain of directories; libtiff then says what. */
bool picture_find_in_chain(const picture *picture, uint32_t wanted, uint64_t *place, uint32_t *pages);
/* Before the first rows. What libtiff has said of the tags does not count for the rows. */
void picture_begin_rows(void);
/* After libtiff has read `count` rows from `y` on, or has said that it cannot. Ends if libtiff has reported damage; a last
 * row that is not whole only makes a warning. */
void picture_check(const picture *picture, bool is_read, uint32_t y, uint32_t count);

/* Goes to the wanted page and reads its tags: tags.c. Fills the picture and its header, except for the memory. */
void picture_read_tags(picture *picture);
/* Metadata; it lives as long as the page is open. */
codec_metadata picture_metadata(const picture *picture);
/* Adds Exif and IPTC of the page. */
void picture_read_exif(const picture *picture, codec_metadata *metadata);

/* Says one row: samples.c. Plane `p` begins at `planes[p]`; an interleaved picture has one. `row` has room for a row of the
 * result. */
void picture_say(const picture *picture, const uint8_t *const *planes, uint8_t *row);

#endif
