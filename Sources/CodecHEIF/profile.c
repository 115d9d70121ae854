#define _GNU_SOURCE
#include "heif.h"

#if LIBHEIF_NUMERIC_VERSION < 0x010f0200

#include <aom/aom_encoder.h>
#include <dlfcn.h>

/* libheif before 1.15.2 tells libaom a profile that has 10 bits with 4:2:2 only, and libaom then ends the process. So the
 * function through which it says the profile is here, and corrects it. The loader finds the program's own function before
 * that of the library. libheif takes what it writes into the file from the data that libaom makes. */
typedef aom_codec_err_t initializer(aom_codec_ctx_t *, aom_codec_iface_t *, const aom_codec_enc_cfg_t *, aom_codec_flags_t, int);

static unsigned bits_of_picture, chroma_of_picture;

void heif_codec_expect(unsigned bits, unsigned chroma)
{
    bits_of_picture = bits;
    chroma_of_picture = chroma;
}

/* That of libaom. Newer versions of libheif load it with a file that they load themselves, which RTLD_NEXT does not see. */
static initializer *library_initializer(void)
{
    static const char name[] = "aom_codec_enc_init_ver";
    initializer *found = NULL;
    *(void **) &found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    void *library = dlopen("libaom.so.3", RTLD_LAZY | RTLD_NOLOAD);
    if (library) *(void **) &found = dlsym(library, name);
    return found;
}

/* The profile that has a depth of 10 bits with this chroma (AV1 specification, 6.4.1). */
static unsigned profile_of_ten_bits(const aom_codec_enc_cfg_t *configuration)
{
    if (configuration->monochrome || chroma_of_picture == 420) return 0;
    return chroma_of_picture == 444 ? 1 : 2;
}

__attribute__((visibility("default"), used)) aom_codec_err_t aom_codec_enc_init_ver(aom_codec_ctx_t *context,
    aom_codec_iface_t *interface, const aom_codec_enc_cfg_t *configuration, aom_codec_flags_t flags, int version)
{
    initializer *initialize = library_initializer();
    if (!initialize) return AOM_CODEC_INCAPABLE;
    if (heif_get_version_number() >= 0x010f0200 || bits_of_picture != 10)
        return initialize(context, interface, configuration, flags, version);
    /* Of another version, the configuration may look different. */
    if (version != AOM_ENCODER_ABI_VERSION || configuration->g_bit_depth != AOM_BITS_10) return AOM_CODEC_ABI_MISMATCH;
    aom_codec_enc_cfg_t corrected = *configuration;
    corrected.g_profile = profile_of_ten_bits(configuration);
    return initialize(context, interface, &corrected, flags, version);
}

#else

void heif_codec_expect(unsigned bits, unsigned chroma)
{
    (void) bits;
    (void) chroma;
}

#endif
