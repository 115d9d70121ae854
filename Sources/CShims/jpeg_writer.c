#include "darkroom_quality.h"
#include "jpeg_rows.h"
#include "jpeg_trials.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_OUTPUT_BYTES = 128 << 10,
    MOST_DATA = 65533, /* a segment's length has 16 bits; two bytes are its own */
    /* Without the signatures. */
    MOST_EXIF = MOST_DATA - 6,
    MOST_XMP = MOST_DATA - 29,
};

/* All memory of a writer belongs to this block, which is created before the first setjmp. */
struct darkroom_jpeg_writer {
    darkroom_jpeg_trap trap;
    struct jpeg_compress_struct info;
    struct jpeg_destination_mgr destination;
    bool is_started;
    uint8_t channels, depth;
    size_t row_bytes;
    uint32_t rows_left;
    uint8_t *row; /* of 8 bits and without alpha; NULL where that is what rows are */
    uint8_t *output;
    size_t capacity;
    /* Of a search; NULL for others. What is written beside the pixels belongs to this writer. */
    darkroom_jpeg_trials *trials;
    darkroom_quality_search search;
    darkroom_jpeg_settings settings;
    /* Whether bytes are only counted, and how many there have been before those in the output. */
    bool is_counting;
    uint64_t counted;
};

/* ---- libjpeg's callbacks ---- */

static void init_destination(j_compress_ptr info)
{
    (void)info;
}

/* Enlarges the output. When this is called, its rest is full. */
static boolean empty_output_buffer(j_compress_ptr info)
{
    darkroom_jpeg_writer *writer = info->client_data;
    size_t count = writer->capacity;
    if (writer->is_counting) {
        writer->counted += count;
        darkroom_jpeg_writer_drain(writer);
        return TRUE;
    }
    size_t capacity = count == 0 ? FIRST_OUTPUT_BYTES : 2 * count;
    uint8_t *output = realloc(writer->output, capacity);
    if (output == NULL)
        darkroom_jpeg_fail(&writer->trap, DARKROOM_JPEG_MEMORY, "not enough memory for the output");
    writer->output = output;
    writer->capacity = capacity;
    writer->destination.next_output_byte = output + count;
    writer->destination.free_in_buffer = capacity - count;
    return TRUE;
}

static void term_destination(j_compress_ptr info)
{
    (void)info;
}

/* The row as libjpeg takes it. */
static const uint8_t *converted(const darkroom_jpeg_writer *writer, const uint8_t *from)
{
    if (writer->row == NULL)
        return from;
    darkroom_jpeg_row(from, writer->row, writer->info.image_width, writer->channels, writer->depth);
    return writer->row;
}

/* ---- Entries ---- */

static bool is_search(const darkroom_jpeg_settings *settings)
{
    return settings->most_bytes > 0 || settings->similarity > 0;
}

/* Whether colour at full resolution is kept for trials; at half of it, it always is. */
static bool has_fine_trials(const darkroom_jpeg_settings *settings)
{
    return settings->quality >= DARKROOM_JPEG_FULL_CHROMA;
}

uint64_t darkroom_jpeg_whole_bytes(const darkroom_jpeg_settings *settings)
{
    if (is_search(settings))
        return darkroom_jpeg_trials_bytes(
            settings->width, settings->height, settings->channels <= 2, has_fine_trials(settings), true);
    /* Blocks of 8 × 8 coefficients; with coarse colour, 16 × 16 pixels are four blocks and two. */
    bool is_gray = settings->channels <= 2;
    bool is_fine = is_gray || settings->full_chroma;
    uint64_t side = is_fine ? 8 : 16;
    uint64_t units = ((settings->width + side - 1) / side) * ((settings->height + side - 1) / side);
    return units * (is_gray ? 1 : is_fine ? 3 : 6) * sizeof(JBLOCK);
}

darkroom_jpeg_writer *darkroom_jpeg_writer_new(void)
{
    darkroom_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->info.err = darkroom_jpeg_trap_start(&writer->trap);
    writer->trap.phase = DARKROOM_JPEG_INVALID;
    if (setjmp(writer->trap.jump) != 0) {
        darkroom_jpeg_writer_free(writer);
        return NULL;
    }
    writer->info.client_data = writer; /* kept by the next call */
    jpeg_create_compress(&writer->info);
    writer->destination.init_destination = init_destination;
    writer->destination.empty_output_buffer = empty_output_buffer;
    writer->destination.term_destination = term_destination;
    writer->info.dest = &writer->destination;
    empty_output_buffer(&writer->info);
    return writer;
}

void darkroom_jpeg_writer_free(darkroom_jpeg_writer *writer)
{
    if (writer == NULL)
        return;
    if (setjmp(writer->trap.jump) == 0)
        jpeg_destroy_compress(&writer->info);
    darkroom_jpeg_trials_free(writer->trials);
    free((void *)writer->settings.profile);
    free((void *)writer->settings.exif);
    free((void *)writer->settings.xmp);
    free((void *)writer->settings.photoshop);
    free(writer->row);
    free(writer->output);
    free(writer);
}

static void set_parameters(
    darkroom_jpeg_writer *writer, const darkroom_jpeg_settings *settings, int quality, bool full_chroma)
{
    struct jpeg_compress_struct *info = &writer->info;
    bool is_gray = settings->channels <= 2;
    info->image_width = settings->width;
    info->image_height = settings->height;
    info->input_components = is_gray ? 1 : 3;
    info->in_color_space = is_gray ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    info->dct_method = JDCT_ISLOW;
    /* JPEG's standard Huffman codes. Separate codes for the picture make files 1.5 % smaller, but take 2.5 to
     * 7 times as long and need the whole picture in memory. */
    info->optimize_coding = FALSE;
    int factor = is_gray || full_chroma ? 1 : 2;
    info->comp_info[0].h_samp_factor = factor;
    info->comp_info[0].v_samp_factor = factor;
    info->density_unit = settings->density.unit;
    info->X_density = settings->density.x;
    info->Y_density = settings->density.y;
    if (settings->progressive)
        jpeg_simple_progression(info);
}

/* A segment with a signature before its data; none without data. */
static void write_segment(
    j_compress_ptr info, int marker, const char *signature, size_t length, const uint8_t *data, size_t count)
{
    if (data == NULL)
        return;
    jpeg_write_m_header(info, marker, (unsigned)(length + count));
    for (size_t i = 0; i < length; i++)
        jpeg_write_m_byte(info, signature[i]);
    for (size_t i = 0; i < count; i++)
        jpeg_write_m_byte(info, data[i]);
}

static void write_metadata(j_compress_ptr info, const darkroom_jpeg_settings *settings)
{
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
    write_segment(info, JPEG_APP0 + 1, exif, sizeof exif, settings->exif, settings->exif_length);
    write_segment(info, JPEG_APP0 + 1, xmp, sizeof xmp, settings->xmp, settings->xmp_length);
    write_segment(info, JPEG_APP0 + 13, NULL, 0, settings->photoshop, settings->photoshop_length);
    if (settings->profile != NULL)
        jpeg_write_icc_profile(info, settings->profile, (unsigned)settings->profile_length);
}

/* Replaces bytes by a copy, for a time after the call that has lent them. */
static bool keep(const uint8_t **bytes, size_t length)
{
    if (*bytes == NULL)
        return true;
    uint8_t *copy = malloc(length);
    if (copy != NULL)
        memcpy(copy, *bytes, length);
    *bytes = copy;
    return copy != NULL;
}

/* Prepares for rows that become coefficients. */
static void start_search(darkroom_jpeg_writer *writer, const darkroom_jpeg_settings *settings)
{
    darkroom_jpeg_settings *kept = &writer->settings;
    *kept = *settings;
    kept->profile = kept->exif = kept->xmp = kept->photoshop = NULL;
    const struct {
        const uint8_t **to, *from;
        size_t length;
    } parts[] = {{&kept->profile, settings->profile, settings->profile_length},
        {&kept->exif, settings->exif, settings->exif_length}, {&kept->xmp, settings->xmp, settings->xmp_length},
        {&kept->photoshop, settings->photoshop, settings->photoshop_length}};
    bool is_good = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = parts[i].from;
        is_good = keep(parts[i].to, parts[i].length) && is_good;
    }
    writer->trials = darkroom_jpeg_trials_new(
        settings->width, settings->height, settings->channels <= 2, has_fine_trials(settings), true);
    if (!is_good || writer->trials == NULL)
        darkroom_jpeg_fail(&writer->trap, DARKROOM_JPEG_MEMORY, "not enough memory for the coefficients");
    writer->search = darkroom_quality_begin(settings->quality, settings->most_bytes, settings->similarity);
}

static void set_quality(darkroom_jpeg_writer *writer, uint32_t quality)
{
    set_parameters(writer, &writer->settings, (int)quality, quality >= DARKROOM_JPEG_FULL_CHROMA);
}

/* Writes a whole file of the coefficients, with the parameters that are set. */
static void write_whole(darkroom_jpeg_writer *writer)
{
    darkroom_jpeg_trials_start(writer->trials, &writer->info);
    write_metadata(&writer->info, &writer->settings);
    jpeg_finish_compress(&writer->info);
}

/* The bytes of that file. Nothing of it is kept. */
static uint64_t count_whole(darkroom_jpeg_writer *writer)
{
    writer->counted = 0;
    writer->is_counting = true;
    write_whole(writer);
    writer->is_counting = false;
    uint64_t bytes = writer->counted + writer->capacity - writer->destination.free_in_buffer;
    darkroom_jpeg_writer_drain(writer);
    return bytes;
}

/* Writes the chosen file into memory of its size. */
static void write_choice(darkroom_jpeg_writer *writer)
{
    uint32_t quality = writer->search.quality;
    set_quality(writer, quality);
    /* libjpeg asks for more as soon as none is left, also after the last byte. */
    uint64_t needed = 1 + (writer->settings.most_bytes > 0 ? writer->search.bytes : count_whole(writer));
    if (needed > writer->capacity) {
        uint8_t *output = realloc(writer->output, needed);
        if (output == NULL)
            darkroom_jpeg_fail(&writer->trap, DARKROOM_JPEG_MEMORY, "not enough memory for the output");
        writer->output = output;
        writer->capacity = needed;
        darkroom_jpeg_writer_drain(writer);
    }
    set_quality(writer, quality);
    write_whole(writer);
}

darkroom_jpeg_result darkroom_jpeg_writer_start(
    darkroom_jpeg_writer *writer, const darkroom_jpeg_settings *settings)
{
    darkroom_jpeg_trap *trap = &writer->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    uint8_t channels = settings->channels, depth = settings->depth;
    if (writer->is_started || channels < 1 || channels > 4 || (depth != 8 && depth != 16)
        || settings->quality < 1 || settings->quality > 100 || settings->exif_length > MOST_EXIF
        || settings->xmp_length > MOST_XMP || settings->photoshop_length > MOST_DATA)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "not to be started so");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    set_parameters(writer, settings, settings->quality, settings->full_chroma);
    size_t components = (size_t)writer->info.input_components;
    if (depth == 16 || components != channels) {
        writer->row = malloc(settings->width * components);
        if (writer->row == NULL)
            darkroom_jpeg_fail(trap, DARKROOM_JPEG_MEMORY, "not enough memory for a row");
    }
    if (is_search(settings)) {
        start_search(writer, settings);
    } else {
        jpeg_start_compress(&writer->info, TRUE);
        write_metadata(&writer->info, settings);
    }
    writer->channels = channels;
    writer->depth = depth;
    writer->row_bytes = (size_t)settings->width * channels * (depth / 8U);
    writer->rows_left = settings->height;
    writer->is_started = true;
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_writer_rows(
    darkroom_jpeg_writer *writer, const uint8_t *rows, size_t row_bytes, uint32_t count)
{
    darkroom_jpeg_trap *trap = &writer->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!writer->is_started || count > writer->rows_left || row_bytes != writer->row_bytes)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "no such rows");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    for (uint32_t i = 0; i < count; i++) {
        /* libjpeg's rows are not const, but it does not write to them. */
        JSAMPROW row = (JSAMPROW)converted(writer, rows + i * row_bytes);
        if (writer->trials != NULL)
            darkroom_jpeg_trials_row(writer->trials, row);
        else
            jpeg_write_scanlines(&writer->info, &row, 1);
        writer->rows_left--;
    }
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_result darkroom_jpeg_writer_try(darkroom_jpeg_writer *writer, int *is_complete)
{
    darkroom_jpeg_trap *trap = &writer->trap;
    *is_complete = 1;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!writer->is_started || writer->rows_left != 0)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "there are rows left");
    uint32_t quality = writer->trials == NULL ? 0 : darkroom_quality_next(&writer->search);
    if (quality == 0)
        return DARKROOM_JPEG_OK;
    *is_complete = 0;
    if (setjmp(trap->jump) != 0)
        return trap->result;
    set_quality(writer, quality);
    uint64_t bytes = writer->settings.most_bytes > 0 ? count_whole(writer) : 0;
    double similarity = 0;
    bool is_small = bytes <= writer->settings.most_bytes;
    if (writer->settings.similarity > 0 && is_small)
        similarity = darkroom_jpeg_trials_similarity(writer->trials, writer->info.quant_tbl_ptrs[0]);
    darkroom_quality_note(&writer->search, quality, bytes, similarity);
    return DARKROOM_JPEG_OK;
}

darkroom_jpeg_choice darkroom_jpeg_writer_choice(const darkroom_jpeg_writer *writer)
{
    const darkroom_quality_search *search = &writer->search;
    return (darkroom_jpeg_choice){search->quality, search->reached, search->smallest};
}

darkroom_jpeg_result darkroom_jpeg_writer_finish(darkroom_jpeg_writer *writer)
{
    darkroom_jpeg_trap *trap = &writer->trap;
    if (trap->result != DARKROOM_JPEG_OK)
        return trap->result;
    if (!writer->is_started || writer->rows_left != 0)
        return darkroom_jpeg_note(trap, DARKROOM_JPEG_MISUSE, "there are rows left");
    if (setjmp(trap->jump) != 0)
        return trap->result;
    if (writer->trials == NULL)
        jpeg_finish_compress(&writer->info);
    else
        write_choice(writer);
    writer->is_started = false;
    return DARKROOM_JPEG_OK;
}

const uint8_t *darkroom_jpeg_writer_output(const darkroom_jpeg_writer *writer, size_t *count)
{
    *count = writer->capacity - writer->destination.free_in_buffer;
    return writer->output;
}

void darkroom_jpeg_writer_drain(darkroom_jpeg_writer *writer)
{
    writer->destination.next_output_byte = writer->output;
    writer->destination.free_in_buffer = writer->capacity;
}

const char *darkroom_jpeg_writer_message(const darkroom_jpeg_writer *writer)
{
    return writer->trap.message;
}
