#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

#include "../Colour/inks.h"
#include "samples.h"

const bool samples_leave_nothing = true;
const darkroom_codec_options sample_options[] = {{0}};
const size_t sample_options_count = 0;

/* A profile is made for each of these, and tables are made of it. */
typedef struct {
    const char *name;
    cmsColorSpaceSignature space;
    uint32_t page;
} kind;

static const kind kinds[] = {
    {"srgb", cmsSigRgbData, 1}, {"srgb-p3", cmsSigRgbData, 2}, {"srgb-reverse", cmsSigRgbData, 3},
    {"gray", cmsSigGrayData, 1}, {"cmyk", cmsSigCmykData, 1},
};

/* Light passes all inks one after the other; black lets none pass. */
static cmsInt32Number inks(const cmsUInt16Number *in, cmsUInt16Number *out, void *cargo)
{
    const cmsCIEXYZ *white = cargo;
    double light[3];
    for (int c = 0; c < 3; c++) light[c] = (1 - in[c] / 65535.0) * (1 - in[3] / 65535.0);
    cmsCIELab lab;
    cmsXYZ2Lab(NULL, &lab, &(cmsCIEXYZ) {light[0] * white->X, light[1] * white->Y, light[2] * white->Z});
    cmsFloat2LabEncoded(out, &lab);
    return TRUE;
}

static cmsHPROFILE profile_of(cmsColorSpaceSignature space)
{
    if (space == cmsSigCmykData) return ink_profile(3, inks);
    if (space == cmsSigRgbData) return cmsCreate_sRGBProfile();
    const cmsFloat64Number curve[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *tone = cmsBuildParametricToneCurve(NULL, 4, curve);
    cmsHPROFILE profile = cmsCreateGrayProfile(cmsD50_xyY(), tone);
    cmsFreeToneCurve(tone);
    return profile;
}

/* From sRGB and to it, each step is its own value; so is gray with sRGB's curve. Without inks there is white. */
static uint8_t *expected(const kind *kind, const darkroom_codec_header *header)
{
    if (kind->page == 2 || kind->space == cmsSigCmykData) return NULL;
    uint16_t *samples = sample_allocate((size_t) header->width * header->height, 6), *to = samples;
    uint32_t steps = kind->space == cmsSigGrayData ? header->width : header->height;
    for (uint32_t y = 0; y < header->height; y++)
        for (uint32_t x = 0; x < header->width; x++)
            for (unsigned c = 0; c < 3; c++) {
                uint32_t step = steps == header->width ? x : c == 0 ? y : c == 1 ? x / steps : x % steps;
                *to++ = (uint16_t) ((step * UINT32_C(65535) + (steps - 1) / 2) / (steps - 1));
            }
    return (uint8_t *) samples;
}

void samples_make(uint32_t width, uint32_t height)
{
    /* A profile has no size, so once is enough. */
    static bool is_done;
    (void) width;
    (void) height;
    if (is_done) return;
    is_done = true;
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        const kind *kind = &kinds[index];
        cmsHPROFILE profile = profile_of(kind->space);
        cmsUInt32Number count = 0;
        inside_require(cmsSaveProfileToMem(profile, NULL, &count), "the size of a profile");
        uint8_t *bytes = sample_allocate(count, 1);
        inside_require(cmsSaveProfileToMem(profile, bytes, &count), "a profile");
        cmsCloseProfile(profile);
        bool is_gray = kind->space == cmsSigGrayData, is_cmyk = kind->space == cmsSigCmykData;
        sample_picture picture = sample_of(is_gray ? 4096 : is_cmyk ? 17 * 17 : 33 * 33, is_gray ? 1 : is_cmyk ? 17 * 17 : 33,
            DARKROOM_CODEC_RGB, false, 16);
        picture.header.page = picture.page = kind->page;
        picture.header.pages = 3;
        uint8_t *pixels = expected(kind, &picture.header);
        picture.pixels = pixels;
        picture.tolerance = 1;
        sample_say(kind->name, bytes, count, &picture);
        free(pixels);
        free(bytes);
    }
}
