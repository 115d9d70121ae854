/* What the reader and the writer share: where libjpeg's errors and remarks land. */
#ifndef DARKROOM_JPEG_TRAP_H
#define DARKROOM_JPEG_TRAP_H

#include "darkroom_jpeg.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h> /* jpeglib.h needs it and does not include it */

#include <jpeglib.h>
/* After jpeglib.h, whose configuration the numbers of the messages depend on. */
#include <jerror.h>

enum {
    DARKROOM_JPEG_WARNINGS = 8,
    /* libjpeg's longest message takes JMSG_LENGTH_MAX; " (libjpeg)" is added. */
    DARKROOM_JPEG_MESSAGE_BYTES = JMSG_LENGTH_MAX + 16,
};

/* libjpeg's error manager and more. Each entry sets `jump` before it calls libjpeg and is left by it
 * at most once: after a failure `result` stays, and the entries return it without calling libjpeg
 * again. */
typedef struct {
    struct jpeg_error_mgr manager; /* first: libjpeg hands out its address */
    jmp_buf jump;
    darkroom_jpeg_result result;
    /* What an error that is of no special kind means: it is the header's before the pixels, theirs
     * after. */
    darkroom_jpeg_result phase;
    char message[DARKROOM_JPEG_MESSAGE_BYTES];
    char warnings[DARKROOM_JPEG_WARNINGS][DARKROOM_JPEG_MESSAGE_BYTES];
    size_t warning_count;
} darkroom_jpeg_trap;

/* Makes `trap`, which is all zeros, ready for a jpeg_compress_struct or jpeg_decompress_struct. */
struct jpeg_error_mgr *darkroom_jpeg_trap_start(darkroom_jpeg_trap *trap);

/* Notes a failure outside libjpeg. */
darkroom_jpeg_result darkroom_jpeg_note(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message);

/* Notes a failure and leaves libjpeg, from one of its callbacks. */
_Noreturn void darkroom_jpeg_fail(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message);

/* Keeps a remark, if it is new and there is room. */
void darkroom_jpeg_remark(darkroom_jpeg_trap *trap, const char *message);

#endif
