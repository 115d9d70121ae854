/* Parts of a strip, which show what a method makes of the whole. */
#include "parts.h"

#include "codes.h"
#include "lines.h"

/* In smooth lines a short match is worth little, and a good one is among the first of its chain. */
static const darkroom_search smooth_search = {4, 1, 1};

void darkroom_choose_parts(const darkroom_strip *strip, size_t share, darkroom_part parts[PARTS])
{
    const size_t rows = strip->rows, taken = (rows + PARTS * share - 1) / (PARTS * share);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].from = rows * (1 + 2 * i) / (2 * PARTS);
        parts[i].to = rows - parts[i].from < taken ? rows : parts[i].from + taken;
    }
}

size_t darkroom_as_runs(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    const size_t line = line_bytes(strip);
    return darkroom_deflate_runs(
        lines + from * line, (to - from) * line, strip->scratch, strip->trial);
}

size_t darkroom_as_long_runs(
    const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    const size_t line = line_bytes(strip);
    return darkroom_deflate_long_runs(
        lines + from * line, (to - from) * line, strip->scratch, strip->trial);
}

size_t darkroom_as_pixels(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    return darkroom_deflate_pixels(
        lines, line_bytes(strip), from, to, strip->pixel_bytes, strip->pixel_scratch, strip->trial);
}

size_t darkroom_as_smooth(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    const size_t line = line_bytes(strip);
    return darkroom_deflate_search(
        lines, 0, from * line, to * line, smooth_search, strip->search_scratch, strip->trial);
}

size_t darkroom_as_smooth_nearby(
    const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    /* To enter the places of a whole window would take longer than to search the rows. */
    enum { NEARBY = WINDOW / 2 };
    const size_t line = line_bytes(strip), start = from * line;
    return darkroom_deflate_search(
        lines, start < NEARBY ? 0 : start - NEARBY, start, to * line, smooth_search,
        strip->search_scratch, strip->trial);
}

size_t darkroom_sum_of_parts(
    const darkroom_strip *strip, const uint8_t *lines, const darkroom_part parts[PARTS],
    darkroom_method *size)
{
    size_t sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += size(strip, lines, parts[i].from, parts[i].to);
    return sum;
}

int darkroom_best_filter(
    darkroom_strip *strip, const darkroom_part parts[PARTS], const int *filters, size_t count,
    darkroom_method *size, size_t *least)
{
    const size_t before = (WINDOW + line_bytes(strip) - 1) / line_bytes(strip);
    int best = NONE;
    *least = SIZE_MAX;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < PARTS; i++)
            darkroom_make_uniform_part(
                strip, filters[k], parts[i].from < before ? 0 : parts[i].from - before,
                parts[i].to);
        const size_t sum = darkroom_sum_of_parts(strip, strip->uniform, parts, size);
        if (sum < *least) {
            *least = sum;
            best = filters[k];
        }
    }
    return best;
}
