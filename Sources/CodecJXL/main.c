#include <jxl/decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "jxl.h"

static const char *library(void)
{
    static char text[32];
    unsigned version = JxlDecoderVersion();
    snprintf(text, sizeof text, "libjxl %u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
    return text;
}

/* The profiles that the encoder makes have a date. The C library would look up the time zone in a file then. */
static void prepare(void)
{
    setenv("TZ", "UTC0", 1);
    tzset();
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {
        .library = library, .prepare = prepare, .decode = jxl_decode, .encode = jxl_encode};
    return darkroom_codec_main(&codec, argc, argv);
}
