/* libpng with setjmp: libpng reports errors by longjmp, which must never pass a Swift frame. Every function
 * here that can fail sets its own jump and returns a result. None calls back into Swift, and libpng's types
 * are not visible outside. A reader or writer belongs to one thread at a time. */
#ifndef DARKROOM_PNG_H
#define DARKROOM_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    DARKROOM_PNG_OK = 0,
    DARKROOM_PNG_SIGNATURE, /* does not begin with PNG's eight bytes */
    DARKROOM_PNG_CRC,       /* a critical chunk's checksum is wrong */
    DARKROOM_PNG_TRUNCATED, /* the file ends too early */
    DARKROOM_PNG_ADLER,     /* the checksum of the decompressed pixels is wrong */
    DARKROOM_PNG_HEADER,    /* IHDR, or PLTE where it is needed, is missing or wrong */
    DARKROOM_PNG_DATA,      /* the compressed pixels are broken, too many or too few */
    DARKROOM_PNG_PALETTE,   /* a pixel has an index that is not in the palette */
    DARKROOM_PNG_INVALID,   /* anything else that libpng refuses */
    DARKROOM_PNG_LIMIT,     /* libpng asked for more memory at once than it may have */
    DARKROOM_PNG_IO,        /* read(2) failed, see darkroom_png_reader_errno */
    DARKROOM_PNG_MEMORY,    /* malloc failed */
    DARKROOM_PNG_MISUSE,    /* called in the wrong order, or for more rows than there are */
} darkroom_png_result;

/* A picture's header, as in the file. */
typedef struct {
    uint32_t width, height;
    /* PNG's number: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha. */
    uint8_t color_type;
    uint8_t bit_depth;
    uint8_t interlaced;
    /* The returned rows: low depths are scaled to 8 bits, palettes and tRNS are expanded. */
    uint8_t channels;
    uint8_t depth;
} darkroom_png_header;

/* Chunks that define the meaning of a picture's values. Those not in `present` must be ignored. */
typedef struct {
    uint32_t present;        /* DARKROOM_PNG_HAS_… */
    int32_t rendering_intent; /* sRGB: 0 to 3 */
    uint32_t gamma;          /* gAMA: times 100,000 */
    int32_t chromaticities[8]; /* cHRM: x and y of white, red, green, blue, times 100,000 */
    uint32_t pixels_x, pixels_y; /* pHYs: pixels per unit */
    uint8_t unit;            /* pHYs: 1 metre, 0 unknown */
    uint8_t code_points[4];  /* cICP: primaries, transfer, matrix, range */
    const char *profile_name; /* iCCP; lives as long as the reader */
    const uint8_t *profile;
    uint32_t profile_length;
} darkroom_png_colour;

enum {
    DARKROOM_PNG_HAS_SRGB = 1,
    DARKROOM_PNG_HAS_GAMA = 2,
    DARKROOM_PNG_HAS_CHRM = 4,
    DARKROOM_PNG_HAS_PHYS = 8,
    DARKROOM_PNG_HAS_CICP = 16,
    DARKROOM_PNG_HAS_ICCP = 32,
};

/* The name of a profile in iCCP that has no name of its own. */
#define DARKROOM_PNG_PROFILE_NAME "ICC profile"

/* Whether a gray or coloured PNG may have this colour profile. DARKROOM_PNG_OK: the reader accepts it, and
 * the writer writes it. DARKROOM_PNG_INVALID: both drop it. `words` is libpng's first remark, which it may
 * also make for an accepted profile; "" without one. */
enum { DARKROOM_PNG_PROFILE_WORDS = 256 };
darkroom_png_result darkroom_png_judge_profile(
    const uint8_t *profile, size_t length, int is_gray, char words[DARKROOM_PNG_PROFILE_WORDS]);

/* ---- Reading ---- */

typedef struct darkroom_png_reader darkroom_png_reader;

/* How many bytes of a file a reader reads at once. */
enum { DARKROOM_PNG_RAW_BYTES = 64 << 10 };

/* Creates a reader of the bytes that follow in `fd`, which the caller keeps open and closes. NULL if there is
 * no memory. `largest_allocation` limits each single request of libpng: in version 1.6.39, a file of 99 bytes
 * could request 2 GB. `largest_ancillary` limits an ancillary chunk, compressed and decompressed. Larger ones
 * are dropped with a warning. */
darkroom_png_reader *darkroom_png_reader_new(
    int fd, size_t largest_allocation, size_t largest_ancillary);
void darkroom_png_reader_free(darkroom_png_reader *reader);

/* Before any other call: gives the reader all bytes of the file. It copies them and reads no descriptor, so
 * `fd` may be -1. False if they are more than DARKROOM_PNG_RAW_BYTES. */
bool darkroom_png_reader_fill(darkroom_png_reader *reader, const uint8_t *bytes, size_t count);

/* Before any other call: has a picture with damaged pixels be read as far as it goes. The rows that are missing are
 * gray, and a warning names the first damaged row. */
void darkroom_png_reader_keep_damaged(darkroom_png_reader *reader);

/* Copies up to `count` of the first bytes without consuming them, before anything else is read. There are
 * fewer only if the file is shorter. */
darkroom_png_result darkroom_png_reader_prefix(
    darkroom_png_reader *reader, uint8_t *bytes, size_t count, size_t *copied);

/* Reads everything before the first IDAT. No allocation depends on the picture's size. */
darkroom_png_result darkroom_png_reader_open(
    darkroom_png_reader *reader, darkroom_png_header *header);

/* The decoder of the pixels. libpng always reads everything else. */
typedef enum {
    /* Own code, two to four times as fast as libpng, if the picture has no single transparent colour; else
     * libpng. */
    DARKROOM_PNG_AUTOMATIC = 0,
    /* libpng, the reference for the own code. */
    DARKROOM_PNG_REFERENCE = 1,
} darkroom_png_decoder;

/* Prepares for rows: 8 bits, or 16 in the machine's byte order. `row_bytes` is a row's length. From here to
 * the last row, what libpng calls benign is judged by the table of remarks. */
darkroom_png_result darkroom_png_reader_start(
    darkroom_png_reader *reader, darkroom_png_decoder decoder, size_t *row_bytes);

/* The palette: red, green, blue and alpha of each index, between darkroom_png_reader_start and the first row. NULL at any
 * other time, and if the picture has no palette, is interlaced or is decoded by libpng. It lives as long as the reader. */
const uint8_t (*darkroom_png_reader_palette(
    const darkroom_png_reader *reader, unsigned *count))[4];

/* Has the rows be the indices of this palette, of 8 bits each, instead of colours. There must be one. */
void darkroom_png_reader_keep_indices(darkroom_png_reader *reader);

/* After darkroom_png_reader_keep_indices, before the first row: has the compressed data be kept as they are read, so that
 * the same indices can be written without compressing them again. Returns whether they are; not if they were compressed
 * with little effort. */
bool darkroom_png_reader_keep_data(darkroom_png_reader *reader);

/* Moves the next `count` bytes of the kept data to `bytes`, or none if so many have not been read yet; after the last row,
 * with `is_end`, the rest. Returns their number. If all rows are good, the data are a zlib stream, whose header declares the
 * largest window. One thread may take data while another one fetches lines. */
size_t darkroom_png_reader_take_data(
    darkroom_png_reader *reader, uint8_t *bytes, size_t count, bool is_end);

/* After the last row: whether the compressed data, and so those that were kept, have further rows. */
bool darkroom_png_reader_has_extra_rows(const darkroom_png_reader *reader);

/* Reads the next `count` rows into `rows`, one after another. An interlaced picture's rows are requested
 * seven times, each time all of them and into the same memory: each pass adds its pixels. With the last row,
 * the compressed data must have ended, including its checksum, or have further rows. */
darkroom_png_result darkroom_png_reader_rows(
    darkroom_png_reader *reader, uint8_t *rows, uint32_t count);

/* Rows can also be read in two steps: what the first step passes to the second, in addition to the lines. */
enum { DARKROOM_PNG_WORDS = 96 };
typedef struct {
    uint32_t count;             /* the good lines before the first error */
    darkroom_png_result result; /* that error */
    char message[DARKROOM_PNG_WORDS];
} darkroom_png_fetched;

/* The length of a line, which is a row as the decompressor returns it; 0 if this picture cannot be read in
 * two steps. Pictures that libpng decodes cannot. */
size_t darkroom_png_reader_line_bytes(const darkroom_png_reader *reader);

/* The first step fetches the next `count` lines. The second makes rows from them. A thread may fetch while
 * another makes rows from earlier lines. Each step belongs to one thread at a time, and follows the picture's
 * order. The second step reports errors, as darkroom_png_reader_rows would, and makes `wanted` rows, for which lines
 * were to be fetched. After an error, nothing more is fetched. When all fetched lines have become rows,
 * darkroom_png_reader_rows may read the next ones. */
void darkroom_png_reader_fetch(
    darkroom_png_reader *reader, uint8_t *lines, uint32_t count, darkroom_png_fetched *fetched);
darkroom_png_result darkroom_png_reader_undo(
    darkroom_png_reader *reader, const uint8_t *lines, const darkroom_png_fetched *fetched,
    uint8_t *rows, uint32_t wanted);

/* How many rows the last call of darkroom_png_reader_rows or _undo has read, if it failed. */
uint32_t darkroom_png_reader_last_count(const darkroom_png_reader *reader);

/* Makes rows gray and opaque, as they are handed out. */
void darkroom_png_fill_gray(const darkroom_png_header *header, uint8_t *rows, uint32_t count);

/* Reads the data after the pixels, up to IEND. */
darkroom_png_result darkroom_png_reader_finish(darkroom_png_reader *reader);

/* The error message, with a mark if it is libpng's; "" without an error. It lives as long as the reader. */
const char *darkroom_png_reader_message(const darkroom_png_reader *reader);
int darkroom_png_reader_errno(const darkroom_png_reader *reader);

/* The colour chunks, after darkroom_png_reader_open. */
void darkroom_png_reader_colour(darkroom_png_reader *reader, darkroom_png_colour *colour);

/* The data of eXIf, a TIFF structure that has not been checked, if it is before the pixels; else NULL. It
 * lives as long as the reader. */
const uint8_t *darkroom_png_reader_exif(darkroom_png_reader *reader, size_t *count);

/* Whether there is a valid tRNS. */
int darkroom_png_reader_has_transparency(darkroom_png_reader *reader);

/* Remarks of libpng that are not errors: the first few different ones, NULL after the last. */
const char *darkroom_png_reader_warning(const darkroom_png_reader *reader, size_t index);

/* The names of the different chunks so far, in order of appearance; NULL after the last. At most
 * DARKROOM_PNG_CHUNK_NAMES of them are recorded. */
enum { DARKROOM_PNG_CHUNK_NAMES = 48 };
const char *darkroom_png_reader_chunk(const darkroom_png_reader *reader, size_t index);

/* ---- Writing ----
 *
 * A writer writes everything around the pixels. darkroom_strip_encode makes the IDAT chunks of the pixels. The
 * caller writes them between the output of darkroom_png_writer_start and that of darkroom_png_writer_finish. */

typedef struct darkroom_png_writer darkroom_png_writer;

/* NULL if there is no memory. */
darkroom_png_writer *darkroom_png_writer_new(void);
void darkroom_png_writer_free(darkroom_png_writer *writer);

/* Has the picture be one with a palette, whose indices have `bits` bits: 1, 2, 4 or 8. With `has_alpha` there is a tRNS.
 * To be called before the start. */
darkroom_png_result darkroom_png_writer_palette(
    darkroom_png_writer *writer, const uint8_t (*colours)[4], unsigned count, int bits,
    bool has_alpha);

/* Packs indices of 8 bits into `bits` bits each, the first in a byte's upper bits, as in the file. */
void darkroom_png_pack_indices(const uint8_t *indices, size_t width, int bits, uint8_t *out);

/* Writes everything before the pixels, not interlaced. `depth` is 8 or 16, `channels` 1 to 4. A colour chunk
 * that libpng refuses is dropped; `written` is set to the accepted ones. */
darkroom_png_result darkroom_png_writer_start(
    darkroom_png_writer *writer, uint32_t width, uint32_t height, int channels, int depth,
    const darkroom_png_colour *colour, uint32_t *written);

/* Writes eXIf. It must be called before the pixels. */
darkroom_png_result darkroom_png_writer_exif(
    darkroom_png_writer *writer, const uint8_t *tiff, size_t count);

/* Writes an iTXt with XMP, not compressed. It must be called before the pixels. */
darkroom_png_result darkroom_png_writer_xmp(
    darkroom_png_writer *writer, const uint8_t *packet, size_t count);

/* Writes the data after the pixels: IEND. */
darkroom_png_result darkroom_png_writer_finish(darkroom_png_writer *writer);

/* The output of the calls since the last darkroom_png_writer_drain. */
const uint8_t *darkroom_png_writer_output(const darkroom_png_writer *writer, size_t *count);
void darkroom_png_writer_drain(darkroom_png_writer *writer);

const char *darkroom_png_writer_message(const darkroom_png_writer *writer);

#endif
