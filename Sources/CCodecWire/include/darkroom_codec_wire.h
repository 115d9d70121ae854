/* What a daemon and a codec process say to each other.
 *
 * A codec program, such as `darkroom-codec-webp`, waits on its control socket (descriptor 3, SOCK_SEQPACKET). For each
 * picture it gets an order with descriptors, and forks. The child confines itself before it reads the first byte of the
 * picture, and talks with the daemon on a socket of its own:
 *
 *     daemon                    waiting process             child
 *       | -- DECODE, 3 fds -------> |                          |
 *       | <- STARTED -------------- | -- fork ---------------> |
 *       | <------------------------ HEADER, BLOB … ----------- |   it waits
 *       | -- LIMIT ---------------> | prlimit                  |
 *       | -- GO ---------------------------------------------> |
 *       | <------------------------ ROWS, ROWS … ------------- |   while slots are free
 *       | -- FREE … -----------------------------------------> |
 *       | <------------------------ END or FAILURE ----------- |
 *       | <- ENDED ---------------- | waitpid                  |
 *
 * To encode: ENCODE with 2 fds; the daemon says HEADER, BLOB …, ROWS …, END; the child says BYTES … and END.
 *
 * Rows, blobs and encoded bytes go through shared memory: `slots` pieces of `slot_bytes` each. First all slots belong
 * to the side that sends rows or decoded bytes; a slot belongs to the other side from the message that names it until
 * its FREE. Encoding has two times as many slots: the first half for rows, the second half for encoded bytes.
 *
 * Neither side trusts a message: its size, kind, slot and numbers are checked by the one that receives it. */
#ifndef DARKROOM_CODEC_WIRE_H
#define DARKROOM_CODEC_WIRE_H

#include <stdint.h>

enum {
    DARKROOM_CODEC_VERSION = 3,
    /* The descriptor of the control socket. */
    DARKROOM_CODEC_CONTROL = 3,
    DARKROOM_CODEC_TEXT = 200,
    /* The exit status of a process, or of a child, for which the system lacked something: EX_OSERR. */
    DARKROOM_CODEC_NOT_BEGUN = 71,
    /* That of a child that could not hear or speak: EX_IOERR. */
    DARKROOM_CODEC_CUT_OFF = 74,
    DARKROOM_CODEC_SLOTS = 8,
    /* A slot is passed on when it has this many bytes, or its last row. It is enough that a message costs nothing beside
     * them, and few enough to stay in the cache of a processor. */
    DARKROOM_CODEC_BAND = 128 << 10,
    /* From this effort on, the encoder of AVIF looks for parts of the picture that repeat. The daemon reserves memory for
     * that. */
    DARKROOM_CODEC_REPETITION_EFFORT = 7,
    /* The same for the encoder of JPEG XL and pieces that repeat. */
    DARKROOM_CODEC_PATCHES_EFFORT = 8,
};

/* The meaning of the first channels of a pixel; one more is straight alpha. */
typedef enum {
    DARKROOM_CODEC_GRAY = 1,
    DARKROOM_CODEC_RGB = 3,
    /* Cyan, magenta, yellow, black; 0 is no ink. */
    DARKROOM_CODEC_CMYK = 4,
} darkroom_codec_colour;

/* A picture, as its rows are. A row is width × channels samples of 8 bits, or of 16 bits in the machine's byte order,
 * without a gap. */
typedef struct {
    uint32_t width, height;
    uint32_t colour;   /* darkroom_codec_colour */
    uint32_t channels; /* those of the colour, and one more with alpha */
    uint32_t depth;    /* 8 or 16 */
    /* Bits of a sample in the file: 1 to 16. */
    uint32_t source_depth;
    /* Exif's number, 1 to 8, for who shows the rows. 1 if the codec has turned them; 0 if the Exif data say it. */
    uint32_t orientation;
    /* The number of this page from 1, and how many the file has. Frames of an animation are not pages. */
    uint32_t page, pages;
    /* CICP numbers (ISO/IEC 23091-2) of primaries, transfer and matrix, and 1 for the full range; 2 is unknown. */
    uint32_t cicp[4];
    /* Pixels per metre; 0 is unknown. */
    uint32_t pixels_x, pixels_y;
    /* The bytes that follow as blobs. */
    uint32_t icc, exif, xmp, iptc;
    /* Whether the rows can be those of a picture with sides divided by 2, 4 or 8, and rounded up: each sample is the average
     * of its pixels. */
    uint32_t reduces;
    uint32_t unused;
    /* What the rest takes beyond what is allocated, in bytes; and that of a reduced picture. */
    uint64_t memory, reduced_memory;
} darkroom_codec_header;

/* How an encoder writes. What a format has not is ignored. */
typedef struct {
    uint32_t quality;  /* 1 to 100; of a search the highest */
    uint32_t lossless; /* 0 or 1 */
    /* 0 is the fastest, 10 the smallest result. */
    uint32_t effort;
    /* Bits of a sample in the result; 0 leaves it to the codec. */
    uint32_t depth;
    /* 444, 422 or 420; 0 leaves it to the codec. */
    uint32_t chroma;
    /* TIFF: 0 none, 1 deflate, 2 LZW. */
    uint32_t compression;
    /* A search for the quality (darkroom_quality.h) if one of these is not 0: the most bytes of the file, and the similarity
     * to the picture. */
    uint64_t most_bytes;
    double similarity;
} darkroom_codec_options;

typedef enum {
    /* From the daemon to the waiting process. */
    DARKROOM_CODEC_DECODE = 1, /* number, slots, slot_bytes, limits, count: the page, offset: the picture's first byte;
                                * fds: socket, memory, source */
    DARKROOM_CODEC_ENCODE = 2, /* number, slots, slot_bytes, limits; fds: socket, memory */
    DARKROOM_CODEC_LIMIT = 3,  /* number, bytes: the memory of the child beyond what it had at its start */
    DARKROOM_CODEC_KILL = 4,   /* number */
    /* From the waiting process. */
    DARKROOM_CODEC_READY = 10,   /* count: the version; bits: 1 decodes, 2 encodes; text: the library and its version;
                                * number: that of the program and its libraries (darkroom_loaded.h) */
    DARKROOM_CODEC_STARTED = 11, /* number; count: the process */
    DARKROOM_CODEC_ENDED = 12,   /* number; ended */
    /* Between the daemon and the child. */
    DARKROOM_CODEC_HEADER = 20,
    DARKROOM_CODEC_BLOB = 21, /* slot, bytes; bits: which */
    DARKROOM_CODEC_GO = 22, /* count: the divisor of the sides */
    DARKROOM_CODEC_ROWS = 23, /* slot; first, count: rows */
    DARKROOM_CODEC_BYTES = 24, /* slot, bytes; offset in the result */
    DARKROOM_CODEC_FREE = 25, /* slot */
    DARKROOM_CODEC_END = 26,
    DARKROOM_CODEC_WARNING = 27, /* bits: a darkroom_codec_result; text */
    DARKROOM_CODEC_FAILURE = 28, /* bits: a darkroom_codec_result; text */
    /* The readers of PNG and JPEG answer calls instead; darkroom_remote.h has the functions. */
    DARKROOM_CODEC_CALL = 30,   /* bits: the function; first, count, bytes, offset: its arguments */
    DARKROOM_CODEC_ANSWER = 31, /* bits: the function */
} darkroom_codec_kind;

/* Which blob. */
enum {
    DARKROOM_CODEC_ICC = 1,
    DARKROOM_CODEC_EXIF = 2, /* from its TIFF header on */
    DARKROOM_CODEC_XMP = 3,
    DARKROOM_CODEC_IPTC = 4,
};

typedef enum {
    DARKROOM_CODEC_TRUNCATED = 1,
    DARKROOM_CODEC_DAMAGED = 2,
    /* A kind of picture that is refused: the text names it. */
    DARKROOM_CODEC_UNSUPPORTED = 3,
    /* More than the order permits. */
    DARKROOM_CODEC_TOO_LARGE = 4,
    DARKROOM_CODEC_MEMORY = 5,
    DARKROOM_CODEC_IO = 6,
    /* The daemon said something that makes no sense. */
    DARKROOM_CODEC_MISUSE = 7,
    /* Only a warning: frames after the first one are left out. */
    DARKROOM_CODEC_ANIMATED = 8,
    /* Only a warning: metadata that is left out. */
    DARKROOM_CODEC_METADATA = 9,
    /* The file has no page of this number: the text says how many it has. */
    DARKROOM_CODEC_NO_PAGE = 10,
    /* No quality has few enough bytes: the text is the smallest number. */
    DARKROOM_CODEC_TOO_MANY_BYTES = 11,
} darkroom_codec_result;

/* The bounds of one picture. */
typedef struct {
    /* Beyond what a child has at its start: until GO, and the most that LIMIT may permit. */
    uint64_t memory_at_first, memory_at_most;
    /* Processor time. */
    uint32_t seconds;
    uint32_t largest_side;
    uint64_t most_pixels;
    /* Of each blob. */
    uint32_t most_metadata;
} darkroom_codec_limits;

/* How a child ended. */
typedef struct {
    int32_t status; /* as of waitpid(2) */
    uint32_t unused;
    uint64_t processor_microseconds;
    uint64_t peak_bytes;
} darkroom_codec_ended;

/* Every message has this shape and size. Unused fields are 0. */
typedef struct {
    uint32_t kind;
    uint32_t bits;
    uint64_t number;
    uint64_t bytes, offset;
    uint32_t slot, slots, slot_bytes;
    uint32_t first, count;
    uint32_t unused;
    darkroom_codec_limits limits;
    darkroom_codec_ended ended;
    darkroom_codec_options options;
    darkroom_codec_header header;
    char text[DARKROOM_CODEC_TEXT];
} darkroom_codec_message;

/* In Swift, the array would be a tuple, on which the compiler spends seconds. */
static inline const char *darkroom_codec_words(const darkroom_codec_message *message)
{
    return message->text;
}

#endif
