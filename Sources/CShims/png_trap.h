/* Shared by the reader and the writer: the target of libpng's errors. */
#ifndef DARKROOM_PNG_TRAP_H
#define DARKROOM_PNG_TRAP_H

#include "darkroom_png.h"

#include <png.h>
#include <setjmp.h>

enum { DARKROOM_PNG_MESSAGE_BYTES = 160 };

/* libpng's error pointer. Each function sets `jump` before it calls libpng, and a jump leaves it at most
 * once: after a failure `result` stays, and the functions return it without calling libpng again. */
typedef struct {
    jmp_buf jump;
    darkroom_png_result result;
    /* The kind of the next error, if the callback that causes it knows it better than its text. */
    darkroom_png_result expected;
    char message[DARKROOM_PNG_MESSAGE_BYTES];
} darkroom_png_trap;

/* libpng's error callback. Does not return. It adds " (libpng)" to libpng's own texts. */
PNG_FUNCTION(void, darkroom_png_error, (png_structp png, png_const_charp message), PNG_NORETURN);

/* Records a failure outside libpng. */
darkroom_png_result darkroom_png_note(
    darkroom_png_trap *trap, darkroom_png_result result, const char *message);

#endif
