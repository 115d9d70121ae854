#define _GNU_SOURCE
#include "heif.h"

#if __has_include(<libde265/de265.h>)

#include <libde265/de265.h>

/* What libde265 says of a picture and libheif does not ask for. libde265 fills what it cannot read with something, for films
 * to go on, and only queues a warning. libheif decodes through these functions. So they are here, too: the loader finds the
 * program's own before those of the library. The checksums that some files have are not compared: libde265 1.0.11 finds sound
 * ones of the kind CRC wrong. */
typedef de265_error decoder(de265_decoder_context *, int *);
typedef de265_error ender(de265_decoder_context *);
typedef de265_error teller(de265_decoder_context *);
typedef const char *namer(de265_error);

/* What was wrong first with the picture. */
static de265_error damage;

static void *function(const char *name) { return heif_codec_function(name, "libde265.so.0"); }

static bool is_harmless(de265_error error)
{
    switch ((int) error) {
        case DE265_OK:
        /* They ask the caller for something. */
        case DE265_ERROR_WAITING_FOR_INPUT_DATA:
        case DE265_ERROR_IMAGE_BUFFER_FULL:
        /* They are about speed. */
        case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING:
        case DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM:
        /* Remarks beside the picture, which it does not need. */
        case DE265_ERROR_CANNOT_PROCESS_SEI:
        case DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI: return true;
        /* All others are about the slices, the parameters they need, and the pictures they refer to. */
        default: return false;
    }
}

static void note(de265_error error)
{
    de265_error none = DE265_OK;
    if (!is_harmless(error)) __atomic_compare_exchange_n(&damage, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void hear_warnings(de265_decoder_context *context)
{
    teller *tell = NULL;
    *(void **) &tell = function("de265_get_warning");
    for (de265_error warning; tell && (warning = tell(context)) != DE265_OK;) note(warning);
}

__attribute__((visibility("default"), used)) de265_error de265_decode(de265_decoder_context *context, int *more)
{
    decoder *decode = NULL;
    *(void **) &decode = function("de265_decode");
    if (!decode) return DE265_ERROR_LIBRARY_NOT_INITIALIZED;
    de265_error error = decode(context, more);
    note(error);
    hear_warnings(context);
    return error;
}

__attribute__((visibility("default"), used)) de265_error de265_free_decoder(de265_decoder_context *context)
{
    ender *end = NULL;
    *(void **) &end = function("de265_free_decoder");
    if (context) hear_warnings(context);
    return end ? end(context) : DE265_OK;
}

void heif_codec_begin_hevc(void) { damage = DE265_OK; }

void heif_codec_check_hevc(darkroom_codec_call *call)
{
    if (damage == DE265_OK) return;
    namer *name = NULL;
    *(void **) &name = function("de265_get_error_text");
    bool is_memory = damage == DE265_ERROR_OUT_OF_MEMORY || damage == DE265_WARNING_CANNOT_APPLY_SAO_OUT_OF_MEMORY;
    codec_fail(call, is_memory ? DARKROOM_CODEC_MEMORY : DARKROOM_CODEC_DAMAGED, "libde265: %s",
        name ? name(damage) : "the picture is damaged");
}

#else

void heif_codec_begin_hevc(void) {}
void heif_codec_check_hevc(darkroom_codec_call *call) { (void) call; }

#endif
