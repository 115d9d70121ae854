/* libpng's check of a colour profile, for profiles that do not come from a PNG. */
#include "png_trap.h"

#include <stdio.h>

/* The data for the callbacks, by libpng's error pointer. */
typedef struct {
    darkroom_png_trap trap; /* first, so that it is there for libpng's first callback */
    png_structp png;
    png_infop info;
    char *words;
} judgement;

static void note_remark(png_structp png, png_const_charp message)
{
    judgement *own = png_get_error_ptr(png);
    if (own->words[0] == 0)
        snprintf(own->words, DARKROOM_PNG_PROFILE_WORDS, "%s (libpng)", message);
}

static darkroom_png_result judge(
    judgement *own, const uint8_t *profile, size_t length, int is_gray)
{
    if (setjmp(own->trap.jump) != 0)
        return own->trap.result;
    own->png = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, &own->trap, darkroom_png_error, note_remark);
    if (own->png != NULL)
        own->info = png_create_info_struct(own->png);
    if (own->info == NULL)
        return DARKROOM_PNG_MEMORY;
    png_set_benign_errors(own->png, 1);
    png_set_IHDR(
        own->png, own->info, 1, 1, 8, is_gray ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_iCCP(
        own->png, own->info, DARKROOM_PNG_PROFILE_NAME, PNG_COMPRESSION_TYPE_BASE, profile,
        (png_uint_32)length);
    return png_get_valid(own->png, own->info, PNG_INFO_iCCP) != 0 ? DARKROOM_PNG_OK
                                                                 : DARKROOM_PNG_INVALID;
}

darkroom_png_result darkroom_png_judge_profile(
    const uint8_t *profile, size_t length, int is_gray, char words[DARKROOM_PNG_PROFILE_WORDS])
{
    judgement own = {.words = words};
    words[0] = 0;
    if (length > PNG_UINT_31_MAX)
        return DARKROOM_PNG_INVALID;
    const darkroom_png_result result = judge(&own, profile, length, is_gray);
    if (own.png != NULL && setjmp(own.trap.jump) == 0)
        png_destroy_write_struct(&own.png, &own.info);
    return result;
}
