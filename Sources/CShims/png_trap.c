#include "png_trap.h"

#include <stdio.h>
#include <string.h>

/* libpng distinguishes kinds of errors only by their texts. These are those of 1.6. */
static darkroom_png_result classify(const char *message)
{
    static const struct {
        const char *words;
        darkroom_png_result result;
    } known[] = {
        {"Not a PNG file", DARKROOM_PNG_SIGNATURE},
        {"corrupted by ASCII conversion", DARKROOM_PNG_SIGNATURE},
        {"CRC error", DARKROOM_PNG_CRC},
        {"incorrect data check", DARKROOM_PNG_ADLER},
        {"IHDR", DARKROOM_PNG_HEADER},
        {"PLTE", DARKROOM_PNG_HEADER},
        {"palette", DARKROOM_PNG_HEADER},
        {"emory", DARKROOM_PNG_MEMORY},
        {"IDAT", DARKROOM_PNG_DATA},
        {"image data", DARKROOM_PNG_DATA},
        {"bad adaptive filter value", DARKROOM_PNG_DATA},
        {"IEND: out of place", DARKROOM_PNG_DATA},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(message, known[i].words) != NULL)
            return known[i].result;
    return DARKROOM_PNG_INVALID;
}

void darkroom_png_error(png_structp png, png_const_charp message)
{
    darkroom_png_trap *trap = png_get_error_ptr(png);
    if (trap->expected == DARKROOM_PNG_OK || trap->expected == DARKROOM_PNG_LIMIT) {
        char words[DARKROOM_PNG_MESSAGE_BYTES];
        snprintf(words, sizeof words, "%s (libpng)", message);
        darkroom_png_note(
            trap, trap->expected == DARKROOM_PNG_OK ? classify(message) : trap->expected, words);
    } else {
        darkroom_png_note(trap, trap->expected, message);
    }
    longjmp(trap->jump, 1);
}

darkroom_png_result darkroom_png_note(
    darkroom_png_trap *trap, darkroom_png_result result, const char *message)
{
    trap->result = result;
    snprintf(trap->message, sizeof trap->message, "%s", message);
    return result;
}
