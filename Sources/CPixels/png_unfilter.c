#include "darkroom_cpu.h"
#include "darkroom_unfilter.h"
#include "png_unfilter.h"
#include "samples.h"

/* ---- Row by row, in plain C ------------------------------------------------------------------ */

INLINE void undo_row(
    int filter, const uint8_t *in, const uint8_t *above, uint8_t *out, size_t count, size_t pixel,
    size_t flip)
{
    /* Byte i of the output is byte i ^ flip of the file. */
    for (size_t i = 0; i < count; i++) {
        const uint8_t left = i >= pixel ? out[i - pixel] : 0;
        const uint8_t corner = i >= pixel ? above[i - pixel] : 0;
        uint8_t guess = 0;
        switch (filter) {
        case SUB: guess = left; break;
        case UP: guess = above[i]; break;
        case AVERAGE: guess = (uint8_t)((left + above[i]) >> 1); break;
        case PAETH: guess = paeth_of(left, above[i], corner); break;
        default: break;
        }
        out[i] = (uint8_t)(in[i ^ flip] + guess);
    }
}

INLINE void undo_rows(
    const uint8_t *filtered, size_t rows, size_t row_bytes, size_t pixel, size_t flip,
    const uint8_t *above, uint8_t *out)
{
    for (size_t k = 0; k < rows; k++) {
        const uint8_t *in = filtered + 1;
        switch (filtered[0]) {
        case SUB: undo_row(SUB, in, above, out, row_bytes, pixel, flip); break;
        case UP: undo_row(UP, in, above, out, row_bytes, pixel, flip); break;
        case AVERAGE: undo_row(AVERAGE, in, above, out, row_bytes, pixel, flip); break;
        case PAETH: undo_row(PAETH, in, above, out, row_bytes, pixel, flip); break;
        default: undo_row(NONE, in, above, out, row_bytes, pixel, flip); break;
        }
        filtered += row_bytes + 1;
        above = out;
        out += row_bytes;
    }
}

/* If `pixel` and `flip` are constants, the compiler makes loops without branches. */
static void undo_plainly(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, bool swaps,
    const uint8_t *above, uint8_t *out)
{
    switch (pixel_bytes * 2 + swaps) {
    case 2: undo_rows(filtered, rows, row_bytes, 1, 0, above, out); break;
    case 4: undo_rows(filtered, rows, row_bytes, 2, 0, above, out); break;
    case 5: undo_rows(filtered, rows, row_bytes, 2, 1, above, out); break;
    case 6: undo_rows(filtered, rows, row_bytes, 3, 0, above, out); break;
    case 8: undo_rows(filtered, rows, row_bytes, 4, 0, above, out); break;
    default:
        undo_rows(filtered, rows, row_bytes, (size_t)pixel_bytes, swaps ? 1 : 0, above, out);
        break;
    }
}

size_t darkroom_unfilter(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, int swaps,
    const uint8_t *above, uint8_t *out)
{
    size_t known = 0;
    while (known < rows && filtered[known * (row_bytes + 1)] < FILTERS)
        known++;
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        darkroom_undo_in_waves(filtered, known, row_bytes, pixel_bytes, swaps != 0, above, out);
        return known;
    }
#endif
    undo_plainly(filtered, known, row_bytes, pixel_bytes, swaps != 0, above, out);
    return known;
}
