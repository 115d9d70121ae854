/* What a scan knows before its first byte. */
#include "scan_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_SIDE = 65500,  /* libjpeg's limit, in pixels */
    LARGEST_FACTOR = 4,    /* of the sampling */
    /* Means beyond this, multiplied, are in doubt. Those of real pictures have at most 1024 and rounding. */
    LARGEST_MEAN = 4080,
};

static uint32_t divided_up(uint64_t value, uint64_t by)
{
    return (uint32_t)((value + by - 1) / by);
}

/* Finds out the codes of a component, the same ones as those of an earlier one if they are equal. */
static bool plan_codes(
    darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture, unsigned index, unsigned *count)
{
    const darkroom_jpeg_component *given = &picture->components[index];
    darkroom_jpeg_scan_component *c = &scan->components[index];
    for (unsigned i = 0; i < index; i++) {
        const darkroom_jpeg_component *other = &picture->components[i];
        if (other->dc_counts == given->dc_counts && other->ac_counts == given->ac_counts
            && (scan->components[i].side == 1) == (c->side == 1)) {
            c->codes = scan->components[i].codes;
            return true;
        }
    }
    c->codes = *count;
    darkroom_jpeg_block_codes *codes = &scan->codes[(*count)++];
    codes->skips = c->side == 1;
    if (!darkroom_jpeg_codes_make(&codes->dc, given->dc_counts, given->dc_symbols, true)
        || !darkroom_jpeg_codes_make(&codes->ac, given->ac_counts, given->ac_symbols, false))
        return false;
    darkroom_jpeg_block_codes_fill(codes);
    return true;
}

/* libjpeg leaves colour that is coarser than the reduced picture at a larger size than its other samples, as
 * long as it is no finer than the picture. */
static unsigned side_of(unsigned across, unsigned down, unsigned most_across, unsigned most_down, unsigned least)
{
    unsigned side = least;
    while (side < 8 && most_across * least % (across * side * 2) == 0
           && most_down * least % (down * side * 2) == 0)
        side *= 2;
    return side;
}

static bool plan_component(
    darkroom_jpeg_scan_component *c, const darkroom_jpeg_picture *picture, unsigned most_across,
    unsigned most_down, const darkroom_jpeg_component *given)
{
    const unsigned least = 8 / picture->divisor;
    c->side = side_of(given->across, given->down, most_across, most_down, least);
    c->across = given->across;
    c->down = given->down;
    c->rows = c->down * c->side;
    if (most_across * least % (c->across * c->side) != 0
        || most_down * least % (c->down * c->side) != 0)
        return false;
    c->widened = most_across * least / (c->across * c->side);
    c->heightened = most_down * least / (c->down * c->side);
    c->width = divided_up(
        (uint64_t)picture->width * c->across * c->side, (uint64_t)most_across * 8);
    c->height =
        divided_up((uint64_t)picture->height * c->down * c->side, (uint64_t)most_down * 8);
    /* As libjpeg decides. */
    const bool is_wide = c->widened == 2 && c->heightened <= 2 && c->width > 2;
    const bool is_high = c->widened == 1 && c->heightened == 2;
    c->is_smooth = least > 1 && (is_wide || is_high);
    c->transform = darkroom_jpeg_idct_for(c->side);
    c->mean = 0;
    for (unsigned i = 0; i < 64; i++)
        c->steps[i] = (int16_t)given->steps[i];
    if (given->steps[0] == 0)
        return false;
    c->largest_mean = LARGEST_MEAN / given->steps[0];
    return true;
}

/* The order of a group's blocks in the data, and their places. */
static void plan_group(darkroom_jpeg_scan *scan)
{
    darkroom_jpeg_block *blocks = scan->entropy.blocks;
    unsigned index = 0;
    for (unsigned mcu = 0; mcu < scan->mcus_in_group; mcu++)
        for (unsigned i = 0; i < scan->component_count; i++) {
            const darkroom_jpeg_scan_component *c = &scan->components[i];
            const unsigned count = c->across * c->down;
            for (unsigned k = 0; k < count; k++, index++) {
                blocks[index].codes = &scan->codes[c->codes];
                blocks[index].place = c->group + darkroom_jpeg_block_offset(mcu * count + k);
            }
        }
    blocks[index] = blocks[0];
    for (unsigned i = 0; i <= index; i++) {
        blocks[i].rest = blocks[i].codes->lookups + DARKROOM_LOOKUP_SIZE;
        blocks[i].next = blocks[i < index ? i + 1 : 1].codes->lookups;
    }
}

bool darkroom_jpeg_scan_plan(darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture)
{
    const unsigned divisor = picture->divisor, count = picture->component_count;
    const bool is_divisor = divisor == 1 || divisor == 2 || divisor == 4 || divisor == 8;
    if (!is_divisor || (count != 1 && count != 3) || picture->width == 0 || picture->height == 0
        || picture->width > LARGEST_SIDE || picture->height > LARGEST_SIDE)
        return false;
    unsigned most_across = 1, most_down = 1;
    for (unsigned i = 0; i < count; i++) {
        const darkroom_jpeg_component *c = &picture->components[i];
        if (c->across < 1 || c->across > LARGEST_FACTOR || c->down < 1 || c->down > LARGEST_FACTOR)
            return false;
        most_across = c->across > most_across ? c->across : most_across;
        most_down = c->down > most_down ? c->down : most_down;
    }
    scan->component_count = count;
    scan->is_rgb = picture->is_rgb;
    scan->width = divided_up(picture->width, divisor);
    scan->height = divided_up(picture->height, divisor);
    scan->rows_at_a_time = most_down * 8 / divisor;
    scan->mcu_rows = divided_up(picture->height, (uint64_t)most_down * 8);
    scan->mcus_in_row = divided_up(picture->width, (uint64_t)most_across * 8);
    scan->block_rows = divided_up(picture->height, 8);
    scan->strips = 1;
    scan->blocks_in_mcu = 0;
    unsigned codes = 0;
    for (unsigned i = 0; i < count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        if (!plan_component(c, picture, most_across, most_down, &picture->components[i])
            || !plan_codes(scan, picture, i, &codes))
            return false;
        scan->blocks_in_mcu += c->across * c->down;
    }
    if (count == 1) {
        /* One component alone is coded block by block, whatever its sampling. */
        darkroom_jpeg_scan_component *c = &scan->components[0];
        scan->strips = c->down;
        scan->mcus_in_row = divided_up(picture->width, 8);
        scan->blocks_in_mcu = c->across = c->down = 1;
    }
    if (scan->blocks_in_mcu > DARKROOM_LARGEST_MCU)
        return false;
    /* Whole quads of each component. */
    scan->mcus_in_group = DARKROOM_GROUP_BLOCKS / scan->blocks_in_mcu & ~3u;
    scan->restart_interval = scan->left_in_interval = picture->restart_interval;
    scan->next_restart = 0;
    scan->decoded = scan->given = 0;
    scan->is_doubtful = false;
    return true;
}

bool darkroom_jpeg_scan_allocate(darkroom_jpeg_scan *scan)
{
    const size_t margin = DARKROOM_ROW_MARGIN;
    size_t places[DARKROOM_SCAN_COMPONENTS], lines[DARKROOM_SCAN_COMPONENTS], size = margin;
    int16_t *group = scan->coefficients;
    for (unsigned i = 0; i < scan->component_count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        const unsigned blocks = c->across * c->down;
        const size_t mcu_width = (size_t)c->across * c->side;
        /* A group may begin at any MCU of a row, and is transformed as a whole. */
        c->stride = (scan->mcus_in_row + scan->mcus_in_group) * mcu_width + 2 * margin;
        places[i] = size + margin;
        size += c->stride * c->rows * DARKROOM_SCAN_RING;
        lines[i] = size;
        if (c->widened > 1 || c->heightened > 1)
            size += (size_t)c->width * c->widened + 2 * margin;
        c->group = group;
        group += (size_t)scan->mcus_in_group * blocks * 64;
        for (unsigned k = 0; k < scan->mcus_in_group * blocks; k++) {
            const unsigned mcu = k / blocks, x = k % blocks % c->across, y = k % blocks / c->across;
            c->offsets[k] = (uint32_t)(mcu * mcu_width + x * c->side + y * c->side * c->stride);
        }
    }
    memset(scan->coefficients, 0, sizeof scan->coefficients);
    scan->memory = calloc(1, size + margin);
    if (scan->memory == NULL)
        return false;
    for (unsigned i = 0; i < scan->component_count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        c->samples = scan->memory + places[i];
        c->line = c->widened > 1 || c->heightened > 1 ? scan->memory + lines[i] : NULL;
    }
    plan_group(scan);
    return true;
}
