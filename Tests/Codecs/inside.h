/* The work of a codec program inside this process: the conversation with the daemon is replaced by functions that keep what
 * is said, and check it. For fuzzing, and to compare pixels. */
#ifndef DARKROOM_TESTS_INSIDE_H
#define DARKROOM_TESTS_INSIDE_H

#include "darkroom_codec.h"

/* What came of a picture. */
typedef struct {
    /* 0 if the work ended well. */
    darkroom_codec_result failure;
    char text[DARKROOM_CODEC_TEXT];
    unsigned warnings;
    bool has_begun;
    darkroom_codec_header header;
    /* Of a decoder: the rows, without gaps. Of an encoder: the file. */
    uint8_t *bytes;
    size_t count;
    /* The quality that an encoder has chosen; 0 if it was given. */
    uint32_t quality;
    /* The most memory that was in use after the header; needs the address sanitizer. */
    uint64_t peak;
    /* How much the header says that it needs, for the size that is decoded. */
    uint64_t memory;
} inside_outcome;

/* Called once, before all else: learns what the program of the codec can do, and lets it prepare. */
const darkroom_codec *inside_codec(void);

/* The bounds of what follows. */
extern darkroom_codec_limits inside_limits;

/* By which the sides of a picture are divided whose header says that this is possible. */
extern uint32_t inside_divisor;

void inside_decode(const uint8_t *bytes, size_t count, uint32_t page, inside_outcome *outcome);
/* `pixels` has all rows without gaps. A codec gets a few at a time. */
void inside_encode(const darkroom_codec_header *header, const darkroom_codec_options *options,
    const codec_metadata *metadata, const uint8_t *pixels, inside_outcome *outcome);
void inside_free(inside_outcome *outcome);

/* What is left of a picture in memory is freed from now on, as the end of a child does it. What a library keeps for the
 * next picture must be there by now. */
void inside_sweep(void);

/* Ends this process with a sentence if something is not as it must be. */
void inside_require(bool condition, const char *what);

#endif
