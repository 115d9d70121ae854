/* libjpeg with setjmp: libjpeg reports errors by a callback that must not return, and a jump must never pass
 * a Swift frame. Every function here that can fail sets its own jump and returns a result. None calls back
 * into Swift, and libjpeg's types are not visible outside. A reader or writer belongs to one thread at a
 * time. */
#ifndef DARKROOM_JPEG_H
#define DARKROOM_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    DARKROOM_JPEG_OK = 0,
    DARKROOM_JPEG_TRUNCATED,   /* the file ends too early */
    DARKROOM_JPEG_HEADER,      /* what comes before the pixels is missing or wrong */
    DARKROOM_JPEG_DATA,        /* the compressed pixels are broken, too many or too few */
    DARKROOM_JPEG_UNSUPPORTED, /* a kind of JPEG that is not read: 12 bits, lossless, hierarchical */
    DARKROOM_JPEG_LIMIT,       /* larger than libjpeg takes */
    DARKROOM_JPEG_IO,          /* read(2) failed, see darkroom_jpeg_reader_errno */
    DARKROOM_JPEG_MEMORY,      /* malloc failed */
    DARKROOM_JPEG_INVALID,     /* anything else that libjpeg refuses */
    DARKROOM_JPEG_UNUSUAL,     /* not for the own code at several sizes; no error */
    DARKROOM_JPEG_MISUSE,      /* called in the wrong order, or for more rows than there are */
} darkroom_jpeg_result;

/* JFIF's density: pixels per inch or per centimetre. */
typedef struct {
    uint8_t unit; /* 0 none: only the ratio means something; 1 inch; 2 centimetre */
    uint16_t x, y;
} darkroom_jpeg_density;

/* A picture's header, as in the file. */
typedef struct {
    uint32_t width, height;
    uint8_t channels;   /* as rows are handed out: 1 gray, 3 RGB, 4 CMYK: how much ink there is, 0 none */
    uint8_t is_whole;   /* read in several passes: progressive, or each component by itself */
    uint8_t has_density; /* there is a JFIF segment */
    darkroom_jpeg_density density;
    uint8_t is_cmyk;      /* stored as CMYK or YCCK */
    uint64_t whole_bytes; /* what reading in several passes takes in memory */
} darkroom_jpeg_header;

/* ---- Reading ---- */

typedef struct darkroom_jpeg_reader darkroom_jpeg_reader;

/* How many bytes of a file a reader reads at once. */
enum { DARKROOM_JPEG_RAW_BYTES = 64 << 10 };

/* Creates a reader of the bytes that follow in `fd`, which the caller keeps open and closes. NULL if there is
 * no memory. A colour profile of more than `largest_profile` bytes is dropped with a warning. */
darkroom_jpeg_reader *darkroom_jpeg_reader_new(int fd, size_t largest_profile);
void darkroom_jpeg_reader_free(darkroom_jpeg_reader *reader);

/* Before any other call: gives the reader all bytes of the file. It copies them and reads no descriptor, so
 * `fd` may be -1. False if they are more than DARKROOM_JPEG_RAW_BYTES. */
bool darkroom_jpeg_reader_fill(darkroom_jpeg_reader *reader, const uint8_t *bytes, size_t count);

/* Before any other call: has a damaged picture be read as far as it goes. What is missing is gray, or as libjpeg
 * conceals it, and a warning names the first damaged row. */
void darkroom_jpeg_reader_keep_damaged(darkroom_jpeg_reader *reader);

/* Reads everything before the first scan. No allocation depends on the picture's size. */
darkroom_jpeg_result darkroom_jpeg_reader_open(
    darkroom_jpeg_reader *reader, darkroom_jpeg_header *header);

/* The decoder of the pixels. libjpeg always reads everything before them. */
typedef enum {
    /* Own code, about twice as fast as libjpeg-turbo and with the same pixels, if the picture is a usual one;
     * else libjpeg. The file must be seekable. If it is damaged, libjpeg takes over, and finds the error. */
    DARKROOM_JPEG_AUTOMATIC = 0,
    /* libjpeg, the reference for the own code. */
    DARKROOM_JPEG_REFERENCE = 1,
} darkroom_jpeg_decoder;

/* Prepares for rows. `divisor` is 1, or 2, 4 or 8 to reduce each side by this factor while decoding, rounded
 * up. `width` and `height` are set to the result. */
darkroom_jpeg_result darkroom_jpeg_reader_start(
    darkroom_jpeg_reader *reader, darkroom_jpeg_decoder decoder, unsigned divisor, uint32_t *width,
    uint32_t *height);

enum { DARKROOM_JPEG_MOST_VIEWS = 4 };

/* Instead of darkroom_jpeg_reader_start: prepares for the rows at several sizes at once, which our own code
 * reads. Sets the size of each, and the most rows that a step gives. Returns DARKROOM_JPEG_UNUSUAL if only
 * libjpeg reads the picture; then the picture can be started at one size. */
darkroom_jpeg_result darkroom_jpeg_reader_start_views(
    darkroom_jpeg_reader *reader, const unsigned *divisors, unsigned count, uint32_t *widths,
    uint32_t *heights, uint32_t *step_rows);

/* Reads the next rows of each size into its `rows`, and sets their numbers: all are zero after the last ones.
 * Returns DARKROOM_JPEG_UNUSUAL if the data are in doubt. Then another reader must read the picture from its
 * beginning, at one size. */
darkroom_jpeg_result darkroom_jpeg_reader_step(
    darkroom_jpeg_reader *reader, uint8_t *const *rows, uint32_t *counts);

/* Reads a part of a picture with several passes. It must be called until `is_complete` is set, before the
 * first row or step. Other pictures are complete at once. Returns DARKROOM_JPEG_UNUSUAL as
 * darkroom_jpeg_reader_step does. */
darkroom_jpeg_result darkroom_jpeg_reader_absorb(darkroom_jpeg_reader *reader, int *is_complete);

/* Reads the next `count` rows of `row_bytes` each into `rows`, one after another. */
darkroom_jpeg_result darkroom_jpeg_reader_rows(
    darkroom_jpeg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count);

/* Whether libjpeg gives the rows: 1, also after it has taken over; 0 for the own code. */
int darkroom_jpeg_reader_is_reference(const darkroom_jpeg_reader *reader);

/* How many rows the last call of darkroom_jpeg_reader_rows has read, if it failed. */
uint32_t darkroom_jpeg_reader_last_count(const darkroom_jpeg_reader *reader);

/* Reads the data after the pixels, up to the end-of-image marker, and warns of bytes after it. */
darkroom_jpeg_result darkroom_jpeg_reader_finish(darkroom_jpeg_reader *reader);

/* The error message, with a mark if it is libjpeg's; "" without an error. It lives as long as the reader. */
const char *darkroom_jpeg_reader_message(const darkroom_jpeg_reader *reader);
int darkroom_jpeg_reader_errno(const darkroom_jpeg_reader *reader);

/* Remarks that are not errors: the first few different ones, NULL after the last. */
const char *darkroom_jpeg_reader_warning(const darkroom_jpeg_reader *reader, size_t index);

/* The names of the different segments so far that contain no pixels, in order of appearance; NULL after the
 * last: JFIF, Exif, XMP, ICC, Adobe, COM, and APP0 to APP15 for others. */
const char *darkroom_jpeg_reader_segment(const darkroom_jpeg_reader *reader, size_t index);

/* The TIFF structures of the first Exif segments, in their order; NULL after the last. They live as long as the
 * reader. */
const uint8_t *darkroom_jpeg_reader_exif(
    const darkroom_jpeg_reader *reader, size_t index, size_t *count);

/* The first complete colour profile, joined from its segments; NULL if there is none. It lives as long as the
 * reader. */
const uint8_t *darkroom_jpeg_reader_profile(const darkroom_jpeg_reader *reader, size_t *count);

/* ---- Writing ---- */

typedef struct darkroom_jpeg_writer darkroom_jpeg_writer;

/* The picture to be written, and the options. */
typedef struct {
    uint32_t width, height;
    uint8_t channels; /* of the rows: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha */
    uint8_t depth;    /* of the rows: 8, or 16 in the machine's byte order */
    uint8_t quality;  /* 1 to 100, by the scale of the Independent JPEG Group; of a search the highest */
    uint8_t full_chroma; /* colour as fine as brightness (4:4:4), or half of it each way (4:2:0); not of a search */
    /* A search (darkroom_quality.h) chooses the quality if one of these is not 0: the most bytes of the file, and the
     * similarity to the picture. Colour has full resolution from DARKROOM_JPEG_FULL_CHROMA on. */
    uint64_t most_bytes;
    double similarity;
    uint8_t progressive; /* in scans from coarse to fine, with Huffman codes made for the picture */
    darkroom_jpeg_density density;
    const uint8_t *profile; /* may be NULL */
    size_t profile_length;
    const uint8_t *exif; /* a TIFF structure of at most 65527 bytes; may be NULL */
    size_t exif_length;
    const uint8_t *xmp; /* a packet of at most 65504 bytes; may be NULL */
    size_t xmp_length;
    const uint8_t *photoshop; /* the data of APP13, at most 65533 bytes; may be NULL */
    size_t photoshop_length;
} darkroom_jpeg_settings;

/* The quality from which on colour is as fine as brightness, if nothing else is said. */
enum { DARKROOM_JPEG_FULL_CHROMA = 90 };

/* The memory for a progressive picture, or a search, while it is written. Others need a few rows. */
uint64_t darkroom_jpeg_whole_bytes(const darkroom_jpeg_settings *settings);

/* NULL if there is no memory. */
darkroom_jpeg_writer *darkroom_jpeg_writer_new(void);
void darkroom_jpeg_writer_free(darkroom_jpeg_writer *writer);

/* Writes everything before the pixels. */
darkroom_jpeg_result darkroom_jpeg_writer_start(
    darkroom_jpeg_writer *writer, const darkroom_jpeg_settings *settings);

/* Writes the next `count` rows. Transparent pixels are laid over white, and 16 bits become 8, with one
 * rounding. */
darkroom_jpeg_result darkroom_jpeg_writer_rows(
    darkroom_jpeg_writer *writer, const uint8_t *rows, size_t row_bytes, uint32_t count);

/* After the last row of a search: makes a trial. It must be called until `is_complete` is set, which it is at once for
 * others. */
darkroom_jpeg_result darkroom_jpeg_writer_try(darkroom_jpeg_writer *writer, int *is_complete);

/* What a search has chosen. */
typedef struct {
    uint32_t quality;  /* 0 if each quality has too many bytes */
    double similarity; /* 0 if none was to be reached */
    uint64_t smallest; /* the bytes of the smallest trial, if bytes are limited */
} darkroom_jpeg_choice;

darkroom_jpeg_choice darkroom_jpeg_writer_choice(const darkroom_jpeg_writer *writer);

/* Writes everything after the last row. A search must have a quality. */
darkroom_jpeg_result darkroom_jpeg_writer_finish(darkroom_jpeg_writer *writer);

/* The output of the calls since the last darkroom_jpeg_writer_drain. */
const uint8_t *darkroom_jpeg_writer_output(const darkroom_jpeg_writer *writer, size_t *count);
void darkroom_jpeg_writer_drain(darkroom_jpeg_writer *writer);

const char *darkroom_jpeg_writer_message(const darkroom_jpeg_writer *writer);

#endif
