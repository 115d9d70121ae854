#include <stdio.h>

#include "heif.h"

static const char *library(void)
{
    static char text[48];
    snprintf(text, sizeof text, "libheif %s", heif_get_version());
    return text;
}

/* Newer versions load decoders and encoders from files of their own. */
static void prepare(void) { heif_init(NULL); }

int main(int argc, char **argv)
{
    /* dav1d and the AV1 encoder make threads, even if they are told to have one. */
    const darkroom_codec codec = {
        .library = library, .prepare = prepare, .decode = heif_codec_decode, .encode = heif_codec_encode,
        .has_threads = true};
    return darkroom_codec_main(&codec, argc, argv);
}
