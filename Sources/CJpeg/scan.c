#include "scan_state.h"

#include <stdlib.h>

enum { ROWS_AT_A_TIME = 64 /* of MCUs, between two chances to stop */ };

/* Gets the memory for all coefficients. */
static bool hold(darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture)
{
    bool needs_rest[DARKROOM_SCAN_COMPONENTS] = {false};
    for (unsigned i = 0; i < scan->component_count; i++)
        needs_rest[i] = !scan->components[i].has_means_only;
    scan->whole = darkroom_jpeg_whole_new(picture, needs_rest, &scan->entropy.window);
    return scan->whole != NULL;
}

darkroom_jpeg_scan *darkroom_jpeg_scan_new(
    const darkroom_jpeg_picture *picture, darkroom_jpeg_source source, void *context)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(darkroom_jpeg_scan)) != 0)
        return NULL;
    darkroom_jpeg_scan *scan = memory;
    scan->memory = NULL;
    scan->whole = NULL;
    for (unsigned i = 0; i < DARKROOM_SCAN_COMPONENTS; i++)
        scan->codes[i] = NULL;
    if (!darkroom_jpeg_scan_plan(scan, picture) || (picture->is_whole && !hold(scan, picture))
        || !darkroom_jpeg_scan_allocate(scan)) {
        darkroom_jpeg_scan_free(scan);
        return NULL;
    }
    darkroom_jpeg_window_start(&scan->entropy.window, source, context);
    if (scan->whole != NULL)
        darkroom_jpeg_reading_start(scan->whole);
    else
        darkroom_jpeg_entropy_start(&scan->entropy);
    return scan;
}

void darkroom_jpeg_scan_free(darkroom_jpeg_scan *scan)
{
    if (scan == NULL)
        return;
    darkroom_jpeg_whole_free(scan->whole);
    for (unsigned i = 0; i < DARKROOM_SCAN_COMPONENTS; i++)
        darkroom_jpeg_kept_codes_return(scan->codes[i]);
    free(scan->memory);
    free(scan);
}

uint32_t darkroom_jpeg_scan_width(const darkroom_jpeg_scan *scan, unsigned view)
{
    return scan->views[view].width;
}

uint32_t darkroom_jpeg_scan_height(const darkroom_jpeg_scan *scan, unsigned view)
{
    return scan->views[view].height;
}

uint32_t darkroom_jpeg_scan_step_rows(const darkroom_jpeg_scan *scan, unsigned view)
{
    return scan->views[view].rows_at_a_time;
}

uint32_t darkroom_jpeg_scan_given(const darkroom_jpeg_scan *scan) { return scan->given; }

bool darkroom_jpeg_scan_absorb(darkroom_jpeg_scan *scan, bool *is_complete)
{
    darkroom_jpeg_whole *whole = scan->whole;
    for (unsigned i = 0; i < ROWS_AT_A_TIME && whole != NULL && !whole->is_complete; i++)
        if (!darkroom_jpeg_whole_step(whole)) {
            scan->is_doubtful = true;
            return false;
        }
    *is_complete = whole == NULL || whole->is_complete;
    return true;
}

/* Decodes a row of MCUs and the next one, which its last rows of pixels need. Returns false on doubt. */
static bool decode_around(darkroom_jpeg_scan *scan, uint32_t row)
{
    const uint32_t needed = row + 2 < scan->mcu_rows ? row + 2 : scan->mcu_rows;
    while (!scan->is_doubtful && scan->decoded < needed)
        scan->is_doubtful = !darkroom_jpeg_scan_decode(scan);
    return !scan->is_doubtful;
}

uint32_t darkroom_jpeg_scan_rows(darkroom_jpeg_scan *scan, uint8_t *rows, uint32_t count)
{
    const darkroom_jpeg_scan_view *view = &scan->views[0];
    const size_t row_bytes = (size_t)view->width * scan->component_count;
    uint32_t written = 0;
    for (; written < count && scan->given < view->height; written++) {
        if (!decode_around(scan, scan->given / view->rows_at_a_time))
            break;
        darkroom_jpeg_scan_make_row(scan, view, scan->given, rows + written * row_bytes);
        scan->given++;
    }
    return written;
}

bool darkroom_jpeg_scan_step(
    darkroom_jpeg_scan *scan, uint8_t *const rows[DARKROOM_JPEG_VIEWS],
    uint32_t counts[DARKROOM_JPEG_VIEWS])
{
    for (unsigned v = 0; v < scan->view_count; v++)
        counts[v] = 0;
    if (scan->stepped == scan->mcu_rows)
        return true;
    if (!decode_around(scan, scan->stepped))
        return false;
    for (unsigned v = 0; v < scan->view_count; v++) {
        const darkroom_jpeg_scan_view *view = &scan->views[v];
        const size_t row_bytes = (size_t)view->width * scan->component_count;
        const uint32_t first = scan->stepped * view->rows_at_a_time;
        for (; counts[v] < view->rows_at_a_time && first + counts[v] < view->height; counts[v]++)
            darkroom_jpeg_scan_make_row(
                scan, view, first + counts[v], rows[v] + counts[v] * row_bytes);
    }
    scan->stepped++;
    return true;
}

bool darkroom_jpeg_scan_has_surplus(darkroom_jpeg_scan *scan)
{
    return darkroom_jpeg_window_has_surplus(&scan->entropy.window);
}
