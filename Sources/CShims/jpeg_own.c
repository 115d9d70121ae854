/* Describes a picture to our decoder, from what libjpeg has read in its header. */
#include "jpeg_source.h"

#include <unistd.h>

/* The source of a scan. What cannot be read is in doubt, and libjpeg finds out why. */
static size_t next_bytes(void *context, const uint8_t **bytes)
{
    darkroom_jpeg_file *file = context;
    struct jpeg_source_mgr *source = &file->manager;
    if (!darkroom_jpeg_file_has_more(file))
        return 0;
    const size_t count = source->bytes_in_buffer;
    *bytes = source->next_input_byte;
    source->next_input_byte += count;
    source->bytes_in_buffer = 0;
    return count;
}

static darkroom_jpeg_table table_of(JHUFF_TBL *const *tables, int number)
{
    if (number < 0 || number >= NUM_HUFF_TBLS || tables[number] == NULL)
        return (darkroom_jpeg_table){NULL, NULL};
    return (darkroom_jpeg_table){tables[number]->bits, tables[number]->huffval};
}

/* Describes a component; false if a table is missing. Each of several scans brings its codes along. */
static bool describe(
    const struct jpeg_decompress_struct *info, int index, bool is_whole,
    darkroom_jpeg_component *result)
{
    const jpeg_component_info *c = &info->comp_info[index];
    if (c->quant_tbl_no < 0 || c->quant_tbl_no >= NUM_QUANT_TBLS || c->component_id < 0
        || c->component_id > UINT8_MAX)
        return false;
    const JQUANT_TBL *steps = info->quant_tbl_ptrs[c->quant_tbl_no];
    const darkroom_jpeg_table dc = table_of(info->dc_huff_tbl_ptrs, c->dc_tbl_no);
    const darkroom_jpeg_table ac = table_of(info->ac_huff_tbl_ptrs, c->ac_tbl_no);
    if (steps == NULL || (!is_whole && (dc.counts == NULL || ac.counts == NULL)))
        return false;
    *result = (darkroom_jpeg_component){
        .id = (uint8_t)c->component_id,
        .across = (uint8_t)c->h_samp_factor,
        .down = (uint8_t)c->v_samp_factor,
        .steps = steps->quantval,
        .dc_counts = dc.counts,
        .dc_symbols = dc.symbols,
        .ac_counts = ac.counts,
        .ac_symbols = ac.symbols,
    };
    return true;
}

/* Describes the first one of several scans, and the tables that the header has. */
static bool describe_scan(const struct jpeg_decompress_struct *info, darkroom_jpeg_picture *picture)
{
    darkroom_jpeg_scan_header *scan = &picture->scan;
    if (info->comps_in_scan < 1 || info->comps_in_scan > 3 || info->Ss > 63 || info->Se > 63
        || info->Ah > 15 || info->Al > 15)
        return false;
    *scan = (darkroom_jpeg_scan_header){
        .count = (uint8_t)info->comps_in_scan,
        .first = (uint8_t)info->Ss,
        .last = (uint8_t)info->Se,
        .high = (uint8_t)info->Ah,
        .low = (uint8_t)info->Al,
    };
    for (unsigned i = 0; i < scan->count; i++) {
        const jpeg_component_info *c = info->cur_comp_info[i];
        scan->components[i] = (uint8_t)c->component_index;
        scan->dc[i] = (uint8_t)c->dc_tbl_no;
        scan->ac[i] = (uint8_t)c->ac_tbl_no;
    }
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        picture->tables[0][i] = table_of(info->dc_huff_tbl_ptrs, i);
        picture->tables[1][i] = table_of(info->ac_huff_tbl_ptrs, i);
    }
    return true;
}

/* Whether our decoder is faster than libjpeg-turbo, which always has SIMD: with AVX2, and for eighths, where
 * Huffman decoding is nearly all the work. The limit that tests set does not count. */
static bool is_faster(unsigned divisor)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return divisor == 8 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"));
#else
    return divisor == 8;
#endif
}

darkroom_jpeg_scan *darkroom_jpeg_file_scan(
    darkroom_jpeg_file *file, const struct jpeg_decompress_struct *info, const unsigned *divisors,
    unsigned count)
{
    const bool is_colour = info->num_components == 3;
    const bool has_colours = is_colour
        ? info->jpeg_color_space == JCS_YCbCr || info->jpeg_color_space == JCS_RGB
        : info->num_components == 1 && info->jpeg_color_space == JCS_GRAYSCALE;
    const bool is_whole = info->progressive_mode || info->comps_in_scan != info->num_components;
    const bool is_usual = is_whole
        || (info->Ss == 0 && info->Se == DCTSIZE2 - 1 && info->Ah == 0 && info->Al == 0);
    if (!is_faster(divisors[0]) || !has_colours || !is_usual || info->arith_code
        || info->data_precision != 8 || info->CCIR601_sampling)
        return NULL;
    darkroom_jpeg_picture picture = {
        .width = info->image_width,
        .height = info->image_height,
        .restart_interval = info->restart_interval,
        .view_count = count,
        .is_rgb = info->jpeg_color_space == JCS_RGB,
        .component_count = (unsigned)info->num_components,
        .is_whole = is_whole,
        .is_progressive = info->progressive_mode != 0,
    };
    for (unsigned i = 0; i < count; i++)
        picture.divisors[i] = divisors[i];
    for (int i = 0; i < info->num_components; i++)
        if ((!is_whole && info->cur_comp_info[i] != &info->comp_info[i])
            || !describe(info, i, is_whole, &picture.components[i]))
            return NULL;
    if (is_whole && !describe_scan(info, &picture))
        return NULL;
    const off_t position
        = file->fd < 0 ? (off_t)file->whole_bytes : lseek(file->fd, 0, SEEK_CUR);
    if (position < 0)
        return NULL;
    const struct jpeg_source_mgr *source = &file->manager;
    file->scan_place = (size_t)(source->next_input_byte - file->raw);
    file->scan_bytes = position - (off_t)(file->scan_place + source->bytes_in_buffer);
    file->scan_total = file->total_bytes - (file->fd < 0 ? 0 : file->scan_place + source->bytes_in_buffer);
    return darkroom_jpeg_scan_new(&picture, next_bytes, file);
}
