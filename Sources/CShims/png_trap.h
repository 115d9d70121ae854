/* What the reader and the writer share: where libpng's errors land. */
#ifndef DARKROOM_PNG_TRAP_H
#define DARKROOM_PNG_TRAP_H

#include "darkroom_png.h"

#include <png.h>
#include <setjmp.h>

enum { DARKROOM_PNG_MESSAGE_BYTES = 160 };

/* libpng's error pointer. Each entry sets `jump` before it calls libpng and is left by it at most
 * once: after a failure `result` stays, and the entries return it without calling libpng again. */
typedef struct {
    jmp_buf jump;
    darkroom_png_result result;
    /* What the next error means, where the callback that provokes it knows better than its
     * words. */
    darkroom_png_result expected;
    char message[DARKROOM_PNG_MESSAGE_BYTES];
} darkroom_png_trap;

/* libpng's error callback. Does not return. To libpng's own words it adds " (libpng)". */
PNG_FUNCTION(void, darkroom_png_error, (png_structp png, png_const_charp message), PNG_NORETURN);

/* Notes a failure outside libpng. */
darkroom_png_result darkroom_png_note(
    darkroom_png_trap *trap, darkroom_png_result result, const char *message);

#endif
