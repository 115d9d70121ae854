/* Random scans for libjpeg's encoder: what decoders must take, whether any encoder makes it or not. */
#ifndef JPEG_SCRIPTS_H
#define JPEG_SCRIPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h> /* jpeglib.h needs it and does not include it */

#include <jpeglib.h>

static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

enum { MOST_SCANS = 90, MOST_BANDS = 4 };

/* Coefficients of a component that come together. */
typedef struct {
    int first, last, low; /* `low` is that of the next scan */
    bool has_begun;
} band;

typedef struct {
    jpeg_scan_info scans[MOST_SCANS];
    int count;
} script;

static void add_scan(script *s, unsigned components, const band *b, int high, int low)
{
    if (s->count == MOST_SCANS)
        return;
    jpeg_scan_info *scan = &s->scans[s->count++];
    *scan = (jpeg_scan_info){.Ss = b->first, .Se = b->last, .Ah = high, .Al = low};
    for (int i = 0; i < 3; i++)
        if (components >> i & 1)
            scan->component_index[scan->comps_in_scan++] = i;
}

/* A scan, or more, for each group of components. */
static void separate(script *s, int components, uint64_t *state)
{
    const band all = {.first = 0, .last = 63};
    const unsigned whole = (1u << components) - 1, one = 1u << next_random(state) % (unsigned)components;
    if (next_random(state) % 2 == 0 && one != whole) {
        add_scan(s, one, &all, 0, 0);
        add_scan(s, whole & ~one, &all, 0, 0);
    } else {
        for (int i = 0; i < components; i++)
            add_scan(s, 1u << i, &all, 0, 0);
    }
}

/* Divides the coefficients of a component, in random places. */
static void divide(band bands[MOST_BANDS], uint64_t *state)
{
    int first = 0;
    for (unsigned i = 0; i < MOST_BANDS; i++) {
        const int left = 64 - first, last = i == 0 ? 0
            : i + 1 == MOST_BANDS || left == 1     ? 63
                                                   : first + (int)(next_random(state) % (unsigned)left);
        const unsigned kind = next_random(state) % 8;
        bands[i] = (band){.first = first, .last = last, .low = kind < 6 ? (int)kind % 3 : 4};
        first = last + 1;
        if (first == 64) {
            for (i++; i < MOST_BANDS; i++)
                bands[i] = (band){.first = 64};
            return;
        }
    }
}

/* All means first, together or one by one; then the other scans in any order, up to the last or not. */
static void progress(script *s, int components, uint64_t *state)
{
    band bands[3][MOST_BANDS];
    for (int i = 0; i < components; i++)
        divide(bands[i], state);
    const bool is_joined = next_random(state) % 3 > 0;
    for (int i = 0; i < components; i++) {
        bands[i][0].has_begun = true;
        if (is_joined)
            bands[i][0].low = bands[0][0].low;
        else
            add_scan(s, 1u << i, &bands[i][0], 0, bands[i][0].low);
    }
    if (is_joined)
        add_scan(s, (1u << components) - 1, &bands[0][0], 0, bands[0][0].low);
    const unsigned most = next_random(state) % 4 == 0 ? next_random(state) % 12 : 200;
    for (unsigned i = 0; i < most; i++) {
        const unsigned component = next_random(state) % (unsigned)components;
        band *b = &bands[component][next_random(state) % MOST_BANDS];
        if (b->first > 63 || (b->has_begun && b->low == 0))
            continue;
        const int high = b->has_begun ? b->low : 0;
        b->low -= b->has_begun ? 1 : 0;
        b->has_begun = true;
        add_scan(s, 1u << component, b, high, b->low);
    }
}

static void set_scans(struct jpeg_compress_struct *info, unsigned choice, script *s, uint64_t *state)
{
    s->count = 0;
    if (choice % 8 == 0) {
        jpeg_simple_progression(info);
        return;
    }
    if (choice % 8 == 1 && info->num_components > 1)
        separate(s, info->num_components, state);
    else
        progress(s, info->num_components, state);
    info->scan_info = s->scans;
    info->num_scans = s->count;
}

#endif
