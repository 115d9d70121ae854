#include "whole.h"

#include "idct.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LEAST_MAPPED = 4 << 20,
    EOI = 0xd9,
    SOS = 0xda,
    DHT = 0xc4,
    DRI = 0xdd,
    FIRST_RESTART = 0xd0,
};

/* ---- Memory ---- */

static size_t blocks_of(const darkroom_jpeg_store *store)
{
    return (size_t)store->stored_rows * store->stride;
}

/* Much memory comes in large pages, where the system has them: the first write to each page costs time, and the
 * scans go over all of them again and again. */
static bool get_zeros(darkroom_jpeg_whole *whole, size_t bytes)
{
    if (bytes < LEAST_MAPPED) {
        whole->memory = calloc(1, bytes);
        return whole->memory != NULL;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    madvise(memory, bytes, MADV_HUGEPAGE);
    whole->memory = memory;
    whole->mapped_bytes = bytes;
    return true;
}

static bool allocate(darkroom_jpeg_whole *whole, const bool *needs_rest)
{
    size_t blocks = 0, numbers = 0;
    for (unsigned i = 0; i < whole->component_count; i++) {
        const size_t count = blocks_of(&whole->stores[i]);
        blocks += count;
        numbers += needs_rest[i] ? count * 64 : count;
    }
    if (!get_zeros(whole, numbers * sizeof(int16_t) + blocks * sizeof(uint64_t)))
        return false;
    uint64_t *present = whole->memory;
    int16_t *number = (int16_t *)(present + blocks);
    for (unsigned i = 0; i < whole->component_count; i++) {
        darkroom_jpeg_store *store = &whole->stores[i];
        const size_t count = blocks_of(store);
        store->present = present;
        present += count;
        store->coefficients = needs_rest[i] ? number : NULL;
        store->means = needs_rest[i] ? NULL : number;
        number += needs_rest[i] ? count * 64 : count;
    }
    return true;
}

/* ---- Before the first scan ---- */

static uint32_t divided_up(uint64_t value, uint64_t by)
{
    return (uint32_t)((value + by - 1) / by);
}

/* The most bits that a coefficient may have, so that the inverse DCT has no doubt. */
static uint8_t most_bits(uint16_t step, bool is_in_first_row)
{
    unsigned bits = DARKROOM_LARGEST_AC;
    while (is_in_first_row && bits > 0 && ((1u << bits) - 1) * step >= DARKROOM_LARGEST_FIRST)
        bits--;
    return (uint8_t)bits;
}

static void plan_component(
    darkroom_jpeg_whole *whole, const darkroom_jpeg_picture *picture, unsigned index,
    unsigned most_across, unsigned most_down)
{
    const darkroom_jpeg_component *given = &picture->components[index];
    const bool is_alone = picture->component_count == 1;
    darkroom_jpeg_store *store = &whole->stores[index];
    store->across = is_alone ? 1 : given->across;
    store->down = is_alone ? 1 : given->down;
    store->columns =
        divided_up((uint64_t)picture->width * given->across, (uint64_t)most_across * 8);
    store->rows = divided_up((uint64_t)picture->height * given->down, (uint64_t)most_down * 8);
    store->stored_rows = divided_up(store->rows, store->down) * store->down;
    const size_t columns = divided_up(store->columns, store->across) * (size_t)store->across;
    store->stride = (columns + DARKROOM_QUAD_BLOCKS - 1) / DARKROOM_QUAD_BLOCKS * DARKROOM_QUAD_BLOCKS;
    whole->ids[index] = given->id;
    whole->largest_means[index] = given->steps[0] == 0 ? 0 : DARKROOM_LARGEST_MEAN / given->steps[0];
    for (unsigned k = 0; k < 64; k++) {
        const unsigned place = darkroom_jpeg_zigzag[k], row = place / DARKROOM_QUAD_ROW;
        const unsigned column = place % DARKROOM_QUAD_ROW;
        whole->most_bits[index][k] = most_bits(given->steps[row * 8 + column], row == 0);
        whole->bits_to_come[index][k] = -1;
    }
}

static bool has_different_ids(const darkroom_jpeg_whole *whole)
{
    for (unsigned i = 1; i < whole->component_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (whole->ids[k] == whole->ids[i])
                return false;
    return true;
}

darkroom_jpeg_whole *darkroom_jpeg_whole_new(
    const darkroom_jpeg_picture *picture, const bool *needs_rest, darkroom_jpeg_window *window)
{
    darkroom_jpeg_whole *whole = calloc(1, sizeof *whole);
    if (whole == NULL)
        return NULL;
    unsigned most_across = 1, most_down = 1;
    for (unsigned i = 0; i < picture->component_count; i++) {
        const darkroom_jpeg_component *c = &picture->components[i];
        most_across = c->across > most_across ? c->across : most_across;
        most_down = c->down > most_down ? c->down : most_down;
    }
    whole->window = window;
    whole->is_progressive = picture->is_progressive;
    whole->component_count = picture->component_count;
    whole->restart_interval = picture->restart_interval;
    whole->picture_mcus_in_row = divided_up(picture->width, (uint64_t)most_across * 8);
    whole->picture_mcu_rows = divided_up(picture->height, (uint64_t)most_down * 8);
    for (unsigned i = 0; i < whole->component_count; i++)
        plan_component(whole, picture, i, most_across, most_down);
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned i = 0; i < DARKROOM_WHOLE_TABLES; i++) {
            const darkroom_jpeg_table *given = &picture->tables[kind][i];
            darkroom_jpeg_scan_table *table = &whole->tables[kind][i];
            table->is_given = given->counts != NULL;
            if (table->is_given) {
                memcpy(table->counts, given->counts, sizeof table->counts);
                memcpy(table->symbols, given->symbols, sizeof table->symbols);
            }
        }
    if (!has_different_ids(whole) || !darkroom_jpeg_whole_begin(whole, &picture->scan)
        || !allocate(whole, needs_rest)) {
        darkroom_jpeg_whole_free(whole);
        return NULL;
    }
    return whole;
}

void darkroom_jpeg_whole_free(darkroom_jpeg_whole *whole)
{
    if (whole == NULL)
        return;
    if (whole->mapped_bytes > 0)
        munmap(whole->memory, whole->mapped_bytes);
    else
        free(whole->memory);
    free(whole);
}

/* ---- Between scans ---- */

/* Takes a number of two bytes. */
static bool take_number(darkroom_jpeg_whole *whole, unsigned *number)
{
    uint8_t high = 0, low = 0;
    const bool is_there = darkroom_jpeg_window_take(whole->window, &high)
        && darkroom_jpeg_window_take(whole->window, &low);
    *number = (unsigned)(high << 8 | low);
    return is_there;
}

static bool take_bytes(darkroom_jpeg_whole *whole, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!darkroom_jpeg_window_take(whole->window, &bytes[i]))
            return false;
    return true;
}

static bool take_tables(darkroom_jpeg_whole *whole)
{
    unsigned length = 0;
    if (!take_number(whole, &length) || length < 2)
        return false;
    for (length -= 2; length > 0;) {
        uint8_t head[17];
        if (length < sizeof head || !take_bytes(whole, head, sizeof head))
            return false;
        unsigned total = 0;
        for (unsigned i = 1; i <= DARKROOM_LONGEST_CODE; i++)
            total += head[i];
        length -= sizeof head;
        if ((head[0] >> 4) > 1 || (head[0] & 15) >= DARKROOM_WHOLE_TABLES || total > 256
            || total > length)
            return false;
        darkroom_jpeg_scan_table *table = &whole->tables[head[0] >> 4][head[0] & 15];
        memcpy(table->counts, head, sizeof head);
        memset(table->symbols, 0, sizeof table->symbols);
        if (!take_bytes(whole, table->symbols, total))
            return false;
        length -= total;
        table->is_given = true;
        table->is_made = false;
    }
    return true;
}

static bool take_interval(darkroom_jpeg_whole *whole)
{
    unsigned length = 0, interval = 0;
    if (!take_number(whole, &length) || length != 4 || !take_number(whole, &interval))
        return false;
    whole->restart_interval = interval;
    return true;
}

/* Its components must be in the picture's order. */
static bool take_scan(darkroom_jpeg_whole *whole)
{
    unsigned length = 0;
    uint8_t count = 0, bytes[2 * DARKROOM_WHOLE_COMPONENTS + 3];
    if (!take_number(whole, &length) || !take_bytes(whole, &count, 1) || count < 1
        || count > whole->component_count || length != 6u + 2u * count
        || !take_bytes(whole, bytes, 2u * count + 3u))
        return false;
    darkroom_jpeg_scan_header header = {.count = count};
    unsigned next = 0;
    for (unsigned i = 0; i < count; i++, next++) {
        while (next < whole->component_count && whole->ids[next] != bytes[2 * i])
            next++;
        if (next == whole->component_count)
            return false;
        header.components[i] = (uint8_t)next;
        header.dc[i] = bytes[2 * i + 1] >> 4;
        header.ac[i] = bytes[2 * i + 1] & 15;
    }
    const uint8_t *rest = bytes + 2 * count;
    header.first = rest[0];
    header.last = rest[1];
    header.high = rest[2] >> 4;
    header.low = rest[2] & 15;
    return darkroom_jpeg_whole_begin(whole, &header);
}

/* Whether each component has its means. */
static bool has_all_means(const darkroom_jpeg_whole *whole)
{
    for (unsigned i = 0; i < whole->component_count; i++)
        if (whole->bits_to_come[i][0] < 0)
            return false;
    return true;
}

/* Goes over the end of a segment. Returns false if bytes are left, or bits are missing. */
static bool end_segment(darkroom_jpeg_whole *whole, uint8_t *marker)
{
    darkroom_jpeg_window *window = whole->window;
    const darkroom_jpeg_reading *r = &whole->reading;
    if (!window->is_closed && !darkroom_jpeg_reading_fill(whole))
        return false;
    /* The bits up to the next whole byte are filling. */
    const int64_t left = 8 * (window->bytes + window->count - r->at) + (int64_t)r->bit_count;
    if (!window->is_closed || window->is_broken || r->ended > 0 || left < 0 || left > 7)
        return false;
    *marker = window->marker;
    darkroom_jpeg_window_next(window);
    darkroom_jpeg_reading_start(whole);
    return true;
}

/* Reads up to the data of the next scan, or the end of the picture. */
static bool read_between(darkroom_jpeg_whole *whole)
{
    uint8_t marker = 0, start = 0;
    if (!end_segment(whole, &marker))
        return false;
    for (;;) {
        switch (marker) {
        case EOI:
            whole->is_complete = true;
            return has_all_means(whole);
        case SOS:
            return take_scan(whole);
        case DHT:
            if (!take_tables(whole))
                return false;
            break;
        case DRI:
            if (!take_interval(whole))
                return false;
            break;
        default:
            return false;
        }
        if (!take_bytes(whole, &start, 1) || start != 0xff || !take_bytes(whole, &marker, 1))
            return false;
    }
}

/* ---- A scan ---- */

/* The end of an interval, if there are restart markers and this one is full. */
static bool restart_if_due(darkroom_jpeg_whole *whole)
{
    if (whole->restart_interval == 0 || whole->left_in_interval > 0)
        return true;
    uint8_t marker = 0;
    if (!end_segment(whole, &marker) || marker != FIRST_RESTART + whole->next_restart)
        return false;
    whole->next_restart = (whole->next_restart + 1) % 8;
    whole->left_in_interval = whole->restart_interval;
    for (unsigned i = 0; i < whole->part_count; i++)
        whole->parts[i].mean = 0;
    return true;
}

static bool read_row(darkroom_jpeg_whole *whole)
{
    for (uint32_t column = 0; column < whole->mcus_in_row;) {
        if (!restart_if_due(whole))
            return false;
        uint32_t count = whole->mcus_in_row - column;
        if (whole->restart_interval > 0) {
            count = count < whole->left_in_interval ? count : whole->left_in_interval;
            whole->left_in_interval -= count;
        }
        if (!darkroom_jpeg_whole_read(whole, column, count))
            return false;
        column += count;
    }
    whole->row++;
    return true;
}

bool darkroom_jpeg_whole_step(darkroom_jpeg_whole *whole)
{
    return whole->row < whole->mcu_rows ? read_row(whole) : read_between(whole);
}
