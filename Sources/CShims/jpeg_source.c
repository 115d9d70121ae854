#include "jpeg_source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- libjpeg's callbacks ---- */

static void init_source(j_decompress_ptr info)
{
    (void)info;
}

/* Counts the bytes 00 and FF before each marker, from where it has stopped up to `end`. */
static void survey(darkroom_jpeg_file *file, const uint8_t *end)
{
    const uint8_t *start = file->surveyed;
    if (start == NULL || start >= end)
        return;
    /* A marker whose FF was the last byte. */
    if (file->last == 0xff && *start != 0 && *start != 0xff && file->open_run > 0)
        file->stuffing += file->open_run - 1;
    for (const uint8_t *at = start; (at = memchr(at, 0xff, (size_t)(end - at))) != NULL; at++) {
        if (at + 1 >= end || at[1] == 0 || at[1] == 0xff)
            continue;
        const uint8_t *from = at;
        while (from > start && (from[-1] == 0 || from[-1] == 0xff))
            from--;
        file->stuffing += (uint64_t)(at - from) + (from == start ? file->open_run : 0);
    }
    const uint8_t *from = end;
    while (from > start && (from[-1] == 0 || from[-1] == 0xff))
        from--;
    file->open_run = (size_t)(end - from) + (from == start ? file->open_run : 0);
    file->last = end[-1];
    file->surveyed = end;
}

/* Sets the height in the header, if these bytes have its place. */
static void set_height(darkroom_jpeg_file *file, uint8_t *bytes, uint64_t first, size_t count)
{
    for (unsigned i = 0; i < 2 && file->height_place > 0; i++) {
        const uint64_t place = file->height_place + i;
        if (place >= first && place - first < count)
            bytes[place - first] = (uint8_t)(i == 0 ? file->height >> 8 : file->height);
    }
}

static ssize_t fill(darkroom_jpeg_file *file)
{
    if (file->fd < 0)
        return 0;
    /* libjpeg has used all bytes, though it has not always said so. */
    survey(file, file->raw + file->raw_count);
    ssize_t count;
    do
        count = read(file->fd, file->raw, DARKROOM_JPEG_RAW_BYTES);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        set_height(file, file->raw, file->total_bytes, (size_t)count);
        file->manager.next_input_byte = file->raw;
        file->manager.bytes_in_buffer = file->raw_count = (size_t)count;
        if (file->surveyed != NULL)
            file->surveyed = file->raw;
        file->total_bytes += (uint64_t)count;
    }
    return count;
}

static boolean fill_input_buffer(j_decompress_ptr info)
{
    darkroom_jpeg_file *file = (darkroom_jpeg_file *)info->src;
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    ssize_t count = fill(file);
    if (count < 0) {
        file->system_error = errno;
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_IO, "the file cannot be read");
    }
    if (count > 0)
        return TRUE;
    if (!file->may_end)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_TRUNCATED, "the file ends before the end of the picture");
    static const uint8_t end[] = {0xff, JPEG_EOI};
    survey(file, file->raw + file->raw_count);
    file->surveyed = NULL;
    file->manager.next_input_byte = end;
    file->manager.bytes_in_buffer = sizeof end;
    trap->is_short = true;
    return TRUE;
}

static void skip_input_data(j_decompress_ptr info, long count)
{
    struct jpeg_source_mgr *source = info->src;
    while (count > 0) {
        if (source->bytes_in_buffer == 0)
            fill_input_buffer(info);
        size_t left = (size_t)count;
        size_t part = source->bytes_in_buffer < left ? source->bytes_in_buffer : left;
        source->next_input_byte += part;
        source->bytes_in_buffer -= part;
        count -= (long)part;
    }
}

static void term_source(j_decompress_ptr info)
{
    (void)info;
}

void darkroom_jpeg_file_survey(darkroom_jpeg_file *file)
{
    file->surveyed = file->manager.next_input_byte;
    file->open_run = 0;
    file->last = 0;
    file->stuffing = 0;
}

void darkroom_jpeg_file_start(darkroom_jpeg_file *file, int fd)
{
    struct jpeg_source_mgr *source = &file->manager;
    source->init_source = init_source;
    source->fill_input_buffer = fill_input_buffer;
    source->skip_input_data = skip_input_data;
    source->resync_to_restart = jpeg_resync_to_restart;
    source->term_source = term_source;
    file->fd = fd;
}

bool darkroom_jpeg_file_fill(darkroom_jpeg_file *file, const uint8_t *bytes, size_t count)
{
    if (count > sizeof file->raw)
        return false;
    if (count > 0)
        memcpy(file->raw, bytes, count);
    file->fd = -1;
    file->whole_bytes = file->raw_count = count;
    file->manager.next_input_byte = file->raw;
    file->manager.bytes_in_buffer = count;
    return true;
}

bool darkroom_jpeg_file_has_more(darkroom_jpeg_file *file)
{
    return file->manager.bytes_in_buffer > 0 || fill(file) > 0;
}

bool darkroom_jpeg_file_byte(darkroom_jpeg_file *file, uint8_t *byte)
{
    if (!darkroom_jpeg_file_has_more(file))
        return false;
    *byte = *file->manager.next_input_byte++;
    file->manager.bytes_in_buffer--;
    return true;
}

uint64_t darkroom_jpeg_file_stuffing(darkroom_jpeg_file *file)
{
    /* libjpeg stands before the marker that it tells of. */
    survey(file, file->manager.next_input_byte);
    const uint64_t result = file->stuffing + file->open_run;
    file->stuffing = 0;
    file->open_run = 0;
    return result;
}

bool darkroom_jpeg_file_is_text(const darkroom_jpeg_file *file, uint64_t count)
{
    const uint8_t *end = file->manager.next_input_byte;
    if (end < file->raw || end > file->raw + file->raw_count || count < DARKROOM_JPEG_LEAST_TEXT)
        return false;
    const size_t seen = (size_t)(end - file->raw);
    for (size_t i = 1; i <= count && i <= seen; i++)
        if (!darkroom_jpeg_is_text(end[-(ptrdiff_t)i]))
            return false;
    return true;
}

/* ---- A height behind the pixels ---- */

static bool go_to_start(darkroom_jpeg_file *file)
{
    struct jpeg_source_mgr *source = &file->manager;
    if (file->fd < 0) {
        source->next_input_byte = file->raw;
        source->bytes_in_buffer = file->whole_bytes;
        return true;
    }
    const off_t position = lseek(file->fd, 0, SEEK_CUR);
    if (position < 0 || lseek(file->fd, position - (off_t)file->total_bytes, SEEK_SET) < 0)
        return false;
    source->bytes_in_buffer = 0;
    file->total_bytes = 0;
    return true;
}

static bool take_number(darkroom_jpeg_file *file, unsigned *number)
{
    uint8_t high = 0, low = 0;
    const bool is_there = darkroom_jpeg_file_byte(file, &high) && darkroom_jpeg_file_byte(file, &low);
    *number = (unsigned)(high << 8 | low);
    return is_there;
}

/* The bytes that have been taken since the beginning of the file. */
static uint64_t place_of(const darkroom_jpeg_file *file)
{
    return (file->fd < 0 ? file->whole_bytes : file->total_bytes) - file->manager.bytes_in_buffer;
}

/* Goes on behind the next marker. Among the data of a scan, stuffed zeros and restart markers are none. */
static bool find_marker(darkroom_jpeg_file *file, bool is_in_scan, uint8_t *marker)
{
    uint8_t byte = 0, former = 0;
    while (darkroom_jpeg_file_byte(file, &byte)) {
        const bool is_one = former == 0xff && byte != 0 && byte != 0xff
            && !(is_in_scan && byte >= JPEG_RST0 && byte <= JPEG_RST0 + 7);
        former = byte;
        *marker = byte;
        if (is_one)
            return true;
    }
    return false;
}

bool darkroom_jpeg_file_find_height(darkroom_jpeg_file *file)
{
    enum {
        FIRST_FRAME = 0xc0,
        DHT = 0xc4,
        JPG = 0xc8,
        DAC = 0xcc,
        LAST_FRAME = 0xcf,
        SOI = 0xd8,
        SOS = 0xda,
        DNL = 0xdc,
    };
    uint64_t place = 0;
    unsigned length = 0, height = 0;
    uint8_t marker = 0, byte = 0;
    if (file->height_place > 0 || !go_to_start(file))
        return false;
    for (bool is_in_scan = false; marker != DNL; is_in_scan = marker == SOS) {
        if (!find_marker(file, is_in_scan, &marker) || marker == JPEG_EOI || (is_in_scan && marker != DNL))
            return false;
        if (marker == SOI)
            continue;
        if (!take_number(file, &length) || length < 2)
            return false;
        if (marker >= FIRST_FRAME && marker <= LAST_FRAME && marker != DHT && marker != JPG && marker != DAC)
            place = place_of(file) + 1;
        for (unsigned i = 2; marker != DNL && i < length; i++)
            if (!darkroom_jpeg_file_byte(file, &byte))
                return false;
    }
    if (place == 0 || length != 4 || !take_number(file, &height) || height == 0 || !go_to_start(file))
        return false;
    file->height_place = place;
    file->height = (uint16_t)height;
    if (file->fd < 0)
        set_height(file, file->raw, 0, file->whole_bytes);
    return true;
}

/* ---- Our decoder ---- */

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

bool darkroom_jpeg_file_rewind(darkroom_jpeg_file *file)
{
    struct jpeg_source_mgr *source = &file->manager;
    file->surveyed = NULL;
    if (file->fd < 0) {
        source->next_input_byte = file->raw + file->scan_place;
        source->bytes_in_buffer = file->whole_bytes - file->scan_place;
        return true;
    }
    source->bytes_in_buffer = 0;
    file->total_bytes = file->scan_total;
    if (lseek(file->fd, file->scan_bytes, SEEK_SET) < 0 || fill(file) < 0) {
        file->system_error = errno;
        return false;
    }
    /* A file that has become shorter has no bytes left. */
    const size_t place =
        file->scan_place < source->bytes_in_buffer ? file->scan_place : source->bytes_in_buffer;
    source->next_input_byte += place;
    source->bytes_in_buffer -= place;
    return true;
}
