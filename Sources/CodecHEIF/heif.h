#ifndef DARKROOM_CODEC_HEIF_H
#define DARKROOM_CODEC_HEIF_H

#include <libheif/heif.h>

#include "darkroom_codec.h"

void heif_codec_decode(darkroom_codec_call *call);
void heif_codec_encode(darkroom_codec_call *call);

/* Fails if this is an error. */
void heif_codec_check(darkroom_codec_call *call, struct heif_error error);

/* A picture that libheif has decoded, of the size that its header says: rows of RGB. */
typedef struct {
    uint8_t *rows;
    /* The distance of two rows in bytes. */
    size_t stride;
    /* Bits of a sample: 8 in one byte, or 9 to 16 in two. */
    unsigned bits;
} heif_rgb;

/* Ends the call if libde265 has concealed damage. */
struct heif_error heif_codec_decode_image(darkroom_codec_call *call, struct heif_image_handle *handle,
    const darkroom_codec_header *header, struct heif_image **image);
heif_rgb heif_codec_rgb(darkroom_codec_call *call, const darkroom_codec_header *header, struct heif_image *image);

/* How brightness and colour of a file become RGB: the numbers of ISO/IEC 23091-2. */
typedef struct {
    unsigned matrix;
    bool is_full;
} heif_matrix;

bool heif_codec_knows(heif_matrix matrix);

/* What is known of a picture before it is decoded. */
typedef struct {
    bool is_known;
    heif_matrix matrix;
    /* Whether dav1d decodes the whole picture at once, which is then shown as it is. */
    bool has_planes;
} heif_coding;

/* Says the rows of a picture without alpha and with at most 12 bits, with its sides divided by 2, 4 or 8. `header` is of the
 * whole picture. */
void heif_codec_say_reduced(darkroom_codec_call *call, struct heif_image_handle *handle, const darkroom_codec_header *header,
    heif_coding coding, uint32_t divisor);

/* The planes of a picture as dav1d has decoded it: brightness, blue, red. */
typedef struct {
    const uint8_t *samples[3];
    size_t strides[3];
    uint32_t width, height;
    /* 8 in one byte, or 10 or 12 in two. */
    unsigned bits;
    /* For how many pixels of each direction a sample of colour is; 0 if there is no colour. */
    uint32_t across, down;
    /* As the data say; what the container says counts more. */
    heif_matrix matrix;
} heif_planes;

/* Looks for dav1d. In the waiting process. */
void heif_codec_find_dav1d(void);
/* Whether a picture's planes can be kept. */
bool heif_codec_keeps_planes(void);
/* The next picture is kept if it has this size and a known matrix, and libheif does not get it: it is told of an error.
 * 0 x 0 keeps none. */
void heif_codec_keep_planes(uint32_t width, uint32_t height, heif_coding coding);
/* What was kept; NULL if nothing was. */
const heif_planes *heif_codec_kept_planes(void);

/* What is encoded next. */
typedef struct {
    unsigned bits;
    /* 420, 422 or 444. */
    unsigned chroma;
    /* Whether libaom may look for parts that repeat, for which the daemon then has reserved memory. */
    bool searches_repetition;
} heif_expectation;

void heif_codec_expect(heif_expectation expected);

/* Before and after an HEVC picture is decoded: what libde265 warned of fails the picture. */
void heif_codec_begin_hevc(void);
void heif_codec_check_hevc(darkroom_codec_call *call);

/* The library's function of a name that the program has, too; NULL if it is not loaded. */
void *heif_codec_function(const char *name, const char *library);

#endif
