/* libpng behind setjmp: libpng reports errors by longjmp, which must never pass a Swift frame.
 * Every function here that can fail sets its own jump and returns a result; none calls back into
 * Swift, and libpng's types stay inside. A reader or writer belongs to one thread at a time. */
#ifndef DARKROOM_PNG_H
#define DARKROOM_PNG_H

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
    DARKROOM_PNG_ANIMATED,  /* an APNG */
    DARKROOM_PNG_LIMIT,     /* libpng asked for more memory at once than it may have */
    DARKROOM_PNG_IO,        /* read(2) failed, see darkroom_png_reader_errno */
    DARKROOM_PNG_MEMORY,    /* malloc failed */
    DARKROOM_PNG_MISUSE,    /* called in the wrong order, or for more rows than there are */
} darkroom_png_result;

/* A picture's header, as it is in the file. */
typedef struct {
    uint32_t width, height;
    /* PNG's number: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha. */
    uint8_t color_type;
    uint8_t bit_depth;
    uint8_t interlaced;
    /* As rows are handed out: low depths scaled to 8 bits, palettes and tRNS expanded. */
    uint8_t channels;
    uint8_t depth;
} darkroom_png_header;

/* Chunks that say what the numbers of a picture mean. Those not in `present` are to be ignored. */
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

/* What a profile is called in iCCP that has no name of its own. */
#define DARKROOM_PNG_PROFILE_NAME "ICC profile"

/* Whether a PNG that is gray or not may have this colour profile. DARKROOM_PNG_OK: the reader lets it pass,
 * and the writer writes it. DARKROOM_PNG_INVALID: both leave it out. `words` are libpng's first remark, which
 * it may also make on a profile that it takes; "" where it makes none. */
enum { DARKROOM_PNG_PROFILE_WORDS = 256 };
darkroom_png_result darkroom_png_judge_profile(
    const uint8_t *profile, size_t length, int is_gray, char words[DARKROOM_PNG_PROFILE_WORDS]);

/* ---- Reading ---- */

typedef struct darkroom_png_reader darkroom_png_reader;

/* Makes a reader of the bytes that follow in `fd`, which the caller keeps open and closes. NULL
 * where there is no memory. `largest_allocation` caps each single request of libpng's: of
 * version 1.6.39 a file of 99 bytes could ask for 2 GB. `largest_ancillary` caps an ancillary
 * chunk, compressed and decompressed; larger ones are left out with a warning. */
darkroom_png_reader *darkroom_png_reader_new(
    int fd, size_t largest_allocation, size_t largest_ancillary);
void darkroom_png_reader_free(darkroom_png_reader *reader);

/* Copies up to `count` of the first bytes without consuming them, before anything else is read.
 * Fewer only where the file is shorter. */
darkroom_png_result darkroom_png_reader_prefix(
    darkroom_png_reader *reader, uint8_t *bytes, size_t count, size_t *copied);

/* Reads everything up to the first IDAT. Allocates nothing that depends on the picture's size. */
darkroom_png_result darkroom_png_reader_open(
    darkroom_png_reader *reader, darkroom_png_header *header);

/* Who decodes the pixels. All else is always read by libpng. */
typedef enum {
    /* Code of our own, two to four times as fast as libpng, where the picture is not interlaced and
     * has no single transparent colour; else libpng. */
    DARKROOM_PNG_AUTOMATIC = 0,
    /* libpng, with which the code of our own is compared. */
    DARKROOM_PNG_REFERENCE = 1,
} darkroom_png_decoder;

/* Prepares for rows: 8 bits, or 16 in the machine's byte order. `row_bytes` is a row's length. From
 * here to the last row all that libpng calls benign is an error. */
darkroom_png_result darkroom_png_reader_start(
    darkroom_png_reader *reader, darkroom_png_decoder decoder, size_t *row_bytes);

/* Reads the next `count` rows into `rows`, one after another. An interlaced picture's rows are
 * asked for seven times, all of them each time, into the same memory: each pass adds its pixels.
 * With the last row the compressed data must have ended, its checksum included. */
darkroom_png_result darkroom_png_reader_rows(
    darkroom_png_reader *reader, uint8_t *rows, uint32_t count);

/* What reading the same in two steps hands from the first to the second, with the lines. */
enum { DARKROOM_PNG_WORDS = 96 };
typedef struct {
    uint32_t count;                    /* lines that are good, and the last before what is wrong */
    darkroom_png_result result;        /* what is wrong behind them */
    char message[DARKROOM_PNG_WORDS];
} darkroom_png_fetched;

/* The length of a line, which is a row as it comes out of the decompressor; 0 where this picture cannot
 * be read in two steps. Those that libpng decodes cannot. */
size_t darkroom_png_reader_line_bytes(const darkroom_png_reader *reader);

/* The first step: the next `count` lines. The second: rows of them. A thread may fetch while another
 * makes rows of what has been fetched before; each step is one thread's at a time, and the picture's
 * order. What is wrong is told by the second, where darkroom_png_reader_rows would tell it. After an error
 * nothing more is to be fetched. Between bands, when all that has been fetched is rows, the steps and
 * darkroom_png_reader_rows may take turns. */
void darkroom_png_reader_fetch(
    darkroom_png_reader *reader, uint8_t *lines, uint32_t count, darkroom_png_fetched *fetched);
darkroom_png_result darkroom_png_reader_undo(
    darkroom_png_reader *reader, const uint8_t *lines, const darkroom_png_fetched *fetched,
    uint8_t *rows);

/* How many rows the last call of darkroom_png_reader_rows or _undo has read, where it failed. */
uint32_t darkroom_png_reader_last_count(const darkroom_png_reader *reader);

/* Reads what follows the pixels, to IEND. */
darkroom_png_result darkroom_png_reader_finish(darkroom_png_reader *reader);

/* What went wrong, libpng's words marked as such; "" where nothing did. Lives as long as the
 * reader. */
const char *darkroom_png_reader_message(const darkroom_png_reader *reader);
int darkroom_png_reader_errno(const darkroom_png_reader *reader);

/* The colour chunks, after darkroom_png_reader_open. */
void darkroom_png_reader_colour(darkroom_png_reader *reader, darkroom_png_colour *colour);

/* The data of eXIf, a TIFF structure that nobody has looked into, if it came before the pixels;
 * else NULL. They live as long as the reader. */
const uint8_t *darkroom_png_reader_exif(darkroom_png_reader *reader, size_t *count);

/* Whether a tRNS was found that counts. */
int darkroom_png_reader_has_transparency(darkroom_png_reader *reader);

/* What libpng remarked and let pass: the first few different remarks, NULL beyond them. */
const char *darkroom_png_reader_warning(const darkroom_png_reader *reader, size_t index);

/* The names of the different chunks met so far, in order of appearance; NULL beyond the last. At
 * most DARKROOM_PNG_CHUNK_NAMES of them are noted. */
enum { DARKROOM_PNG_CHUNK_NAMES = 48 };
const char *darkroom_png_reader_chunk(const darkroom_png_reader *reader, size_t index);

/* ---- Writing ----
 *
 * A writer makes what is around the pixels. These are IDAT chunks made by darkroom_strip_encode,
 * which the caller puts between what darkroom_png_writer_start and darkroom_png_writer_finish give. */

typedef struct darkroom_png_writer darkroom_png_writer;

/* NULL where there is no memory. */
darkroom_png_writer *darkroom_png_writer_new(void);
void darkroom_png_writer_free(darkroom_png_writer *writer);

/* Writes all that comes before the pixels, not interlaced. `depth` is 8 or 16, `channels` 1 to 4. A colour
 * chunk that libpng refuses is left out; `written` is told which it accepted. */
darkroom_png_result darkroom_png_writer_start(
    darkroom_png_writer *writer, uint32_t width, uint32_t height, int channels, int depth,
    const darkroom_png_colour *colour, uint32_t *written);

/* Writes eXIf; to be called before the pixels. */
darkroom_png_result darkroom_png_writer_exif(
    darkroom_png_writer *writer, const uint8_t *tiff, size_t count);

/* Writes what comes after the pixels: IEND. */
darkroom_png_result darkroom_png_writer_finish(darkroom_png_writer *writer);

/* The bytes that the calls since the last darkroom_png_writer_drain have produced. */
const uint8_t *darkroom_png_writer_output(const darkroom_png_writer *writer, size_t *count);
void darkroom_png_writer_drain(darkroom_png_writer *writer);

const char *darkroom_png_writer_message(const darkroom_png_writer *writer);

#endif
