#include "jpeg_segments.h"
#include "jpeg_trap.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    RAW_BYTES = 64 << 10,
    /* Encoders make about ten. Each scan is a pass over all pixels and may need only four bytes. */
    LARGEST_SCAN = 100,
    EVENTS_AT_A_TIME = 64, /* rows of blocks, mostly, between two chances to stop */
    LARGEST_COMPONENTS = 3,
};

/* libjpeg's source manager and more. */
typedef struct {
    struct jpeg_source_mgr manager; /* first: libjpeg hands out its address */
    int fd;
    int system_error;
    uint8_t raw[RAW_BYTES];
} descriptor_source;

/* All memory of a reader belongs to this block, which is created before the first setjmp. */
struct darkroom_jpeg_reader {
    darkroom_jpeg_trap trap;
    struct jpeg_decompress_struct info;
    bool is_open, is_started, is_complete;
    darkroom_jpeg_header header;
    uint32_t rows_left;
    uint32_t last_count;
    bool is_seen[LARGEST_COMPONENTS]; /* a scan has told the component's mean values */
    darkroom_jpeg_segments segments;
    descriptor_source source;
};

/* ---- libjpeg's callbacks ---- */

static void init_source(j_decompress_ptr info)
{
    (void)info;
}

static ssize_t fill(descriptor_source *source)
{
    ssize_t count;
    do
        count = read(source->fd, source->raw, RAW_BYTES);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        source->manager.next_input_byte = source->raw;
        source->manager.bytes_in_buffer = (size_t)count;
    }
    return count;
}

static boolean fill_input_buffer(j_decompress_ptr info)
{
    descriptor_source *source = (descriptor_source *)info->src;
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    ssize_t count = fill(source);
    if (count < 0) {
        source->system_error = errno;
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_IO, "the file cannot be read");
    }
    /* libjpeg requests nothing after the end-of-image marker. */
    if (count == 0)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_TRUNCATED, "the file ends before the end of the picture");
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

/* ---- Entries ---- */

darkroom_jpeg_reader *darkroom_jpeg_reader_new(int fd, size_t largest_profile)
{
    darkroom_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    reader->info.err = darkroom_jpeg_trap_start(&reader->trap);
    if (setjmp(reader->trap.jump) != 0) {
        darkroom_jpeg_reader_free(reader);
        return NULL;
    }
    reader->info.client_data = &reader->segments; /* kept by the next call */
    jpeg_create_decompress(&reader->info);
    struct jpeg_source_mgr *source = &reader->source.manager;
    source->init_source = init_source;
    source->fill_input_buffer = fill_input_buffer;
    source->skip_input_data = skip_input_data;
    source->resync_to_restart = jpeg_resync_to_restart;
    source->term_source = term_source;
    reader->source.fd = fd;
    reader->info.src = source;
    reader->segments.largest_profile = largest_profile;
    darkroom_jpeg_segments_start(&reader->info);
    return reader;
}

void darkroom_jpeg_reader_free(darkroom_jpeg_reader *reader)
{
    if (reader == NULL)
        return;
    if (setjmp(reader->trap.jump) == 0)
        jpeg_destroy_decompress(&reader->info);
    darkroom_jpeg_segments_free(&reader->segments);
    free(reader);
}

/* The blocks of all components, which libjpeg holds if they are in several scans. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *info)
{
    uint64_t blocks = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *c = &info->comp_info[i];
        uint64_t h = (uint64_t)c->h_samp_factor, v = (uint64_t)c->v_samp_factor;
        uint64_t across = (c->width_in_blocks + h - 1) / h * h;
        uint64_t down = (c->height_in_blocks + v - 1) / v * v;
        blocks += across * down;
    }
    return blocks * sizeof(JBLOCK);
}

/* Records the components of the scan that begins. Progressive scans with finer coefficients do not count:
 * without its first coefficient a component is gray. */
static void note_scan(darkroom_jpeg_reader *reader)
{
    const struct jpeg_decompress_struct *info = &reader->info;
    if (info->Ss != 0)
        return;
    for (int i = 0; i < info->comps_in_scan; i++)
        reader->is_seen[info->cur_comp_info[i]->component_index] = true;
}

darkroom_jpeg_result darkroom_jpeg_reader_open(
    darkroom_jpeg_reader *reader, darkroom_jpeg_header *header)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (reader->is_open)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "opened twice");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    struct jpeg_decompress_struct *info = &reader->info;
    jpeg_read_header(info, TRUE);
    if (info->num_components == 4)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_CMYK, "four colour components, such as CMYK");
    if (info->num_components != 1 && info->num_components != 3)
        darkroom_jpeg_fail(
            trap, DARKROOM_JPEG_UNSUPPORTED, "neither one nor three colour components");
    darkroom_jpeg_segments_finish(&reader->segments, trap);
    note_scan(reader);

    darkroom_jpeg_header *h = &reader->header;
    h->width = info->image_width;
    h->height = info->image_height;
    h->channels = (uint8_t)info->num_components;
    h->is_whole = jpeg_has_multiple_scans(info) != 0;
    h->whole_bytes = coefficient_bytes(info);
    h->has_density = info->saw_JFIF_marker != 0;
    if (h->has_density) {
        h->density.unit = info->density_unit;
        h->density.x = info->X_density;
        h->density.y = info->Y_density;
    }
    *header = *h;
    reader->is_open = true;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_start(
    darkroom_jpeg_reader *reader, unsigned divisor, uint32_t *width, uint32_t *height)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    bool is_divisor = divisor == 1 || divisor == 2 || divisor == 4 || divisor == 8;
    if (!reader->is_open || reader->is_started || !is_divisor)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not to be started so");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    struct jpeg_decompress_struct *info = &reader->info;
    info->scale_num = 1;
    info->scale_denom = divisor;
    info->out_color_space = reader->header.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info->dct_method = JDCT_ISLOW;
    info->do_fancy_upsampling = TRUE;
    /* This would replace missing data of a progressive file by guesses. */
    info->do_block_smoothing = FALSE;
    info->buffered_image = reader->header.is_whole;
    jpeg_start_decompress(info);
    if (info->output_components != reader->header.channels)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_INVALID, "rows of an unexpected length");
    reader->rows_left = info->output_height;
    *width = info->output_width;
    *height = info->output_height;
    trap->phase = DARKROOM_JPEG_DATA;
    reader->is_started = true;
    reader->is_complete = !reader->header.is_whole;
    return DARKROOM_JPEG_OK;
}

/* Ends the scans of a picture with several scans. */
static void complete(darkroom_jpeg_reader *reader)
{
    for (int i = 0; i < reader->info.num_components; i++)
        if (!reader->is_seen[i])
            darkroom_jpeg_fail(
                &reader->trap, DARKROOM_JPEG_DATA, "the data of a colour component are missing");
    jpeg_start_output(&reader->info, reader->info.input_scan_number);
    reader->is_complete = true;
}

darkroom_jpeg_result darkroom_jpeg_reader_absorb(darkroom_jpeg_reader *reader, int *is_complete)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->is_started)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not started");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    for (int i = 0; i < EVENTS_AT_A_TIME && !reader->is_complete; i++) {
        switch (jpeg_consume_input(&reader->info)) {
        case JPEG_REACHED_SOS:
            if (reader->info.input_scan_number > LARGEST_SCAN)
                darkroom_jpeg_fail(trap, DARKROOM_JPEG_INVALID, "more than 100 scans");
            note_scan(reader);
            break;
        case JPEG_REACHED_EOI:
            complete(reader);
            break;
        default:
            break;
        }
    }
    *is_complete = reader->is_complete;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_rows(
    darkroom_jpeg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    struct jpeg_decompress_struct *info = &reader->info;
    if (!reader->is_complete || count > reader->rows_left
        || row_bytes != (size_t)info->output_width * reader->header.channels)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "no such rows");
    reader->last_count = 0;
    if (setjmp(trap->jump) != 0)
        return trap->result;
    while (reader->last_count < count) {
        JSAMPROW row = rows + reader->last_count * row_bytes;
        if (jpeg_read_scanlines(info, &row, 1) != 1)
            darkroom_jpeg_fail(trap, DARKROOM_JPEG_INVALID, "a row is missing");
        reader->last_count++;
        reader->rows_left--;
    }
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_reader_finish(darkroom_jpeg_reader *reader)
{
    darkroom_jpeg_trap *trap = &reader->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!reader->is_complete || reader->rows_left != 0)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "there are rows left");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    if (reader->header.is_whole)
        jpeg_finish_output(&reader->info);
    jpeg_finish_decompress(&reader->info);
    if (reader->source.manager.bytes_in_buffer > 0 || fill(&reader->source) > 0)
        darkroom_jpeg_remark(trap, "there are more bytes after the end of the picture");
    /* No function has anything left to do, and libjpeg has freed its tables. */
    reader->is_complete = false;
    return DARKROOM_JPEG_OK;
}

/* ---- Questions ---- */

uint32_t darkroom_jpeg_reader_last_count(const darkroom_jpeg_reader *reader)
{
    return reader->last_count;
}

const char *darkroom_jpeg_reader_message(const darkroom_jpeg_reader *reader)
{
    return reader->trap.message;
}

int darkroom_jpeg_reader_errno(const darkroom_jpeg_reader *reader)
{
    return reader->source.system_error;
}

const char *darkroom_jpeg_reader_warning(const darkroom_jpeg_reader *reader, size_t index)
{
    return index < reader->trap.warning_count ? reader->trap.warnings[index] : NULL;
}

const char *darkroom_jpeg_reader_segment(const darkroom_jpeg_reader *reader, size_t index)
{
    return index < reader->segments.name_count ? reader->segments.names[index] : NULL;
}

const uint8_t *darkroom_jpeg_reader_exif(const darkroom_jpeg_reader *reader, size_t *count)
{
    *count = reader->segments.exif_count;
    return reader->segments.exif;
}

const uint8_t *darkroom_jpeg_reader_profile(const darkroom_jpeg_reader *reader, size_t *count)
{
    *count = reader->segments.profile_count;
    return reader->segments.profile;
}
