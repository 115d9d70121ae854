#define _GNU_SOURCE
#include "heif.h"

#if __has_include(<aom/aomcx.h>)

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>

/* What libheif does not tell libaom, or tells it wrongly. libheif says how to encode through one function. So that function
 * is here, too: the loader finds the program's own before that of the library. libheif takes what it writes into the file
 * from the data that libaom makes. */
typedef aom_codec_err_t initializer(aom_codec_ctx_t *, aom_codec_iface_t *, const aom_codec_enc_cfg_t *, aom_codec_flags_t, int);
typedef aom_codec_err_t controller(aom_codec_ctx_t *, int, ...);

static heif_expectation expectation;

void heif_codec_expect(heif_expectation expected) { expectation = expected; }

static void *library_function(const char *name) { return heif_codec_function(name, "libaom.so.3"); }

/* The profile that has a depth of 10 bits with this chroma (AV1 specification, 6.4.1). */
static unsigned profile_of_ten_bits(const aom_codec_enc_cfg_t *configuration)
{
    if (configuration->monochrome || expectation.chroma == 420) return 0;
    return expectation.chroma == 444 ? 1 : 2;
}

/* libheif before 1.15.2 tells libaom a profile that has 10 bits with 4:2:2 only, and libaom then ends the process. */
static bool has_wrong_profile(void) { return expectation.bits == 10 && heif_get_version_number() < 0x010f0200; }

/* libaom looks for parts of drawings and screens that repeat. That takes up to 110 bytes of memory for each pixel, four times
 * as much as all the rest, and 60 MB more, which nobody can know before all of the picture is there. */
static aom_codec_err_t limit_search(aom_codec_ctx_t *context)
{
    controller *control = NULL;
    *(void **) &control = library_function("aom_codec_control");
    return control ? control(context, AV1E_SET_ENABLE_INTRABC, 0) : AOM_CODEC_INCAPABLE;
}

__attribute__((visibility("default"), used)) aom_codec_err_t aom_codec_enc_init_ver(aom_codec_ctx_t *context,
    aom_codec_iface_t *interface, const aom_codec_enc_cfg_t *configuration, aom_codec_flags_t flags, int version)
{
    initializer *initialize = NULL;
    *(void **) &initialize = library_function("aom_codec_enc_init_ver");
    if (!initialize) return AOM_CODEC_INCAPABLE;
    aom_codec_enc_cfg_t corrected;
    if (has_wrong_profile()) {
        /* Of another version, the configuration may look different. */
        if (version != AOM_ENCODER_ABI_VERSION || configuration->g_bit_depth != AOM_BITS_10) return AOM_CODEC_ABI_MISMATCH;
        corrected = *configuration;
        corrected.g_profile = profile_of_ten_bits(configuration);
        configuration = &corrected;
    }
    aom_codec_err_t result = initialize(context, interface, configuration, flags, version);
    return result != AOM_CODEC_OK || expectation.searches_repetition ? result : limit_search(context);
}

#else

void heif_codec_expect(heif_expectation expected) { (void) expected; }

#endif
