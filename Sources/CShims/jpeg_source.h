/* The bytes of a JPEG file for libjpeg, from a descriptor, and the decoder of our own for usual pictures. */
#ifndef DARKROOM_JPEG_SOURCE_H
#define DARKROOM_JPEG_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "CDarkroomJpeg.h"
#include "darkroom_jpeg.h"
#include "jpeg_trap.h"

/* libjpeg's source manager and more. */
typedef struct {
    struct jpeg_source_mgr manager; /* first: libjpeg hands out its address */
    int fd; /* negative if `raw` has all bytes of the file */
    size_t whole_bytes; /* their number then */
    int system_error;
    size_t raw_count;     /* bytes of the file in `raw` */
    uint64_t total_bytes; /* that have been read */
    /* The end of the file becomes an end-of-image marker: libjpeg knows whether data are missing. */
    bool may_end;
    /* What stands before markers: see darkroom_jpeg_file_stuffing. */
    const uint8_t *surveyed; /* up to here in `raw` */
    size_t open_run;         /* bytes 00 and FF before that */
    uint8_t last;            /* the byte before that */
    uint64_t stuffing;
    /* A height that the file gives behind the pixels, and the place of the one in its header; 0 without one. */
    uint64_t height_place;
    uint16_t height;
    off_t scan_bytes;  /* where `raw` is from, with the first byte of the data that a scan reads */
    uint64_t scan_total; /* what had been read before `scan_bytes` */
    size_t scan_place; /* of that byte in `raw` */
    uint8_t raw[DARKROOM_JPEG_RAW_BYTES];
} darkroom_jpeg_file;

/* Sets up `file`, which is all zeros. libjpeg's error manager must be a darkroom_jpeg_trap. */
void darkroom_jpeg_file_start(darkroom_jpeg_file *file, int fd);

/* Before any byte is read: gives the source all bytes of the file, so that it reads no descriptor. False if
 * they do not fit into `raw`. */
bool darkroom_jpeg_file_fill(darkroom_jpeg_file *file, const uint8_t *bytes, size_t count);

/* Whether there are bytes that nobody has read. */
bool darkroom_jpeg_file_has_more(darkroom_jpeg_file *file);

/* The next byte, for what follows the last row. Returns false at the end of the file. */
bool darkroom_jpeg_file_byte(darkroom_jpeg_file *file, uint8_t *byte);

/* Begins to count what stands before markers, from the next byte on. */
void darkroom_jpeg_file_survey(darkroom_jpeg_file *file);

/* How many bytes 00 and FF have stood directly before markers since the last call, or since the beginning of the
 * scan. Some encoders fill up with them. */
uint64_t darkroom_jpeg_file_stuffing(darkroom_jpeg_file *file);

/* Data of pixels are as good as random: so many bytes of text are none. */
enum { DARKROOM_JPEG_LEAST_TEXT = 8 };

/* Whether a byte may be one of a text, or fills up. */
static inline bool darkroom_jpeg_is_text(uint8_t byte)
{
    return (byte >= 0x20 && byte < 0x7f) || byte == 0 || byte == 0xff || byte == '\n' || byte == '\r'
        || byte == '\t';
}

/* Whether the last `count` bytes are text, as far as they are still in memory. */
bool darkroom_jpeg_file_is_text(const darkroom_jpeg_file *file, uint64_t count);

/* Looks for a height that is given behind the first scan (DNL), and goes back to the first byte of the file. The
 * height is in the header when that is read again. Returns false if there is none, or the file cannot be read
 * twice. */
bool darkroom_jpeg_file_find_height(darkroom_jpeg_file *file);

/* Sets the height in the header, if `bytes` have its place. `first` is the place of the first of them in the file. */
void darkroom_jpeg_file_set_height(
    darkroom_jpeg_file *file, uint8_t *bytes, uint64_t first, size_t count);

/* Begins to decode the pixels with our own code, at one size or several. libjpeg has read the header and nothing
 * else. NULL if the picture is not a usual one, or the file cannot be read twice; then libjpeg can go on. */
darkroom_jpeg_scan *darkroom_jpeg_file_scan(
    darkroom_jpeg_file *file, const struct jpeg_decompress_struct *info, const unsigned *divisors,
    unsigned count);

/* Returns to the state before the scan, with the same bytes in `raw`: how many bytes libjpeg counts as
 * superfluous in a message depends on how far it reads ahead, and this on how many it has at once. Returns
 * false, and sets `system_error`, if the file cannot be read. */
bool darkroom_jpeg_file_rewind(darkroom_jpeg_file *file);

#endif
