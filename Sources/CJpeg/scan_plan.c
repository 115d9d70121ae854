/* What a scan knows before its first byte. */
#include "scan_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_SIDE = 65500,  /* libjpeg's limit, in pixels */
    LARGEST_FACTOR = 4,    /* of the sampling */
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
            && scan->components[i].has_means_only == c->has_means_only) {
            c->codes = scan->components[i].codes;
            return true;
        }
    }
    const darkroom_jpeg_given_codes codes = {
        .dc_counts = given->dc_counts,
        .dc_symbols = given->dc_symbols,
        .ac_counts = given->ac_counts,
        .ac_symbols = given->ac_symbols,
        .skips = c->has_means_only,
    };
    c->codes = *count;
    scan->codes[c->codes] = darkroom_jpeg_kept_codes_lend(&codes);
    return scan->codes[(*count)++] != NULL;
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

static bool plan_plane(
    darkroom_jpeg_scan_plane *p, unsigned divisor, const darkroom_jpeg_picture *picture,
    unsigned most_across, unsigned most_down, const darkroom_jpeg_component *given)
{
    const unsigned least = 8 / divisor;
    p->side = side_of(given->across, given->down, most_across, most_down, least);
    p->rows = given->down * p->side;
    if (most_across * least % (given->across * p->side) != 0
        || most_down * least % (given->down * p->side) != 0)
        return false;
    p->widened = most_across * least / (given->across * p->side);
    p->heightened = most_down * least / (given->down * p->side);
    p->width = divided_up(
        (uint64_t)picture->width * given->across * p->side, (uint64_t)most_across * 8);
    p->height =
        divided_up((uint64_t)picture->height * given->down * p->side, (uint64_t)most_down * 8);
    /* As libjpeg decides. */
    const bool is_wide = p->widened == 2 && p->heightened <= 2 && p->width > 2;
    const bool is_high = p->widened == 1 && p->heightened == 2;
    p->is_smooth = least > 1 && (is_wide || is_high);
    p->transform = darkroom_jpeg_idct_for(p->side);
    return true;
}

static bool plan_component(
    darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture, unsigned index,
    unsigned most_across, unsigned most_down)
{
    darkroom_jpeg_scan_component *c = &scan->components[index];
    const darkroom_jpeg_component *given = &picture->components[index];
    c->across = given->across;
    c->down = given->down;
    c->has_means_only = true;
    for (unsigned v = 0; v < scan->view_count; v++) {
        darkroom_jpeg_scan_plane *p = &scan->views[v].planes[index];
        if (!plan_plane(p, scan->views[v].divisor, picture, most_across, most_down, given))
            return false;
        c->has_means_only &= p->side == 1;
        for (unsigned other = 0; other < v; other++)
            if (scan->views[other].planes[index].side == p->side)
                p->transform = NULL;
    }
    c->mean = 0;
    for (unsigned i = 0; i < 64; i++)
        c->steps[i] = (int16_t)given->steps[i];
    if (given->steps[0] == 0)
        return false;
    c->largest_mean = DARKROOM_LARGEST_MEAN / given->steps[0];
    return true;
}

static bool plan_views(
    darkroom_jpeg_scan *scan, const darkroom_jpeg_picture *picture, unsigned most_down)
{
    scan->view_count = picture->view_count;
    if (scan->view_count < 1 || scan->view_count > DARKROOM_SCAN_VIEWS)
        return false;
    for (unsigned v = 0; v < scan->view_count; v++) {
        darkroom_jpeg_scan_view *view = &scan->views[v];
        view->divisor = picture->divisors[v];
        if (view->divisor != 1 && view->divisor != 2 && view->divisor != 4 && view->divisor != 8)
            return false;
        view->width = divided_up(picture->width, view->divisor);
        view->height = divided_up(picture->height, view->divisor);
        view->rows_at_a_time = most_down * 8 / view->divisor;
    }
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
                blocks[index].codes = scan->codes[c->codes];
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
    const unsigned count = picture->component_count;
    if ((count != 1 && count != 3) || picture->width == 0 || picture->height == 0
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
    if (!plan_views(scan, picture, most_down))
        return false;
    scan->component_count = count;
    scan->is_rgb = picture->is_rgb;
    scan->mcu_rows = divided_up(picture->height, (uint64_t)most_down * 8);
    scan->mcus_in_row = divided_up(picture->width, (uint64_t)most_across * 8);
    scan->block_rows = divided_up(picture->height, 8);
    scan->strips = 1;
    scan->blocks_in_mcu = 0;
    unsigned codes = 0;
    for (unsigned i = 0; i < count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        if (!plan_component(scan, picture, i, most_across, most_down)
            || (!picture->is_whole && !plan_codes(scan, picture, i, &codes)))
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
    scan->decoded = scan->given = scan->stepped = 0;
    scan->is_doubtful = false;
    return true;
}

/* Finds out the places of a plane and its line in the memory, which grows by them. */
static void place_plane(
    const darkroom_jpeg_scan *scan, const darkroom_jpeg_scan_component *c,
    darkroom_jpeg_scan_plane *p, size_t *place, size_t *line, size_t *size)
{
    const size_t margin = DARKROOM_ROW_MARGIN, mcu_width = (size_t)c->across * p->side;
    const unsigned blocks = c->across * c->down;
    /* A group may begin at any MCU of a row, and is transformed as a whole. */
    p->stride = (scan->mcus_in_row + scan->mcus_in_group) * mcu_width + 2 * margin;
    if (p->transform != NULL) {
        *place = *size + margin;
        *size += p->stride * p->rows * DARKROOM_SCAN_RING;
    }
    *line = *size;
    if (p->widened > 1 || p->heightened > 1)
        *size += (size_t)p->width * p->widened + 2 * margin;
    /* Blocks that are held come one beside the other. */
    for (unsigned k = 0; k < DARKROOM_GROUP_BLOCKS && scan->whole != NULL; k++)
        p->offsets[k] = k * p->side;
    for (unsigned k = 0; k < scan->mcus_in_group * blocks && scan->whole == NULL; k++) {
        const unsigned mcu = k / blocks, x = k % blocks % c->across, y = k % blocks / c->across;
        p->offsets[k] = (uint32_t)(mcu * mcu_width + x * p->side + y * p->side * p->stride);
    }
}

bool darkroom_jpeg_scan_allocate(darkroom_jpeg_scan *scan)
{
    size_t places[DARKROOM_SCAN_VIEWS][DARKROOM_SCAN_COMPONENTS];
    size_t lines[DARKROOM_SCAN_VIEWS][DARKROOM_SCAN_COMPONENTS], size = DARKROOM_ROW_MARGIN;
    int16_t *group = scan->coefficients;
    for (unsigned i = 0; i < scan->component_count; i++) {
        darkroom_jpeg_scan_component *c = &scan->components[i];
        for (unsigned v = 0; v < scan->view_count; v++)
            place_plane(
                scan, c, &scan->views[v].planes[i], &places[v][i], &lines[v][i], &size);
        c->group = group;
        group += (size_t)scan->mcus_in_group * c->across * c->down * 64;
    }
    memset(scan->coefficients, 0, sizeof scan->coefficients);
    scan->memory = calloc(1, size + DARKROOM_ROW_MARGIN);
    if (scan->memory == NULL)
        return false;
    for (unsigned v = 0; v < scan->view_count; v++)
        for (unsigned i = 0; i < scan->component_count; i++) {
            darkroom_jpeg_scan_plane *p = &scan->views[v].planes[i];
            if (p->transform != NULL)
                p->samples = scan->memory + places[v][i];
            for (unsigned other = 0; other < v && p->transform == NULL; other++)
                if (scan->views[other].planes[i].side == p->side)
                    p->samples = scan->views[other].planes[i].samples;
            p->line =
                p->widened > 1 || p->heightened > 1 ? scan->memory + lines[v][i] : NULL;
        }
    if (scan->whole == NULL)
        plan_group(scan);
    return true;
}
