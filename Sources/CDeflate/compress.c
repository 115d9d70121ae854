/* The methods to compress a strip, and the decision which of them are tried. */
#include "CDarkroomDeflate.h"
#include "content.h"
#include "strip_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Strips are this large only if a row is. */
    SEARCHED_BYTES = 1 << 30,
    /* The rest of a picture, for its last strip, may be too small for a search. */
    LEFT_BYTES = 8 << 10,
};

/* The effort of the search for drawings. The brief search only compares seams, and the fast one also samples. */
static const darkroom_search brief_search = {4, 2, 1};
static const darkroom_search fast_search = {32, 2, 1};
static const darkroom_search balanced_search = {64, 6, 0};
static const darkroom_search small_search = {256, 32, 0};

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Filters rows from `pixels` on. Some bytes after their end may be written. */
static void filter(
    const darkroom_strip *strip, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    darkroom_png_choose(
        pixels, strip->stride, strip->row_bytes, strip->pixel_bytes, count, lines);
}

/* Gives rows the filter None. */
static void leave(
    const darkroom_strip *strip, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    for (size_t row = 0; row < count; row++) {
        lines[0] = 0;
        memcpy(lines + 1, pixels, strip->row_bytes);
        lines += line_bytes(strip);
        pixels += strip->stride;
    }
}

/* Creates the trial, which most strips do not need. Returns 0 if there is no memory. */
static int make_trial(darkroom_strip *strip)
{
    if (strip->trial == NULL)
        strip->trial = malloc(strip->chunk_room);
    return strip->trial != NULL;
}

static int make_search(darkroom_strip *strip)
{
    if (strip->search_scratch == NULL)
        strip->search_scratch = malloc(darkroom_deflate_search_scratch());
    if (strip->unfiltered == NULL) {
        uint8_t *memory = malloc(seam_bytes(strip) + strip->room * line_bytes(strip));
        if (memory != NULL)
            strip->unfiltered = memory + seam_bytes(strip);
    }
    return strip->search_scratch != NULL && strip->unfiltered != NULL && make_trial(strip);
}

/* Gives a seam's lines the same filters in both strips: those that make the seam alone shorter. */
static void agree_on_seam(const darkroom_strip *strip, uint8_t *filtered, uint8_t *unfiltered)
{
    const size_t bytes = seam_bytes(strip), sample = bytes / 4;
    void *scratch = strip->search_scratch;
    const size_t with = darkroom_deflate_search(
        filtered, 0, 0, sample, brief_search, scratch, strip->trial);
    const size_t without = darkroom_deflate_search(
        unfiltered, 0, 0, sample, brief_search, scratch, strip->trial);
    /* If there is no difference, as for noise, all seams are treated equally. */
    if (without < with - with / 32)
        memcpy(filtered, unfiltered, bytes);
    else
        memcpy(unfiltered, filtered, bytes);
}

/* Filters the rows, and makes the seams. Returns 0 if there is no memory. */
static int make_lines(darkroom_strip *strip)
{
    if ((strip->has_seam || strip->knows_seam) && !make_search(strip))
        return 0;
    if (strip->knows_seam) {
        const uint8_t *above = pixel_row(strip, 0) - strip->seam_rows * strip->stride;
        uint8_t *filtered = strip->filtered - seam_bytes(strip);
        uint8_t *unfiltered = strip->unfiltered - seam_bytes(strip);
        filter(strip, above, strip->seam_rows, filtered);
        leave(strip, above, strip->seam_rows, unfiltered);
        agree_on_seam(strip, filtered, unfiltered);
    }
    filter(strip, pixel_row(strip, 0), strip->rows, strip->filtered);
    if (strip->has_seam) {
        const size_t row = strip->rows - strip->seam_rows;
        const size_t at = row * line_bytes(strip);
        leave(strip, pixel_row(strip, row), strip->seam_rows, strip->unfiltered + at);
        agree_on_seam(strip, strip->filtered + at, strip->unfiltered + at);
    }
    return 1;
}

/* Makes the lines without filters, except those of a seam. */
static void make_unfiltered(darkroom_strip *strip)
{
    const size_t rows = strip->rows - (strip->has_seam ? strip->seam_rows : 0);
    leave(strip, pixel_row(strip, 0), rows, strip->unfiltered);
}

/* ---- Ways ------------------------------------------------------------------------------------ */

/* Takes the trial of `count` bytes, which was made from these lines, if it is shorter than the present data. */
static void take_shorter(
    darkroom_strip *strip, const uint8_t *lines, size_t count, uint8_t *data, size_t *length)
{
    if (count == 0 || count >= *length)
        return;
    memcpy(data, strip->trial, count);
    *length = count;
    strip->lines = lines;
}

/* Lets libdeflate search for matches. */
static darkroom_strip_result try_libdeflate(
    darkroom_strip *strip, const uint8_t *lines, uint8_t *data, size_t *length)
{
    size_t count;
    const darkroom_strip_result result = darkroom_match(
        &strip->matcher, lines, filtered_bytes(strip), strip->trial, *length, &count);
    if (result == DARKROOM_STRIP_OK)
        take_shorter(strip, lines, count, data, length);
    return result;
}

/* Searches for matches of whole pixels. */
static darkroom_strip_result try_pixels(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (strip->pixel_scratch == NULL)
        strip->pixel_scratch = malloc(darkroom_deflate_pixels_scratch());
    if (strip->pixel_scratch == NULL || !make_trial(strip))
        return DARKROOM_STRIP_MEMORY;
    const size_t count = darkroom_deflate_pixels(
        strip->filtered, line_bytes(strip), strip->rows, strip->pixel_bytes,
        strip->pixel_scratch, strip->trial);
    take_shorter(strip, strip->filtered, count, data, length);
    return DARKROOM_STRIP_OK;
}

/* Searches the lines from one row to another. Returns the size of the trial in bytes. */
static size_t search(
    const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to,
    darkroom_search effort)
{
    const size_t seam = seam_bytes(strip), line = line_bytes(strip);
    return darkroom_deflate_search(
        lines - seam, strip->knows_seam ? 0 : seam, seam + from * line, seam + to * line, effort,
        strip->search_scratch, strip->trial);
}

static void try_search(
    darkroom_strip *strip, const uint8_t *lines, darkroom_search effort, uint8_t *data,
    size_t *length)
{
    take_shorter(strip, lines, search(strip, lines, 0, strip->rows, effort), data, length);
}

/* Searches for matches in a drawing. Repetitions in the pixels need not be repetitions in their differences.
 * Therefore a quarter of the strip decides whether the filters are useful: the middle, where a border is
 * least likely, or the part after a seam, which may repeat only if it is filtered like the seam. A brief
 * search could not decide this: it finds less in unfiltered lines, where more places are similar. */
static darkroom_strip_result try_drawing(
    darkroom_strip *strip, darkroom_search effort, uint8_t *data, size_t *length)
{
    enum { SHARE = 8, HEADERS = 200 };
    const int is_left = !strip->is_first && !strip->knows_seam;
    if (filtered_bytes(strip) > SEARCHED_BYTES
        || (is_left && filtered_bytes(strip) < LEFT_BYTES))
        return DARKROOM_STRIP_OK;
    if (!make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    make_unfiltered(strip);
    const size_t rows = strip->rows, sample = (rows + SHARE - 1) / SHARE;
    size_t from = rows / 2, to = from + sample;
    if (strip->knows_seam) {
        from = 0;
        to = sample;
    } else if (strip->has_seam) {
        from = rows - strip->seam_rows < sample ? 0 : rows - strip->seam_rows - sample;
        to = rows;
    }
    const size_t filtered = search(strip, strip->filtered, from, to, fast_search);
    const size_t unfiltered = search(strip, strip->unfiltered, from, to, fast_search);
    const size_t best = unfiltered < filtered ? unfiltered : filtered;
    /* If the sample finds nothing, the whole finds little, apart from the headers of codes. */
    if (best - best / 16 < *length * (to - from) / rows + HEADERS)
        try_search(
            strip, unfiltered < filtered ? strip->unfiltered : strip->filtered, effort, data,
            length);
    return DARKROOM_STRIP_OK;
}

/* Tries all methods that may give the smallest result, whatever time they take. */
static darkroom_strip_result try_all(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (!make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    make_unfiltered(strip);
    darkroom_strip_result result = DARKROOM_STRIP_OK;
    if (strip->depth == 8 && strip->pixel_bytes >= 3)
        result = try_pixels(strip, data, length);
    if (result == DARKROOM_STRIP_OK)
        result = try_libdeflate(strip, strip->filtered, data, length);
    if (result == DARKROOM_STRIP_OK)
        result = try_libdeflate(strip, strip->unfiltered, data, length);
    /* libdeflate does not know the previous data. */
    if (result == DARKROOM_STRIP_OK && strip->knows_seam) {
        try_search(strip, strip->filtered, small_search, data, length);
        try_search(strip, strip->unfiltered, small_search, data, length);
    }
    return result;
}

/* Tries other methods that may be shorter than the runs of which the chunk's data consist so far. */
static darkroom_strip_result try_more(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    const darkroom_rows plain = {
        pixel_row(strip, 0), strip->row_bytes, strip->stride, strip->rows};
    const darkroom_rows filtered = {
        strip->filtered + 1, strip->row_bytes, line_bytes(strip), strip->rows};
    const int is_fast = strip->effort == DARKROOM_DEFLATE_FAST;
    if (strip->effort == DARKROOM_DEFLATE_SMALL)
        return try_all(strip, data, length);
    switch (darkroom_look(&plain, &filtered, strip->pixel_bytes, strip->depth, *length)) {
    case DARKROOM_PHOTOGRAPHED:
        return DARKROOM_STRIP_OK;
    case DARKROOM_TONED:
        return is_fast ? DARKROOM_STRIP_OK : try_pixels(strip, data, length);
    case DARKROOM_DRAWN:
        break;
    }
    return try_drawing(strip, is_fast ? fast_search : balanced_search, data, length);
}

darkroom_strip_result darkroom_strip_compress(
    darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (!make_lines(strip))
        return DARKROOM_STRIP_MEMORY;
    strip->lines = strip->filtered;
    *length = darkroom_deflate_runs(strip->filtered, filtered_bytes(strip), strip->scratch, data);
    const darkroom_strip_result result = try_more(strip, data, length);
    /* Only now it is known which lines are used, because the shortest method was chosen. */
    strip->adler = darkroom_adler32(1, strip->lines, filtered_bytes(strip));
    return result;
}
