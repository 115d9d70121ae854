#include "scan_state.h"

#include <stdlib.h>

darkroom_jpeg_scan *darkroom_jpeg_scan_new(
    const darkroom_jpeg_picture *picture, darkroom_jpeg_source source, void *context)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(darkroom_jpeg_scan)) != 0)
        return NULL;
    darkroom_jpeg_scan *scan = memory;
    scan->memory = NULL;
    if (!darkroom_jpeg_scan_plan(scan, picture) || !darkroom_jpeg_scan_allocate(scan)) {
        darkroom_jpeg_scan_free(scan);
        return NULL;
    }
    darkroom_jpeg_window_start(&scan->entropy.window, source, context);
    darkroom_jpeg_entropy_start(&scan->entropy);
    return scan;
}

void darkroom_jpeg_scan_free(darkroom_jpeg_scan *scan)
{
    if (scan == NULL)
        return;
    free(scan->memory);
    free(scan);
}

uint32_t darkroom_jpeg_scan_width(const darkroom_jpeg_scan *scan) { return scan->width; }
uint32_t darkroom_jpeg_scan_height(const darkroom_jpeg_scan *scan) { return scan->height; }
uint32_t darkroom_jpeg_scan_given(const darkroom_jpeg_scan *scan) { return scan->given; }

uint32_t darkroom_jpeg_scan_rows(darkroom_jpeg_scan *scan, uint8_t *rows, uint32_t count)
{
    const size_t row_bytes = (size_t)scan->width * scan->component_count;
    uint32_t written = 0;
    for (; written < count && scan->given < scan->height; written++) {
        const uint32_t row = scan->given / scan->rows_at_a_time;
        const uint32_t needed = row + 2 < scan->mcu_rows ? row + 2 : scan->mcu_rows;
        while (!scan->is_doubtful && scan->decoded < needed)
            scan->is_doubtful = !darkroom_jpeg_scan_decode(scan);
        if (scan->is_doubtful)
            break;
        darkroom_jpeg_scan_make_row(scan, scan->given, rows + written * row_bytes);
        scan->given++;
    }
    return written;
}

bool darkroom_jpeg_scan_has_surplus(darkroom_jpeg_scan *scan)
{
    return darkroom_jpeg_window_has_surplus(&scan->entropy.window);
}
