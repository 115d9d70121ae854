#include <stdio.h>
#include <webp/decode.h>

#include "webp.h"

static const char *library(void)
{
    static char text[32];
    int version = WebPGetDecoderVersion();
    snprintf(text, sizeof text, "libwebp %d.%d.%d", version >> 16, version >> 8 & 255, version & 255);
    return text;
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {
        .library = library, .prepare = webp_prepare, .decode = webp_decode, .encode = webp_encode};
    return darkroom_codec_main(&codec, argc, argv);
}
