/* The methods to compress a strip, and the decision which of them are tried. */
#include "CDarkroomDeflate.h"
#include "content.h"
#include "lines.h"
#include "parts.h"
#include "strip_state.h"

#include <string.h>

enum {
    /* Strips are this large only if a row is. */
    SEARCHED_BYTES = 1 << 30,
    /* The rest of a picture, for its last strip, may be too small for a search. */
    LEFT_BYTES = 8 << 10,
};

/* The effort of the search for drawings. The fast one also decides whether the filters are useful. */
static const darkroom_search fast_search = {32, 2, 1};
static const darkroom_search balanced_search = {64, 6, 0};
static const darkroom_search small_search = {256, 32, 0};

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
    take_shorter(strip, lines, darkroom_as_pixels(strip, lines, 0, strip->rows), data, length);
}

/* The lines of a toned strip with which it is smallest. Its pixels often repeat more than their differences;
 * then none of the filters is best. Parts of the strip decide. `*least` is their size. NULL if there is no
 * memory. */
static const uint8_t *choose_toned(
    darkroom_strip *strip, const darkroom_part parts[PARTS], size_t *least)
{
    static const int filters[] = {NONE, UP};
    if (!darkroom_make_pixels(strip) || !darkroom_make_uniform_room(strip))
        return NULL;
    const size_t chosen = darkroom_sum_of_parts(strip, strip->filtered, parts, darkroom_as_pixels);
    size_t best;
    const int filter = darkroom_best_filter(
        strip, parts, filters, sizeof filters / sizeof *filters, darkroom_as_pixels, &best);
    *least = best < chosen ? best : chosen;
    if (best >= chosen)
        return strip->filtered;
    darkroom_make_uniform(strip, filter);
    return strip->uniform;
}

enum { TONED_SHARE = 32 };

/* Searches a toned strip for matches of whole pixels. */
static darkroom_strip_result try_toned(darkroom_strip *strip, uint8_t *data, size_t *length)
{
    const uint8_t *lines = strip->filtered;
    /* The lines of a seam have other filters. */
    if (!strip->knows_seam && !strip->has_seam) {
        darkroom_part parts[PARTS];
        size_t least;
        darkroom_choose_parts(strip, TONED_SHARE, parts);
        lines = choose_toned(strip, parts, &least);
    } else if (!darkroom_make_pixels(strip)) {
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
    darkroom_part parts[PARTS];
    darkroom_choose_parts(strip, SHARE, parts);
    const size_t runs = darkroom_sum_of_parts(strip, strip->filtered, parts, darkroom_as_runs);
    const size_t chosen = darkroom_sum_of_parts(strip, strip->filtered, parts, darkroom_as_smooth);
    if (chosen < runs * 2 / 3)
        return 0;
    size_t best;
    const int filter = darkroom_best_filter(
        strip, parts, filters, sizeof filters / sizeof *filters, darkroom_as_smooth, &best);
    if (best >= runs && chosen >= runs)
        return 1;
    if (chosen <= best || best < runs * 2 / 3)
        return 0;
    darkroom_make_uniform(strip, filter);
    take_shorter(
        strip, strip->uniform, darkroom_as_smooth(strip, strip->uniform, 0, strip->rows), data,
        length);
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
    if (!darkroom_make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    /* The lines of a seam have other filters. */
    const int may_be_smooth = !strip->knows_seam && !strip->has_seam;
    if (is_smooth && may_be_smooth && try_smooth(strip, data, length))
        return DARKROOM_STRIP_OK;
    darkroom_make_uniform(strip, NONE);
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
    if (!darkroom_make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    darkroom_make_uniform(strip, NONE);
    if (strip->depth == 8 && strip->pixel_bytes >= 3) {
        if (!darkroom_make_pixels(strip))
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

/* What is known of a strip's content before it is compressed. */
typedef struct {
    darkroom_foresight channels;
    int repeats; /* in its differences */
} outlook;

static outlook look_ahead(const darkroom_strip *strip)
{
    const darkroom_rows plain = plain_rows(strip), filtered = filtered_rows(strip);
    return (outlook){
        darkroom_foresee(&plain, &filtered, strip->pixel_bytes, strip->depth),
        darkroom_repeats_in_differences(&filtered, strip->pixel_bytes)};
}

/* The kind of content, if Huffman codes and runs need `coded` bytes for it. */
static darkroom_content look(const darkroom_strip *strip, outlook seen, size_t coded)
{
    const darkroom_rows plain = plain_rows(strip), filtered = filtered_rows(strip);
    return darkroom_look(
        &plain, &filtered, strip->pixel_bytes, seen.channels, seen.repeats, coded);
}

/* Chooses parts, and returns the number of their rows. It is 0 if they do not stand for the whole, because they are too
 * small, or because a seam has other filters. */
static size_t choose_telling_parts(
    const darkroom_strip *strip, size_t share, darkroom_part parts[PARTS])
{
    enum { LEAST_PART_BYTES = 2 << 10 };
    if (strip->knows_seam || strip->has_seam)
        return 0;
    darkroom_choose_parts(strip, share, parts);
    const size_t rows = parts[0].to - parts[0].from + parts[1].to - parts[1].from;
    return rows * line_bytes(strip) < PARTS * LEAST_PART_BYTES ? 0 : rows;
}

/*
 * Compresses a strip that is certainly toned, by its parts, without the runs of the whole, which would not be
 * used. Sets `*length` to 0 if it is not certain. The parts give the methods' sizes within a few per cent.
 */
static darkroom_strip_result compress_toned(
    darkroom_strip *strip, outlook seen, uint8_t *data, size_t *length)
{
    darkroom_part parts[PARTS];
    *length = 0;
    if (strip->effort != DARKROOM_DEFLATE_BALANCED || !darkroom_may_be_toned(seen.channels))
        return DARKROOM_STRIP_OK;
    const size_t rows = choose_telling_parts(strip, TONED_SHARE, parts);
    if (rows == 0)
        return DARKROOM_STRIP_OK;
    if (!darkroom_make_pixels(strip))
        return DARKROOM_STRIP_MEMORY;
    const size_t runs = darkroom_sum_of_parts(strip, strip->filtered, parts, darkroom_as_runs);
    const size_t expected = runs * strip->rows / rows;
    if (look(strip, seen, expected) != DARKROOM_TONED)
        return DARKROOM_STRIP_OK;
    size_t least;
    const uint8_t *lines = choose_toned(strip, parts, &least);
    if (lines == NULL)
        return DARKROOM_STRIP_MEMORY;
    if (least > runs - runs / 16)
        return DARKROOM_STRIP_OK;
    const size_t count = darkroom_as_pixels(strip, lines, 0, strip->rows);
    if (count > expected)
        return DARKROOM_STRIP_OK;
    *length = SIZE_MAX;
    take_shorter(strip, lines, count, data, length);
    return DARKROOM_STRIP_OK;
}

/*
 * Compresses a smooth strip as its long runs, unless its parts show that a search saves a quarter. Sets `*length` to 0
 * in that case. Paeth's filter leaves mostly zeros of a blurred or enlarged photograph. A search takes three times as
 * long as all the rest of the encoding, and saves at most a sixth of such a picture, even with the best filter. It saves
 * more of drawings and of many gradients; a brief search of their parts with two of the filters finds this.
 */
static darkroom_strip_result compress_smooth(
    darkroom_strip *strip, outlook seen, uint8_t *data, size_t *length)
{
    /* Of each part. */
    enum { SAMPLE = 6 << 10 };
    static const int filters[] = {SUB, UP};
    darkroom_part parts[PARTS];
    *length = 0;
    if (strip->effort == DARKROOM_DEFLATE_SMALL || !seen.repeats
        || filtered_bytes(strip) > SEARCHED_BYTES)
        return DARKROOM_STRIP_OK;
    const size_t share = (filtered_bytes(strip) + PARTS * SAMPLE - 1) / (PARTS * SAMPLE);
    const size_t rows = choose_telling_parts(strip, share, parts);
    if (rows == 0)
        return DARKROOM_STRIP_OK;
    if (!darkroom_make_search(strip))
        return DARKROOM_STRIP_MEMORY;
    const size_t runs =
        darkroom_sum_of_parts(strip, strip->filtered, parts, darkroom_as_long_runs);
    const size_t expected = runs * strip->rows / rows;
    if (look(strip, seen, expected) != DARKROOM_SMOOTH)
        return DARKROOM_STRIP_OK;
    size_t least;
    darkroom_best_filter(
        strip, parts, filters, sizeof filters / sizeof *filters, darkroom_as_smooth_nearby, &least);
    if (least < runs - runs / 4)
        return DARKROOM_STRIP_OK;
    const size_t count = darkroom_deflate_long_runs(
        strip->filtered, filtered_bytes(strip), strip->scratch, data);
    /* With many more bytes, the parts have told too little of the rest. */
    if (count < expected + expected / 4) {
        strip->lines = strip->filtered;
        *length = count;
    }
    return DARKROOM_STRIP_OK;
}

/* Tries other methods that may be shorter than the runs of which the chunk's data consist so far. */
static darkroom_strip_result try_more(
    darkroom_strip *strip, outlook seen, uint8_t *data, size_t *length)
{
    const int is_fast = strip->effort == DARKROOM_DEFLATE_FAST;
    if (strip->effort == DARKROOM_DEFLATE_SMALL)
        return try_all(strip, data, length);
    const darkroom_content content = look(strip, seen, *length);
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
    if (!darkroom_make_lines(strip))
        return DARKROOM_STRIP_MEMORY;
    const outlook seen = look_ahead(strip);
    darkroom_strip_result result = compress_toned(strip, seen, data, length);
    if (result == DARKROOM_STRIP_OK && *length == 0)
        result = compress_smooth(strip, seen, data, length);
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
