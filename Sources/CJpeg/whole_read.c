/* The blocks of a scan: the means, and whole blocks of sequential pictures. */
#include "reading.h"

/* A longer block than the padding of the window cannot be: 63 coefficients of 16 bits of code and 10 of value. */
_Static_assert(63 * (DARKROOM_LONGEST_CODE + DARKROOM_LARGEST_AC) + 64 <= 8 * (DARKROOM_WINDOW_PADDING - 32), "");

void darkroom_jpeg_reading_start(darkroom_jpeg_whole *whole)
{
    const uint8_t *bytes = whole->window->bytes;
    whole->reading = (reading){.at = bytes, .limit = bytes};
}

bool darkroom_jpeg_reading_fill(darkroom_jpeg_whole *whole)
{
    darkroom_jpeg_window *window = whole->window;
    reading *r = &whole->reading;
    if (!window->is_closed) {
        darkroom_jpeg_window_fill(window, (size_t)(r->at - window->bytes));
        r->at = window->bytes;
    }
    if (window->is_broken)
        return false;
    /* Of a closed one, no block begins behind the bytes that a register has taken in advance. */
    r->limit = window->bytes + window->count;
    if (window->is_closed)
        r->limit += sizeof r->bits;
    else
        r->limit -= DARKROOM_WINDOW_PADDING;
    return r->at < r->limit;
}

/* The difference to the last one is in the data. */
INLINE int16_t next_mean(darkroom_jpeg_scan_part *part, reading *r, unsigned low)
{
    refill(r);
    const darkroom_jpeg_symbol symbol = next_symbol(part->dc, r);
    if (__builtin_expect(symbol.run != 0 || symbol.size > DARKROOM_LARGEST_DC, 0)) {
        r->is_doubtful = true;
        return 0;
    }
    part->mean += take_value(r, symbol.size);
    const int32_t mean = part->mean * (1 << low);
    r->is_doubtful |= mean < -part->largest_mean || mean > part->largest_mean;
    return (int16_t)mean;
}

/* The other coefficients of a sequential block. */
static void read_rest(const darkroom_jpeg_scan_part *part, reading *r, int16_t *block)
{
    for (unsigned k = 1; k < 64; k++) {
        refill(r);
        const darkroom_jpeg_symbol symbol = next_symbol(part->ac, r);
        if (symbol.size == 0 && symbol.run == 0)
            return;
        k += symbol.run;
        if (r->is_doubtful || k > 63 || symbol.size > part->most_bits[k]
            || (symbol.size == 0 && symbol.run != 15)) {
            r->is_doubtful = true;
            return;
        }
        const int value = take_value(r, symbol.size);
        if (block != NULL && symbol.size > 0)
            block[darkroom_jpeg_zigzag[k]] = (int16_t)value;
    }
}

INLINE void read_block(
    darkroom_jpeg_scan_part *part, reading *r, size_t place, darkroom_jpeg_scan_kind kind, unsigned low)
{
    const darkroom_jpeg_store *store = part->store;
    int16_t *mean =
        store->means != NULL ? store->means + place : store->coefficients + darkroom_jpeg_block_offset(place);
    if (store->means == NULL)
        __builtin_prefetch(mean + 8 * DARKROOM_QUAD, 1);
    if (kind == DARKROOM_SCAN_FINER_MEANS) {
        refill(r);
        *mean |= (int16_t)(take(r, 1) << low);
        return;
    }
    *mean = next_mean(part, r, low);
    if (kind == DARKROOM_SCAN_SEQUENTIAL && !r->is_doubtful)
        read_rest(part, r, store->means == NULL ? mean : NULL);
}

/*
 * A scan of one component has its blocks row by row; one of several has those of each MCU in turn. A row of a
 * store has whole quads, so that its blocks are counted on.
 */
INLINE bool read_mcus(
    darkroom_jpeg_whole *whole, uint32_t column, uint32_t count, darkroom_jpeg_scan_kind kind)
{
    const bool is_single = whole->part_count == 1;
    const unsigned low = whole->low;
    reading r = whole->reading;
    for (const uint32_t end = column + count; column < end; column++)
        for (unsigned i = 0; i < whole->part_count; i++) {
            darkroom_jpeg_scan_part *part = &whole->parts[i];
            const size_t across = is_single ? 1 : part->store->across;
            const size_t down = is_single ? 1 : part->store->down;
            size_t place = whole->row * down * part->store->stride + column * across;
            for (size_t y = 0; y < down; y++, place += part->store->stride)
                for (size_t x = 0; x < across; x++) {
                    if (r.at >= r.limit) {
                        whole->reading = r;
                        if (!darkroom_jpeg_reading_fill(whole))
                            return false;
                        r = whole->reading;
                    }
                    read_block(part, &r, place + x, kind, low);
                    if (r.is_doubtful)
                        return false;
                }
        }
    whole->reading = r;
    return true;
}

bool darkroom_jpeg_whole_read(darkroom_jpeg_whole *whole, uint32_t column, uint32_t count)
{
    switch (whole->kind) {
    /* Three loops, one for each kind. */
    case DARKROOM_SCAN_SEQUENTIAL: return read_mcus(whole, column, count, DARKROOM_SCAN_SEQUENTIAL);
    case DARKROOM_SCAN_FIRST_MEANS: return read_mcus(whole, column, count, DARKROOM_SCAN_FIRST_MEANS);
    case DARKROOM_SCAN_FINER_MEANS: return read_mcus(whole, column, count, DARKROOM_SCAN_FINER_MEANS);
    default: return darkroom_jpeg_whole_read_rest(whole, column, count);
    }
}
