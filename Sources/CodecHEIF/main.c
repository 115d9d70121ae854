#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "heif.h"

/* Newer versions of libheif load a decoder or encoder with a file that they load themselves, which RTLD_NEXT does not see. */
void *heif_codec_function(const char *name, const char *library)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return loaded ? dlsym(loaded, name) : NULL;
}

/* Newer versions load decoders and encoders from files of their own. */
static void prepare(void)
{
    heif_init(NULL);
    heif_codec_find_dav1d();
}

/* The encoder decides the bytes of an AVIF; its name ends in its version. */
static const char *library(void)
{
    static char text[100];
    prepare();
    int length = snprintf(text, sizeof text, "libheif %s", heif_get_version());
    struct heif_context *context = heif_context_alloc();
    const struct heif_encoder_descriptor *encoder = NULL;
    if (context && heif_context_get_encoder_descriptors(context, heif_compression_AV1, NULL, &encoder, 1) == 1) {
        const char *name = heif_encoder_descriptor_get_name(encoder), *end = name ? strrchr(name, ' ') : NULL;
        if (end) snprintf(text + length, sizeof text - (size_t) length, ", %s %s",
            heif_encoder_descriptor_get_id_name(encoder), end + 1);
    }
    heif_context_free(context);
    return text;
}

int main(int argc, char **argv)
{
    /* dav1d and the AV1 encoder make threads, even if they are told to have one. */
    const darkroom_codec codec = {
        .library = library, .prepare = prepare, .decode = heif_codec_decode, .encode = heif_codec_encode,
        .has_threads = true};
    return darkroom_codec_main(&codec, argc, argv);
}
