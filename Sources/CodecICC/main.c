/* The conversion of colours by a profile, as a table. The source is a profile (ICC.1); the "picture" is what colours at
 * equal distances become, in 16 bits:
 *
 *     page 1, 2: from the profile to sRGB, to Display P3
 *     page 3:    from sRGB to the profile, which must be of RGB
 *
 * The samples of a row have the last channel first: with n steps for each channel, the row of RGB is the red step, and
 * green × n + blue the pixel; the row of CMYK is cyan × n + magenta, and yellow × n + black the pixel; gray is one row.
 *
 * So a profile that abuses a mistake of lcms2 reaches nobody. The daemon interpolates in tables only. */
#include <lcms2.h>
#include <stdio.h>
#include <time.h>

#include "darkroom_codec.h"

/* Steps for each channel, as many as lcms2 has in tables of its own. */
enum { STEPS_RGB = 33, STEPS_CMYK = 17, STEPS_GRAY = 4096 };

typedef struct {
    cmsUInt32Number form;
    uint32_t channels, steps;
} space;

static const char *library(void)
{
    static char text[32];
    int version = cmsGetEncodedCMMversion();
    snprintf(text, sizeof text, "lcms2 %d.%02d", version / 1000, version / 10 % 100);
    return text;
}

static space space_of(darkroom_codec_call *call, cmsHPROFILE profile)
{
    switch (cmsGetColorSpace(profile)) {
        case cmsSigRgbData: return (space) {TYPE_RGB_16, 3, STEPS_RGB};
        case cmsSigCmykData: return (space) {TYPE_CMYK_16, 4, STEPS_CMYK};
        case cmsSigGrayData: return (space) {TYPE_GRAY_16, 1, STEPS_GRAY};
        default: codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "the profile is for neither RGB, CMYK nor gray");
    }
}

static cmsHPROFILE display_p3(void)
{
    const cmsFloat64Number curve[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    const cmsCIExyY white = {0.3127, 0.3290, 1};
    const cmsCIExyYTRIPLE primaries = {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};
    cmsToneCurve *tone = cmsBuildParametricToneCurve(NULL, 4, curve);
    cmsToneCurve *const tones[3] = {tone, tone, tone};
    return cmsCreateRGBProfile(&white, &primaries, tones);
}

/* The value of a step, with all bits. */
static uint16_t value_of(uint32_t step, uint32_t steps)
{
    return (uint16_t) ((step * UINT32_C(65535) + (steps - 1) / 2) / (steps - 1));
}

static void fill(uint16_t *colours, uint32_t row, uint32_t width, const space *from)
{
    uint32_t n = from->steps;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t steps[4] = {row, x / n, x % n, 0};
        if (from->channels == 1) steps[0] = x;
        if (from->channels == 4) {
            steps[0] = row / n;
            steps[1] = row % n;
            steps[2] = x / n;
            steps[3] = x % n;
        }
        for (uint32_t channel = 0; channel < from->channels; channel++) *colours++ = value_of(steps[channel], n);
    }
}

static void decode(darkroom_codec_call *call)
{
    size_t count;
    const uint8_t *bytes = codec_source(call, &count);
    uint32_t page = codec_page(call);
    if (page > 3) codec_fail(call, DARKROOM_CODEC_NO_PAGE, "there are 3 tables");
    cmsHPROFILE profile = cmsOpenProfileFromMem(bytes, (cmsUInt32Number) count);
    if (!profile) codec_fail(call, DARKROOM_CODEC_DAMAGED, "lcms2 cannot read the profile");
    space own = space_of(call, profile), rgb = {TYPE_RGB_16, 3, STEPS_RGB};
    bool is_reverse = page == 3;
    if (is_reverse && own.channels != 3) codec_fail(call, DARKROOM_CODEC_UNSUPPORTED, "the profile is not for RGB");
    cmsHPROFILE other = page == 2 ? display_p3() : cmsCreate_sRGBProfile();
    if (!other) codec_fail(call, DARKROOM_CODEC_MEMORY, "lcms2 got no memory");
    space from = is_reverse ? rgb : own;
    cmsHTRANSFORM transform = cmsCreateTransform(is_reverse ? other : profile, from.form, is_reverse ? profile : other,
        TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC,
        cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE);
    if (!transform) codec_fail(call, DARKROOM_CODEC_DAMAGED, "lcms2 can make no conversion of the profile");
    uint32_t n = from.steps;
    darkroom_codec_header header = {
        .width = from.channels == 1 ? n : n * n,
        .height = from.channels == 1 ? 1 : from.channels == 3 ? n : n * n,
        .colour = DARKROOM_CODEC_RGB, .channels = 3, .depth = 16, .source_depth = 16, .orientation = 1,
        .page = page, .pages = 3, .cicp = {2, 2, 2, 1}, .memory = UINT64_C(4) << 20};
    codec_begin(call, header, (codec_metadata) {0});
    uint16_t *colours = codec_allocate(call, header.width, from.channels * sizeof *colours);
    uint16_t *row = codec_allocate(call, header.width, 3 * sizeof *row);
    for (uint32_t y = 0; y < header.height; y++) {
        fill(colours, y, header.width, &from);
        cmsDoTransform(transform, colours, row, header.width);
        codec_rows(call, row, codec_row_bytes(&header), 1);
    }
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .decode = decode};
    /* lcms2 puts the time into the profiles that it makes, and the C library reads the time zone for the first time. */
    tzset();
    return darkroom_codec_main(&codec, argc, argv);
}
