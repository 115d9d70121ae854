/* The header of a scan: what it may say, and what follows from it. */
#include "whole.h"

#include <string.h>

enum { MOST_SCANS = 100, LARGEST_MCU = 10 /* blocks */, LARGEST_LOW = 13 };

darkroom_jpeg_symbol darkroom_jpeg_symbol_find(const darkroom_jpeg_scan_table *table, uint64_t bits)
{
    uint8_t symbol = 0;
    const unsigned length = darkroom_jpeg_codes_find(&table->codes, bits, &symbol);
    return (darkroom_jpeg_symbol){(uint8_t)length, symbol >> 4, symbol & 15};
}

/* Finds a table, and makes it if it is new. NULL if there is none, or it is in doubt. */
static const darkroom_jpeg_scan_table *table_of(
    darkroom_jpeg_whole *whole, unsigned kind, unsigned number)
{
    if (number >= DARKROOM_WHOLE_TABLES || !whole->tables[kind][number].is_given)
        return NULL;
    darkroom_jpeg_scan_table *table = &whole->tables[kind][number];
    if (table->is_made)
        return table;
    if (!darkroom_jpeg_codes_make(&table->codes, table->counts, table->symbols, kind == 0))
        return NULL;
    memset(table->lookups, 0, sizeof table->lookups);
    for (uint64_t i = 0; i < DARKROOM_LOOKUP_SIZE;) {
        const darkroom_jpeg_symbol symbol =
            darkroom_jpeg_symbol_find(table, i << (64 - DARKROOM_LOOKUP_BITS));
        /* The codes are in order: those that follow are no shorter. */
        if (symbol.code_bits == 0 || symbol.code_bits > DARKROOM_LOOKUP_BITS)
            break;
        for (uint32_t k = 0; k < 1u << (DARKROOM_LOOKUP_BITS - symbol.code_bits); k++)
            table->lookups[i++] = symbol;
    }
    table->is_made = true;
    return table;
}

/* Whether the coefficients come in an order that all decoders take: each first with its high bits, then with one
 * bit at a time, and the mean before the others. Notes what is still to come. */
static bool advance(darkroom_jpeg_whole *whole, unsigned component, const darkroom_jpeg_scan_header *h)
{
    int8_t *to_come = whole->bits_to_come[component];
    if (h->first > 0 && to_come[0] < 0)
        return false;
    for (unsigned k = h->first; k <= h->last; k++) {
        if (to_come[k] != (h->high == 0 ? -1 : (int)h->high))
            return false;
        to_come[k] = (int8_t)h->low;
    }
    return true;
}

static bool has_good_range(const darkroom_jpeg_whole *whole, const darkroom_jpeg_scan_header *h)
{
    if (!whole->is_progressive)
        return h->first == 0 && h->last == 63 && h->high == 0 && h->low == 0;
    const bool is_good = h->first == 0 ? h->last == 0
                                       : h->last >= h->first && h->last <= 63 && h->count == 1;
    return is_good && h->low <= LARGEST_LOW && (h->high == 0 || h->low + 1 == h->high);
}

static darkroom_jpeg_scan_kind kind_of(
    const darkroom_jpeg_whole *whole, const darkroom_jpeg_scan_header *h)
{
    if (!whole->is_progressive)
        return DARKROOM_SCAN_SEQUENTIAL;
    if (h->first == 0)
        return h->high == 0 ? DARKROOM_SCAN_FIRST_MEANS : DARKROOM_SCAN_FINER_MEANS;
    return h->high == 0 ? DARKROOM_SCAN_FIRST_REST : DARKROOM_SCAN_FINER_REST;
}

static bool begin_part(
    darkroom_jpeg_whole *whole, darkroom_jpeg_scan_part *part, const darkroom_jpeg_scan_header *h,
    unsigned index)
{
    const unsigned component = h->components[index];
    const bool needs_dc = h->first == 0 && h->high == 0, needs_ac = h->last > 0;
    *part = (darkroom_jpeg_scan_part){
        .store = &whole->stores[component],
        .dc = needs_dc ? table_of(whole, 0, h->dc[index]) : NULL,
        .ac = needs_ac ? table_of(whole, 1, h->ac[index]) : NULL,
        .largest_mean = whole->largest_means[component] - ((1 << h->low) - 1),
    };
    memcpy(part->most_bits, whole->most_bits[component], sizeof part->most_bits);
    return (!needs_dc || (part->dc != NULL && part->largest_mean >= 0))
        && (!needs_ac || part->ac != NULL) && advance(whole, component, h);
}

bool darkroom_jpeg_whole_begin(darkroom_jpeg_whole *whole, const darkroom_jpeg_scan_header *h)
{
    if (h->count < 1 || h->count > whole->component_count || !has_good_range(whole, h)
        || ++whole->scan_count > MOST_SCANS)
        return false;
    unsigned blocks = 0;
    for (unsigned i = 0; i < h->count; i++) {
        if (h->components[i] >= whole->component_count
            || (i > 0 && h->components[i] <= h->components[i - 1])
            || !begin_part(whole, &whole->parts[i], h, i))
            return false;
        const darkroom_jpeg_store *store = whole->parts[i].store;
        blocks += store->across * store->down;
    }
    const bool is_single = h->count == 1;
    if (!is_single && blocks > LARGEST_MCU)
        return false;
    const darkroom_jpeg_store *store = whole->parts[0].store;
    whole->kind = kind_of(whole, h);
    whole->part_count = h->count;
    whole->first = h->first;
    whole->last = h->last;
    whole->low = h->low;
    whole->mcus_in_row = is_single ? store->columns : whole->picture_mcus_in_row;
    whole->mcu_rows = is_single ? store->rows : whole->picture_mcu_rows;
    whole->row = 0;
    whole->left_in_interval = whole->restart_interval;
    whole->next_restart = 0;
    return true;
}
