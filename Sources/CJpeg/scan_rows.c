/* From samples to pixels. */
#include "scan_state.h"

#include <string.h>

/* A row of samples, or the nearest one that there is. */
static const uint8_t *row_of(const darkroom_jpeg_scan_plane *c, int64_t row)
{
    row = row < 0 ? 0 : row >= c->height ? (int64_t)c->height - 1 : row;
    return c->samples + (size_t)(row % (DARKROOM_SCAN_RING * (int64_t)c->rows)) * c->stride;
}

/* The samples of a component for row `y` of the picture. */
static const uint8_t *line_of(const darkroom_jpeg_scan_plane *c, uint32_t y)
{
    const int64_t row = y / c->heightened;
    const uint8_t *near = row_of(c, row);
    if (c->line == NULL)
        return near;
    if (!c->is_smooth) {
        if (c->widened == 1)
            return near;
        darkroom_jpeg_repeat(near, c->width, c->widened, c->line);
    } else if (c->heightened == 1) {
        darkroom_jpeg_widen(near, c->width, c->line);
    } else {
        const bool is_upper = y % 2 == 0;
        const uint8_t *far = row_of(c, is_upper ? row - 1 : row + 1);
        if (c->widened == 1)
            darkroom_jpeg_blend(near, far, is_upper ? 1 : 2, c->width, c->line);
        else
            darkroom_jpeg_widen_between(near, far, c->width, c->line);
    }
    return c->line;
}

void darkroom_jpeg_scan_make_row(
    const darkroom_jpeg_scan *scan, const darkroom_jpeg_scan_view *view, uint32_t y, uint8_t *row)
{
    const uint8_t *lines[DARKROOM_SCAN_COMPONENTS];
    for (unsigned i = 0; i < scan->component_count; i++)
        lines[i] = line_of(&view->planes[i], y);
    if (scan->component_count == 1)
        memcpy(row, lines[0], view->width);
    else if (scan->is_rgb)
        darkroom_jpeg_rgb_from_planes(lines[0], lines[1], lines[2], view->width, row);
    else
        darkroom_jpeg_rgb_from_ycc(lines[0], lines[1], lines[2], view->width, row);
}
