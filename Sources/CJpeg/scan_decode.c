/* From data to samples. */
#include "scan_state.h"

#include <string.h>

enum { EOI = 0xd9, FIRST_RESTART = 0xd0 };

/* Turns differences into means. Returns false if one is in doubt. */
static bool sum_means(darkroom_jpeg_scan_component *c, size_t blocks)
{
    int32_t mean = c->mean;
    const int32_t most = c->largest_mean;
    bool is_good = true;
    for (size_t i = 0; i < blocks; i++) {
        int16_t *block = c->group + darkroom_jpeg_block_offset(i);
        mean += *block;
        is_good &= mean >= -most && mean <= most;
        *block = (int16_t)mean;
    }
    c->mean = mean;
    return is_good;
}

/* Reads `count` MCUs and writes their samples, from MCU `first` of a row on. `strip` is the part of the row. */
static bool decode_group(darkroom_jpeg_scan *scan, uint32_t first, uint32_t count, unsigned strip)
{
    if (!darkroom_jpeg_entropy_read(&scan->entropy, count * scan->blocks_in_mcu))
        return false;
    const unsigned slot = scan->decoded % DARKROOM_SCAN_RING;
    bool is_good = true;
    for (unsigned i = 0; i < scan->component_count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        const size_t blocks = (size_t)count * c->across * c->down;
        const size_t whole = (blocks + DARKROOM_QUAD_BLOCKS - 1) & ~(size_t)(DARKROOM_QUAD_BLOCKS - 1);
        is_good &= sum_means(c, blocks);
        for (unsigned v = 0; v < scan->view_count; v++) {
            darkroom_jpeg_scan_plane *p = &scan->views[v].planes[i];
            if (p->transform == NULL)
                continue;
            const size_t row = (size_t)slot * p->rows + (size_t)strip * p->side;
            uint8_t *out = p->samples + row * p->stride + (size_t)first * c->across * p->side;
            is_good &= p->transform(c->group, c->steps, whole, out, p->offsets, p->stride);
        }
        /* To one sample a block only DC is used, which each block has. */
        if (!c->has_means_only)
            memset(c->group, 0, whole * 64 * sizeof *c->group);
    }
    return is_good;
}

/* Continues each row by a copy of its first sample and of its last one. */
static void extend(darkroom_jpeg_scan *scan)
{
    const unsigned slot = scan->decoded % DARKROOM_SCAN_RING;
    for (unsigned v = 0; v < scan->view_count; v++)
        for (unsigned i = 0; i < scan->component_count; i++) {
            const darkroom_jpeg_scan_plane *p = &scan->views[v].planes[i];
            if (!p->is_smooth)
                continue;
            uint8_t *row = p->samples + (size_t)slot * p->rows * p->stride;
            for (unsigned k = 0; k < p->rows; k++, row += p->stride) {
                row[-1] = row[0];
                row[p->width] = row[p->width - 1];
            }
        }
}

/* The end of an interval, if there are restart markers and this one is full. */
static bool restart_if_due(darkroom_jpeg_scan *scan)
{
    if (scan->restart_interval == 0 || scan->left_in_interval > 0)
        return true;
    if (!darkroom_jpeg_entropy_end(&scan->entropy, (uint8_t)(FIRST_RESTART + scan->next_restart)))
        return false;
    scan->next_restart = (scan->next_restart + 1) % 8;
    scan->left_in_interval = scan->restart_interval;
    for (unsigned i = 0; i < scan->component_count; i++)
        scan->components[i].mean = 0;
    return true;
}

static bool decode_strip(darkroom_jpeg_scan *scan, unsigned strip)
{
    for (uint32_t first = 0; first < scan->mcus_in_row;) {
        if (!restart_if_due(scan))
            return false;
        uint32_t count = scan->mcus_in_row - first;
        count = count < scan->mcus_in_group ? count : scan->mcus_in_group;
        if (scan->restart_interval > 0) {
            count = count < scan->left_in_interval ? count : scan->left_in_interval;
            scan->left_in_interval -= count;
        }
        if (!decode_group(scan, first, count, strip))
            return false;
        first += count;
    }
    return true;
}

/* Makes the samples of blocks beside each other, from one at the place `row` and `column` of the picture on. */
static bool transform_held(
    darkroom_jpeg_scan *scan, unsigned index, unsigned strip, size_t row, size_t column)
{
    const darkroom_jpeg_store *store = &scan->whole->stores[index];
    const darkroom_jpeg_scan_component *c = &scan->components[index];
    const size_t left = store->stride - column, first = row * store->stride + column;
    const size_t count = left < DARKROOM_GROUP_BLOCKS ? left : DARKROOM_GROUP_BLOCKS;
    const int16_t *quads = scan->coefficients;
    if (store->means == NULL) {
        quads = store->coefficients + first * 64;
    } else {
        for (size_t i = 0; i < count; i++)
            scan->coefficients[darkroom_jpeg_block_offset(i)] = store->means[first + i];
    }
    bool is_good = true;
    for (unsigned v = 0; v < scan->view_count; v++) {
        const darkroom_jpeg_scan_plane *p = &scan->views[v].planes[index];
        if (p->transform == NULL)
            continue;
        const size_t slot = scan->decoded % DARKROOM_SCAN_RING;
        uint8_t *out = p->samples + (slot * p->rows + (size_t)strip * p->side) * p->stride;
        is_good &= p->transform(
            quads, c->steps, count, out + column * p->side, p->offsets, p->stride);
    }
    return is_good;
}

/* Makes the samples of the next row of MCUs from the coefficients that are held. */
static bool decode_held(darkroom_jpeg_scan *scan)
{
    bool is_good = scan->whole->is_complete;
    for (unsigned i = 0; i < scan->component_count && is_good; i++) {
        const darkroom_jpeg_store *store = &scan->whole->stores[i];
        const darkroom_jpeg_scan_plane *p = &scan->views[0].planes[i];
        const unsigned strips = p->rows / p->side;
        for (unsigned strip = 0; strip < strips; strip++) {
            const size_t row = (size_t)scan->decoded * strips + strip;
            for (size_t column = 0; row < store->stored_rows && column < store->stride;
                 column += DARKROOM_GROUP_BLOCKS)
                is_good &= transform_held(scan, i, strip, row, column);
        }
    }
    return is_good;
}

bool darkroom_jpeg_scan_decode(darkroom_jpeg_scan *scan)
{
    if (scan->whole != NULL) {
        const bool is_good = decode_held(scan);
        extend(scan);
        scan->decoded++;
        return is_good;
    }
    const uint32_t before = scan->decoded * scan->strips;
    for (unsigned strip = 0; strip < scan->strips; strip++)
        if ((scan->strips == 1 || before + strip < scan->block_rows) && !decode_strip(scan, strip))
            return false;
    extend(scan);
    scan->decoded++;
    return scan->decoded < scan->mcu_rows || darkroom_jpeg_entropy_end(&scan->entropy, EOI);
}
