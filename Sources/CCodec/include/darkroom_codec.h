/* What the programs of the codecs use: a waiting process that forks for each picture, the confinement of the child, and
 * its side of the conversation. Only these programs are linked with it. */
#ifndef DARKROOM_CODEC_H
#define DARKROOM_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "darkroom_codec_wire.h"
#include "darkroom_processor.h"
#include "darkroom_quality.h"

/* The work of one picture, in the child. */
typedef struct darkroom_codec_call darkroom_codec_call;

typedef struct {
    /* The library and its version, for people. */
    const char *(*library)(void);
    /* In the waiting process, before it is confined: what must open files, such as a library's plugins. May be NULL. */
    void (*prepare)(void);
    /* In the child. They return when everything has been said but END; they end by codec_fail otherwise. NULL if the
     * program cannot. */
    void (*decode)(darkroom_codec_call *call);
    void (*encode)(darkroom_codec_call *call);
    /* Whether the library makes threads. */
    bool has_threads;
    /* Whether `decode` reads the source by its descriptor, and answers calls instead of telling rows. */
    bool reads_source;
} darkroom_codec;

/* The main function of a program. */
int darkroom_codec_main(const darkroom_codec *codec, int argc, char **argv);

/* ---- The child's side; each ends the process if the daemon is gone or makes no sense ---- */

const darkroom_codec_limits *codec_limits(const darkroom_codec_call *call);

_Noreturn void codec_fail(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void codec_warn(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Decoding. */

/* The requested page, from 1. */
uint32_t codec_page(const darkroom_codec_call *call);
/* The whole source. A file that becomes shorter meanwhile ends the child by SIGBUS. */
const uint8_t *codec_source(darkroom_codec_call *call, size_t *bytes);

typedef struct {
    const uint8_t *bytes;
    size_t count;
} codec_blob;

/* Metadata of a picture; what is larger than the limit is left out with a warning. */
typedef struct {
    codec_blob icc, exif, xmp, iptc;
} codec_metadata;

/* Says what the picture is, and waits until the daemon wants its rows. Checks the limits of sides and pixels. Returns the
 * divisor of the sides: 1, or if the header says that it reduces, 2, 4 or 8. */
uint32_t codec_begin(darkroom_codec_call *call, darkroom_codec_header header, codec_metadata metadata);
/* Says the next rows, in their order. `stride` is the distance of two rows in bytes. */
void codec_rows(darkroom_codec_call *call, const void *rows, size_t stride, uint32_t count);

/* Encoding. */

/* Waits for the picture. Its metadata lives as long as the call. */
const darkroom_codec_header *codec_picture(
    darkroom_codec_call *call, darkroom_codec_options *options, codec_metadata *metadata);
/* Waits for the next rows, as many as the daemon has, at least one. NULL after the last row. They stay until the next
 * call of this function. */
const uint8_t *codec_next_rows(darkroom_codec_call *call, uint32_t *count);
/* Says bytes of the result at this offset: those that follow, or some that were said before, again. */
void codec_bytes(darkroom_codec_call *call, uint64_t offset, const void *bytes, size_t count);

/* ---- Encoding with a choice of the quality (darkroom_quality.h): the library encodes several times ---- */

/* Whether the quality is to be chosen. */
bool codec_searches(const darkroom_codec_options *options);

/* The brightness of the picture, if results are to be compared with it; without samples otherwise. */
typedef struct {
    const darkroom_codec_header *header;
    uint8_t *samples;
    uint32_t rows;
    void *memory;
} codec_light;

codec_light codec_light_for(
    darkroom_codec_call *call, const darkroom_codec_header *header, const darkroom_codec_options *options);
/* The next rows of the picture. */
void codec_light_add(codec_light *light, const uint8_t *rows, uint32_t count);
/* Of the picture and the pixels of a result, 8 bits a sample; `stride` is the distance of two rows in bytes. */
double codec_similarity(const codec_light *light, const uint8_t *pixels, size_t stride, uint32_t channels);

/* A file in memory of malloc. */
typedef struct {
    uint8_t *bytes;
    size_t count;
} codec_file;

/* Makes a file with these options, and sets the similarity if one is to be reached and the file is not too large. */
typedef codec_file (*codec_encoder)(void *context, const darkroom_codec_options *options, double *similarity);

/* Says the bytes of the file with the chosen quality, and the choice. At most two files are there at once. */
void codec_search(darkroom_codec_call *call, const darkroom_codec_options *options, codec_encoder encode, void *context);
/* The choice that is said with END. */
void codec_chosen(darkroom_codec_call *call, uint32_t quality, double similarity);

/* Answering calls. */

/* The descriptor of the source, at the picture's first byte. */
int codec_source_file(const darkroom_codec_call *call);
/* All slots, one behind the other. */
uint8_t *codec_memory(const darkroom_codec_call *call, size_t *bytes);
darkroom_codec_message codec_hear(darkroom_codec_call *call);
/* Waits until the daemon has permitted the memory for the picture. */
void codec_await_memory(darkroom_codec_call *call);
void codec_say(darkroom_codec_call *call, const darkroom_codec_message *message);

/* ---- Small tools ---- */

size_t codec_row_bytes(const darkroom_codec_header *header);
/* A side of a picture that is reduced. */
static inline uint32_t codec_reduced(uint32_t side, uint32_t divisor) { return side / divisor + (side % divisor != 0); }
/* What a DARKROOM_FOR_PROCESSOR calls. */
#define CODEC_INLINED static inline __attribute__((always_inline))
/* malloc that ends by codec_fail. Of `count` × `size` bytes. */
void *codec_allocate(darkroom_codec_call *call, size_t count, size_t size);

#endif
