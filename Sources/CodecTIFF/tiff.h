#ifndef DARKROOM_CODEC_TIFF_H
#define DARKROOM_CODEC_TIFF_H

#include <tiffio.h>

#include "darkroom_codec.h"

/* The last thing that libtiff said was wrong; "" for nothing. */
extern char tiff_words[DARKROOM_CODEC_TEXT];

/* Takes what libtiff says from now on: damage.c. */
void tiff_listen(void);

/* A source in memory, or a result whose bytes are said, as libtiff sees a file. */
typedef struct {
    darkroom_codec_call *call;
    /* NULL for a result. */
    const uint8_t *bytes;
    uint64_t count, place;
} tiff_file;

/* `mode` as of TIFFOpen(3). NULL if libtiff refuses the file. */
TIFF *tiff_open(tiff_file *file, const char *mode);

/* Before the first call of lab_convert. */
void lab_prepare(void);
/* One pixel of CIE L*a*b* with 8 or 16 bits a sample becomes sRGB of as many. With `is_signed`, a and b are signed numbers, as
 * TIFF's own kind has them; ICC's kind has an offset. */
void lab_convert(uint32_t values[3], unsigned bits, bool is_signed);

/* Writes the directories of Exif to the end of the file, and has the picture's directory refer to them. The texts of the main
 * one become tags of the picture. `exif` is a TIFF structure with little-endian numbers. */
void tiff_write_exif(TIFF *tiff, tiff_file *file, codec_blob exif);

void tiff_decode(darkroom_codec_call *call);
void tiff_encode(darkroom_codec_call *call);

#endif
