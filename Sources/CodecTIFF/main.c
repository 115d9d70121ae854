#include <stdio.h>
#include <string.h>

#include "tiff.h"

/* As other libraries say it: TIFFGetVersion has `LIBTIFF, Version 4.5.0` and more lines. */
static const char *library(void)
{
    static char text[64] = "libtiff";
    const char *version = strstr(TIFFGetVersion(), "Version ");
    if (version) snprintf(text, sizeof text, "libtiff %.*s", (int) strcspn(version + 8, "\n"), version + 8);
    return text;
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {
        .library = library, .prepare = tiff_listen, .decode = tiff_decode, .encode = tiff_encode};
    return darkroom_codec_main(&codec, argc, argv);
}
