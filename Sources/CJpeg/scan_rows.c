/* From samples to pixels. */
#include "scan_state.h"

static const uint8_t *row_of(
    const darkroom_jpeg_scan *scan, const darkroom_scan_component *c, int64_t row)
{
    (void)scan;
    row = row < 0 ? 0 : row >= c->height ? (int64_t)c->height - 1 : row;
    return c->samples + (size_t)(row % (DARKROOM_SCAN_RING * (int64_t)c->rows)) * c->stride;
}

/* The samples of a component for row `y` of the picture. */
static const uint8_t *line_of(
    const darkroom_jpeg_scan *scan, const darkroom_scan_component *c, uint32_t y)
{
    const int64_t row = y / c->heightened;
    const uint8_t *near = row_of(scan, c, row);
    if (c->line == NULL)
        return near;
    if (!c->is_smooth) {
        if (c->widened == 1)
            return near;
        darkroom_repeat(near, c->width, c->widened, c->line);
    } else if (c->heightened == 1) {
        darkroom_widen(near, c->width, c->line);
    } else {
        const bool is_upper = y % 2 == 0;
        const uint8_t *far = row_of(scan, c, is_upper ? row - 1 : row + 1);
        if (c->widened == 1)
            darkroom_blend(near, far, is_upper ? 1 : 2, c->width, c->line);
        else
            darkroom_widen_between(near, far, c->width, c->line);
    }
    return c->line;
}

void darkroom_scan_make_row(const darkroom_jpeg_scan *scan, uint32_t y, uint8_t *row)
{
    const uint8_t *lines[DARKROOM_SCAN_COMPONENTS];
    for (unsigned i = 0; i < scan->component_count; i++)
        lines[i] = line_of(scan, &scan->components[i], y);
    if (scan->component_count == 1)
        __builtin_memcpy(row, lines[0], scan->width);
    else if (scan->is_rgb)
        darkroom_rgb_from_planes(lines[0], lines[1], lines[2], scan->width, row);
    else
        darkroom_rgb_from_ycc(lines[0], lines[1], lines[2], scan->width, row);
}
