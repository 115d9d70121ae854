#include <stdio.h>
#include <string.h>

#include "tiff.h"

char tiff_words[DARKROOM_CODEC_TEXT];

static void keep_words(const char *module, const char *format, va_list arguments)
{
    (void) module;
    vsnprintf(tiff_words, sizeof tiff_words, format, arguments);
}

static const char *library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "%s", TIFFGetVersion());
    text[strcspn(text, "\n")] = 0;
    char *comma = strchr(text, ',');
    if (comma) memmove(comma, comma + strlen(", Version"), strlen(comma + strlen(", Version")) + 1);
    return text;
}

static void prepare(void)
{
    TIFFSetErrorHandler(keep_words);
    TIFFSetWarningHandler(NULL);
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {
        .library = library, .prepare = prepare, .decode = tiff_decode, .encode = tiff_encode};
    return darkroom_codec_main(&codec, argc, argv);
}
