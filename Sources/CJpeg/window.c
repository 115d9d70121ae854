#include "window.h"

#include <string.h>

void darkroom_jpeg_window_start(darkroom_jpeg_window *window, darkroom_jpeg_source source, void *context)
{
    window->source = source;
    window->context = context;
    window->raw_count = 0;
    window->count = 0;
    window->is_closed = window->is_broken = false;
}

bool darkroom_jpeg_window_take(darkroom_jpeg_window *window, uint8_t *byte)
{
    if (window->raw_count == 0)
        window->raw_count = window->source(window->context, &window->raw);
    if (window->raw_count == 0) {
        window->is_broken = window->is_closed = true;
        window->marker = 0;
        return false;
    }
    *byte = *window->raw++;
    window->raw_count--;
    return true;
}

/* Copies bytes up to the next FF, as many as there is room for. */
static void copy_plain(darkroom_jpeg_window *window)
{
    const size_t room = DARKROOM_WINDOW_BYTES - window->count;
    size_t count = window->raw_count < room ? window->raw_count : room;
    const uint8_t *found = memchr(window->raw, 0xff, count);
    if (found != NULL)
        count = (size_t)(found - window->raw);
    memcpy(window->bytes + window->count, window->raw, count);
    window->count += count;
    window->raw += count;
    window->raw_count -= count;
}

void darkroom_jpeg_window_fill(darkroom_jpeg_window *window, size_t used)
{
    memmove(window->bytes, window->bytes + used, window->count - used);
    window->count -= used;
    while (!window->is_closed && window->count < DARKROOM_WINDOW_BYTES) {
        uint8_t byte = 0, next = 0;
        copy_plain(window);
        if (window->count == DARKROOM_WINDOW_BYTES || !darkroom_jpeg_window_take(window, &byte))
            break;
        /* It is FF, or the first byte of the source's next ones. */
        if (byte != 0xff) {
            window->bytes[window->count++] = byte;
        } else if (darkroom_jpeg_window_take(window, &next)) {
            if (next == 0) {
                window->bytes[window->count++] = 0xff;
            } else {
                window->is_closed = true;
                window->is_broken = next == 0xff;
                window->marker = next;
            }
        }
    }
    memset(window->bytes + window->count, 0, DARKROOM_WINDOW_PADDING);
}

void darkroom_jpeg_window_next(darkroom_jpeg_window *window)
{
    window->count = 0;
    window->is_closed = window->is_broken;
}

bool darkroom_jpeg_window_has_surplus(darkroom_jpeg_window *window)
{
    if (window->raw_count == 0)
        window->raw_count = window->source(window->context, &window->raw);
    return window->raw_count > 0;
}
