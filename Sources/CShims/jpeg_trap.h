/* Shared by the reader and the writer: the target of libjpeg's errors and remarks. */
#ifndef DARKROOM_JPEG_TRAP_H
#define DARKROOM_JPEG_TRAP_H

#include "darkroom_jpeg.h"
#include "remarks.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h> /* jpeglib.h needs it and does not include it */

#include <jpeglib.h>
/* After jpeglib.h, because the numbers of the messages depend on its configuration. */
#include <jerror.h>

enum {
    DARKROOM_JPEG_WARNINGS = 8,
    /* libjpeg's longest message has JMSG_LENGTH_MAX bytes; " (libjpeg)" is added. */
    DARKROOM_JPEG_MESSAGE_BYTES = JMSG_LENGTH_MAX + 16,
};

#define SHORT_WORDS "the file ends before the end of the picture"

/* Decides about a warning of libjpeg, whose number is in `info->err`, by the place where it is made. */
typedef darkroom_remark_class (*darkroom_jpeg_judge)(j_common_ptr info, void *context);

/* libjpeg's error manager with additions. Each function sets `jump` before it calls libjpeg, and a jump
 * leaves it at most once: after a failure `result` stays, and the functions return it without calling libjpeg
 * again. */
typedef struct {
    struct jpeg_error_mgr manager; /* first: libjpeg hands out its address */
    jmp_buf jump;
    darkroom_jpeg_result result;
    /* The meaning of an error of no special kind: before the pixels it belongs to the header, later to the
     * pixels. */
    darkroom_jpeg_result phase;
    char message[DARKROOM_JPEG_MESSAGE_BYTES];
    char warnings[DARKROOM_JPEG_WARNINGS][DARKROOM_JPEG_MESSAGE_BYTES];
    size_t warning_count;
    /* NULL for a writer. */
    darkroom_jpeg_judge judge;
    void *context;
    /* Whether a damaged picture is wanted as far as it goes. Then the first damage is kept, and decoding goes on. */
    bool keeps_damaged;
    bool is_damaged;
    char damage[DARKROOM_JPEG_MESSAGE_BYTES];
    bool is_lost; /* nothing more can be decoded */
    bool is_short; /* the file has ended before the end-of-image marker, while data were read */
} darkroom_jpeg_trap;

/* Prepares `trap`, which is all zeros, for a jpeg_compress_struct or jpeg_decompress_struct. */
struct jpeg_error_mgr *darkroom_jpeg_trap_start(darkroom_jpeg_trap *trap);

/* Records a failure outside libjpeg. */
darkroom_jpeg_result darkroom_jpeg_note(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message);

/* Records a failure and leaves libjpeg, from one of its callbacks. */
_Noreturn void darkroom_jpeg_fail(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message);

/* Records damage of a picture that is wanted all the same; the first one counts. */
void darkroom_jpeg_damaged(darkroom_jpeg_trap *trap, const char *message);

/* Keeps a remark if it is new and there is room. */
void darkroom_jpeg_remark(darkroom_jpeg_trap *trap, const char *message);

#endif
