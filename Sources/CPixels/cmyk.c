/* CMYK as RGB. */
#include "CDarkroomPixels.h"
#include "samples.h"

INLINE void cmyk_loop(
    int depth, int in_channels, const void *in, void *out, size_t pixels, bool holds_light)
{
    const uint64_t most = depth == 8 ? 255 : 65535;
    const uint64_t flip = holds_light ? 0 : most;
    const size_t from = (size_t)in_channels, to = from - 1;
    for (size_t i = 0; i < pixels; i++) {
        /* most - x is x with all its bits changed. */
        const uint64_t black = sample_at(in, i * from + 3, depth) ^ flip;
        for (size_t c = 0; c < 3; c++) {
            const uint64_t light = sample_at(in, i * from + c, depth) ^ flip;
            put_sample(out, i * to + c, depth, (uint32_t)((light * black + most / 2) / most));
        }
        if (in_channels == 5)
            put_sample(out, i * to + 3, depth, sample_at(in, i * from + 4, depth));
    }
}

void darkroom_cmyk_to_rgb(
    const void *in, int in_channels, void *out, size_t pixels, int depth, bool holds_light)
{
    if (in_channels == 5)
        BY_DEPTH(cmyk_loop, depth, 5, in, out, pixels, holds_light);
    else
        BY_DEPTH(cmyk_loop, depth, 4, in, out, pixels, holds_light);
}
