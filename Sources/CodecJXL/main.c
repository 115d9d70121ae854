#include <jxl/decode.h>
#include <stdio.h>
#include <time.h>

#include "jxl.h"

static const char *library(void)
{
    static char text[32];
    unsigned version = JxlDecoderVersion();
    snprintf(text, sizeof text, "libjxl %u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
    return text;
}

/* libjxl writes the time into profiles that it makes; the first question for it opens a file. */
static void prepare(void) { tzset(); }

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .prepare = prepare, .decode = jxl_decode, .encode = jxl_encode};
    return darkroom_codec_main(&codec, argc, argv);
}
