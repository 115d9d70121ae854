/* The methods to compress a strip, and the decision which of them are tried. */
#include "CDarkroomDeflate.h"
#include "codes.h"
#include "content.h"
#include "strip_state.h"

#include <stdlib.h>
#include <string.h>

/* PNG's row filters. */
enum { NONE, SUB, UP, AVERAGE };

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
/* In smooth lines a short match is worth little, and a good one is among the first of its chain. */
static const darkroom_search smooth_search = {4, 1, 1};

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Filters rows from `pixels` on. Some bytes after their end may be written. */
static void filter(
    const darkroom_strip *strip, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    darkroom_png_choose(
        pixels, strip->stride, strip->row_bytes, strip->pixel_bytes, count, lines);
}

/* Gives rows the same filter. Some bytes after their end may be written. */
static void apply(
    const darkroom_strip *strip, int filter, const uint8_t *pixels, size_t count, uint8_t *lines)
{
    darkroom_png_apply(
        pixels, strip->stride, strip->row_bytes, strip->pixel_bytes, count, filter, lines);
}

/* Creates the trial, which most strips do not need. Returns 0 if there is no memory. */
static int make_trial(darkroom_strip *strip)
{
    if (strip->trial == NULL)
        strip->trial = malloc(strip->chunk_room);
    return strip->trial != NULL;
}

static int make_uniform_room(darkroom_strip *strip)
{
    if (strip->uniform == NULL) {
        uint8_t *memory = malloc(
            seam_bytes(strip) + strip->room * line_bytes(strip) + DARKROOM_PNG_OVERHANG);
        if (memory != NULL)
            strip->uniform = memory + seam_bytes(strip);
    }
    return strip->uniform != NULL;
}

static int make_pixels(darkroom_strip *strip)
{
    if (strip->pixel_scratch == NULL)
        strip->pixel_scratch = malloc(darkroom_deflate_pixels_scratch());
    return strip->pixel_scratch != NULL && make_trial(strip);
}

static int make_search(darkroom_strip *strip)
{
    if (strip->search_scratch == NULL)
        strip->search_scratch = malloc(darkroom_deflate_search_scratch());
    return strip->search_scratch != NULL && make_uniform_room(strip) && make_trial(strip);
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
        uint8_t *unfiltered = strip->uniform - seam_bytes(strip);
        filter(strip, above, strip->seam_rows, filtered);
        apply(strip, NONE, above, strip->seam_rows, unfiltered);
        agree_on_seam(strip, filtered, unfiltered);
    }
    filter(strip, pixel_row(strip, 0), strip->rows, strip->filtered);
    if (strip->has_seam) {
        const size_t row = strip->rows - strip->seam_rows;
        const size_t at = row * line_bytes(strip);
        apply(strip, NONE, pixel_row(strip, row), strip->seam_rows, strip->uniform + at);
        agree_on_seam(strip, strip->filtered + at, strip->uniform + at);
    }
    return 1;
}

/* Gives the rows from one to another the same filter. */
static void make_uniform_part(darkroom_strip *strip, int filter, size_t from, size_t to)
{
    apply(
        strip, filter, pixel_row(strip, from), to - from,
        strip->uniform + from * line_bytes(strip));
}

/* Makes the lines with one filter, except those of a seam. */
static void make_uniform(darkroom_strip *strip, int filter)
{
    make_uniform_part(strip, filter, 0, strip->rows);
    if (strip->has_seam) {
        const size_t at = (strip->rows - strip->seam_rows) * line_bytes(strip);
        memcpy(strip->uniform + at, strip->filtered + at, seam_bytes(strip));
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A part of a strip that stands for the whole. */
typedef struct {
    size_t from, to; /* rows */
} part;

enum { PARTS = 2 };

/* A share of the strip's rows in two places, so that there is something of both halves. */
static void choose_parts(const darkroom_strip *strip, size_t share, part parts[PARTS])
{
    const size_t rows = strip->rows, taken = (rows + PARTS * share - 1) / (PARTS * share);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].from = rows * (1 + 2 * i) / (2 * PARTS);
        parts[i].to = rows - parts[i].from < taken ? rows : parts[i].from + taken;
    }
}

/* How many bytes each method needs for the rows from one to another of these lines. Matches may begin before
 * them, as they would if the whole were compressed. */
typedef size_t method(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to);

static size_t as_runs(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    const size_t line = line_bytes(strip);
    return darkroom_deflate_runs(
        lines + from * line, (to - from) * line, strip->scratch, strip->trial);
}

static size_t as_pixels(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    return darkroom_deflate_pixels(
        lines, line_bytes(strip), from, to, strip->pixel_bytes, strip->pixel_scratch, strip->trial);
}

static size_t as_smooth(const darkroom_strip *strip, const uint8_t *lines, size_t from, size_t to)
{
    const size_t line = line_bytes(strip);
    return darkroom_deflate_search(
        lines, 0, from * line, to * line, smooth_search, strip->search_scratch, strip->trial);
}

static size_t sum_of_parts(
    const darkroom_strip *strip, const uint8_t *lines, const part parts[PARTS], method *size)
{
    size_t sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += size(strip, lines, parts[i].from, parts[i].to);
    return sum;
}

/* The one of several filters with which the parts are smallest if all rows have it. `*least` is their size. */
static int best_filter(
    darkroom_strip *strip, const part parts[PARTS], const int *filters, size_t count, method *size,
    size_t *least)
{
    const size_t before = (WINDOW + line_bytes(strip) - 1) / line_bytes(strip);
    int best = NONE;
    *least = SIZE_MAX;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < PARTS; i++)
            make_uniform_part(
                strip, filters[k], parts[i].from < before ? 0 : parts[i].from - before,
                parts[i].to);
        const size_t sum = sum_of_parts(strip, strip->uniform, parts, size);
        if (sum < *least) {
            *least = sum;
            best = filters[k];
        }
    }
    return best;
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
static void try_pixels(
    darkroom_strip *strip, const uint8_t *lines, uint8_t *data, size_t *length)
{
    take_shorter(strip, lines, as_pixels(strip, lines, 0, strip->rows), data, length);
}

/* The lines of a toned strip with which it is smallest. Its pixels often repeat more than their differences;
 * then none of the filters is best. Parts of the strip decide. `*least` is their size. NULL if there is no
 * memory. */
static const uint8_t *choose_toned(darkroom_strip *strip, const part parts[PARTS], size_t *least)
{
    static const int filters[] = {NONE, UP};
    if (!make_pixels(strip) || !make_uniform_room(strip))
        return NULL;
    const size_t chosen = sum_of_parts(strip, strip->filtered, parts, as_pixels);
    size_t best;
    const int filter =
        best_filter(strip, parts, filters, sizeof filters / sizeof *filters, as_pixels, &best);
    *least = best < chosen ? best : chosen;
    if (best >= chosen)
        return strip->filtered;
    make_uniform(strip, filter);
    return strip->uniform;
}

enum { TONED_SHARE = 32 };

/* Searches a toned strip for matches of whole pixels. */
static darkroom_strip_result try_toned(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    const uint8_t *lines = strip->filtered;
    /* The lines of a seam have other filters. */
    if (!strip->knows_seam && !strip->has_seam) {
        part parts[PARTS];
        size_t least;
        choose_parts(strip, TONED_SHARE, parts);
        lines = choose_toned(strip, parts, &least);
    } else if (!make_pixels(strip)) {
        lines = NULL;
    }
    if (lines == NULL)
        return DARKROOM_STRIP_MEMORY;
    try_pixels(strip, lines, data, length);
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

/*
 * Searches for matches in a smooth strip. Paeth's filter leaves the smallest differences, but it changes its
 * mind from byte to byte. The other filters are linear: where a picture's slope repeats, so do their
 * differences. One of them for all rows makes a quick search better than a long one of the chosen filters.
 * Parts of the strip show which one is best, and whether a search pays at all. Returns 0 if the strip is to
 * be treated as a drawing instead: if it repeats so much that a longer search is quick, or if the chosen
 * filters are better.
 */
static int try_smooth(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    enum { SHARE = 16 };
    static const int filters[] = {SUB, UP, AVERAGE};
    part parts[PARTS];
    choose_parts(strip, SHARE, parts);
    const size_t runs = sum_of_parts(strip, strip->filtered, parts, as_runs);
    const size_t chosen = sum_of_parts(strip, strip->filtered, parts, as_smooth);
    if (chosen < runs * 2 / 3)
        return 0;
    size_t best;
    const int filter =
        best_filter(strip, parts, filters, sizeof filters / sizeof *filters, as_smooth, &best);
    if (best >= runs && chosen >= runs)
        return 1;
    if (chosen <= best || best < runs * 2 / 3)
        return 0;
    make_uniform(strip, filter);
    take_shorter(
        strip, strip->uniform, as_smooth(strip, strip->uniform, 0, strip->rows), data, length);
    return 1;
}

/* Searches for matches in a drawing. Repetitions in the pixels need not be repetitions in their differences.
 * Therefore a quarter of the strip decides whether the filters are useful: the middle, where a border is
 * least likely, or the part after a seam, which may repeat only if it is filtered like the seam. A brief
 * search could not decide this: it finds less in unfiltered lines, where more places are similar. */
static darkroom_strip_result try_drawing(
    darkroom_strip *strip, int is_smooth, darkroom_search effort, uint8_t *data, size_t *length)
{
    enum { SHARE = 8, HEADERS = 200 };
    const int is_left = !strip->is_first && !strip->knows_seam;
    if (filtered_bytes(strip) > SEARCHED_BYTES
        || (is_left && filtered_bytes(strip) < LEFT_BYTES))
        return DARKROOM_STRIP_OK;
    if (!make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    /* The lines of a seam have other filters. */
    const int may_be_smooth = !strip->knows_seam && !strip->has_seam;
    if (is_smooth && may_be_smooth && try_smooth(strip, data, length))
        return DARKROOM_STRIP_OK;
    make_uniform(strip, NONE);
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
    const size_t unfiltered = search(strip, strip->uniform, from, to, fast_search);
    /* A smooth drawing. */
    if (!is_smooth && may_be_smooth && unfiltered > filtered + filtered / 2
        && try_smooth(strip, data, length))
        return DARKROOM_STRIP_OK;
    const size_t best = unfiltered < filtered ? unfiltered : filtered;
    /* If the sample finds nothing, the whole finds little, apart from the headers of codes. */
    if (best - best / 16 < *length * (to - from) / rows + HEADERS)
        try_search(
            strip, unfiltered < filtered ? strip->uniform : strip->filtered, effort, data,
            length);
    return DARKROOM_STRIP_OK;
}

/* Tries all methods that may give the smallest result, whatever time they take. */
static darkroom_strip_result try_all(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (!make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    make_uniform(strip, NONE);
    if (strip->depth == 8 && strip->pixel_bytes >= 3) {
        if (!make_pixels(strip))
            return DARKROOM_STRIP_MEMORY;
        try_pixels(strip, strip->filtered, data, length);
        try_pixels(strip, strip->uniform, data, length);
    }
    darkroom_strip_result result = try_libdeflate(strip, strip->filtered, data, length);
    if (result == DARKROOM_STRIP_OK)
        result = try_libdeflate(strip, strip->uniform, data, length);
    /* libdeflate does not know the previous data. */
    if (result == DARKROOM_STRIP_OK && strip->knows_seam) {
        try_search(strip, strip->filtered, small_search, data, length);
        try_search(strip, strip->uniform, small_search, data, length);
    }
    return result;
}

/* The rows as they are, and as they are filtered. */
static darkroom_rows plain_rows(const darkroom_strip *strip)
{
    return (darkroom_rows){pixel_row(strip, 0), strip->row_bytes, strip->stride, strip->rows};
}

static darkroom_rows filtered_rows(const darkroom_strip *strip)
{
    return (darkroom_rows){
        strip->filtered + 1, strip->row_bytes, line_bytes(strip), strip->rows};
}

/*
 * Compresses a strip that is certainly toned, by its parts, without the runs of the whole, which would not be
 * used. Sets `*length` to 0 if it is not certain. The parts give the methods' sizes within a few per cent.
 */
static darkroom_strip_result compress_toned(
    darkroom_strip *strip, darkroom_foresight seen, uint8_t *data, size_t *length)
{
    enum { LEAST_PART_BYTES = 2 << 10 };
    part parts[PARTS];
    *length = 0;
    if (strip->effort != DARKROOM_DEFLATE_BALANCED || strip->knows_seam || strip->has_seam
        || !darkroom_may_be_toned(seen))
        return DARKROOM_STRIP_OK;
    choose_parts(strip, TONED_SHARE, parts);
    const size_t rows = parts[0].to - parts[0].from + parts[1].to - parts[1].from;
    if (rows * line_bytes(strip) < PARTS * LEAST_PART_BYTES)
        return DARKROOM_STRIP_OK;
    if (!make_pixels(strip))
        return DARKROOM_STRIP_MEMORY;
    const darkroom_rows plain = plain_rows(strip), filtered = filtered_rows(strip);
    const size_t runs = sum_of_parts(strip, strip->filtered, parts, as_runs);
    const size_t expected = runs * strip->rows / rows;
    if (darkroom_look(&plain, &filtered, strip->pixel_bytes, seen, expected) != DARKROOM_TONED)
        return DARKROOM_STRIP_OK;
    size_t least;
    const uint8_t *lines = choose_toned(strip, parts, &least);
    if (lines == NULL)
        return DARKROOM_STRIP_MEMORY;
    if (least > runs - runs / 16)
        return DARKROOM_STRIP_OK;
    const size_t count = as_pixels(strip, lines, 0, strip->rows);
    if (count > expected)
        return DARKROOM_STRIP_OK;
    *length = SIZE_MAX;
    take_shorter(strip, lines, count, data, length);
    return DARKROOM_STRIP_OK;
}

/* Tries other methods that may be shorter than the runs of which the chunk's data consist so far. */
static darkroom_strip_result try_more(
    darkroom_strip *strip, darkroom_foresight seen, uint8_t *data, size_t *length)
{
    const darkroom_rows plain = plain_rows(strip), filtered = filtered_rows(strip);
    const int is_fast = strip->effort == DARKROOM_DEFLATE_FAST;
    if (strip->effort == DARKROOM_DEFLATE_SMALL)
        return try_all(strip, data, length);
    const darkroom_content content =
        darkroom_look(&plain, &filtered, strip->pixel_bytes, seen, *length);
    switch (content) {
    case DARKROOM_PHOTOGRAPHED:
        return DARKROOM_STRIP_OK;
    case DARKROOM_TONED:
        return is_fast ? DARKROOM_STRIP_OK : try_toned(strip, data, length);
    case DARKROOM_SMOOTH:
    case DARKROOM_DRAWN:
        break;
    }
    return try_drawing(
        strip, content == DARKROOM_SMOOTH, is_fast ? fast_search : balanced_search, data, length);
}

darkroom_strip_result darkroom_strip_compress(
    darkroom_strip *strip, uint8_t *data, size_t *length)
{
    if (!make_lines(strip))
        return DARKROOM_STRIP_MEMORY;
    const darkroom_rows plain = plain_rows(strip), filtered = filtered_rows(strip);
    const darkroom_foresight seen =
        darkroom_foresee(&plain, &filtered, strip->pixel_bytes, strip->depth);
    darkroom_strip_result result = compress_toned(strip, seen, data, length);
    if (result == DARKROOM_STRIP_OK && *length == 0) {
        strip->lines = strip->filtered;
        *length = darkroom_deflate_runs(
            strip->filtered, filtered_bytes(strip), strip->scratch, data);
        result = try_more(strip, seen, data, length);
    }
    /* Only now it is known which lines are used, because the shortest method was chosen. */
    strip->adler = darkroom_adler32(1, strip->lines, filtered_bytes(strip));
    return result;
}
