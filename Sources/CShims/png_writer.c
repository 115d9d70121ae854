#include "png_trap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* All memory of a writer belongs to this block, which is created before the first setjmp. */
struct darkroom_png_writer {
    darkroom_png_trap trap; /* first, so that it is there for libpng's first callback */
    png_structp png;
    png_infop info;
    bool is_started;
    png_color colours[256];
    png_byte alphas[256];
    unsigned colour_count; /* 0 for a picture without a palette */
    unsigned alpha_count;  /* up to the last colour that is not opaque */
    int index_bits;
    uint8_t *output;
    size_t count, capacity;
};

/* ---- libpng's callbacks ---- */

static void ignore_warning(png_structp png, png_const_charp message)
{
    /* libpng makes remarks on invalid colour chunks. darkroom_png_writer_start returns which ones it
     * accepted. */
    (void)png;
    (void)message;
}

static void append(png_structp png, png_bytep bytes, size_t count)
{
    darkroom_png_writer *writer = png_get_io_ptr(png);
    if (count > writer->capacity - writer->count) {
        size_t capacity = writer->capacity == 0 ? 4 << 10 : 2 * writer->capacity;
        while (capacity - writer->count < count)
            capacity *= 2;
        uint8_t *output = realloc(writer->output, capacity);
        if (output == NULL) {
            writer->trap.expected = DARKROOM_PNG_MEMORY;
            png_error(png, "not enough memory for the output");
        }
        writer->output = output;
        writer->capacity = capacity;
    }
    memcpy(writer->output + writer->count, bytes, count);
    writer->count += count;
}

static void flush(png_structp png)
{
    (void)png;
}

/* ---- Entries ---- */

darkroom_png_writer *darkroom_png_writer_new(void)
{
    darkroom_png_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    if (setjmp(writer->trap.jump) != 0) {
        darkroom_png_writer_free(writer);
        return NULL;
    }
    writer->png = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, &writer->trap, darkroom_png_error, ignore_warning);
    if (writer->png != NULL)
        writer->info = png_create_info_struct(writer->png);
    if (writer->info == NULL) {
        darkroom_png_writer_free(writer);
        return NULL;
    }
    png_set_write_fn(writer->png, writer, append, flush);
    /* Without this, a colour chunk is an error when it is written, although libpng only makes a remark when
     * it reads it. */
    png_set_benign_errors(writer->png, 1);
    return writer;
}

void darkroom_png_writer_free(darkroom_png_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->png != NULL && setjmp(writer->trap.jump) == 0)
        png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->output);
    free(writer);
}

/* The name of a profile. libpng removes unprintable characters, and fails if nothing is left. */
static const char *printable(const char *name)
{
    for (const char *c = name; *c != 0; c++) {
        const unsigned char byte = (unsigned char)*c;
        if ((byte > 32 && byte < 127) || byte > 160)
            return name;
    }
    return DARKROOM_PNG_PROFILE_NAME;
}

/* Passes the colour chunks to libpng, except cICP, which it does not know. */
static void set_colour(png_structp png, png_infop info, const darkroom_png_colour *colour)
{
    const int32_t *c = colour->chromaticities;
    if (colour->present & DARKROOM_PNG_HAS_GAMA)
        png_set_gAMA_fixed(png, info, (png_fixed_point)colour->gamma);
    if (colour->present & DARKROOM_PNG_HAS_CHRM)
        png_set_cHRM_fixed(png, info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    if (colour->present & DARKROOM_PNG_HAS_ICCP)
        png_set_iCCP(
            png, info, printable(colour->profile_name), PNG_COMPRESSION_TYPE_BASE, colour->profile,
            colour->profile_length);
    if (colour->present & DARKROOM_PNG_HAS_SRGB)
        png_set_sRGB(png, info, colour->rendering_intent);
    if (colour->present & DARKROOM_PNG_HAS_PHYS)
        png_set_pHYs(png, info, colour->pixels_x, colour->pixels_y, colour->unit);
}

/* The requested chunks that libpng has accepted. */
static uint32_t accepted(png_structp png, png_infop info, const darkroom_png_colour *colour)
{
    uint32_t present = colour->present & DARKROOM_PNG_HAS_CICP;
    if (png_get_valid(png, info, PNG_INFO_gAMA))
        present |= DARKROOM_PNG_HAS_GAMA;
    if (png_get_valid(png, info, PNG_INFO_cHRM))
        present |= DARKROOM_PNG_HAS_CHRM;
    if (png_get_valid(png, info, PNG_INFO_iCCP))
        present |= DARKROOM_PNG_HAS_ICCP;
    else if (png_get_valid(png, info, PNG_INFO_sRGB))
        present |= DARKROOM_PNG_HAS_SRGB;
    if (png_get_valid(png, info, PNG_INFO_pHYs))
        present |= DARKROOM_PNG_HAS_PHYS;
    return present & colour->present;
}

darkroom_png_result darkroom_png_writer_palette(
    darkroom_png_writer *writer, const uint8_t (*colours)[4], unsigned count, int bits,
    bool has_alpha)
{
    const bool is_usual = bits == 1 || bits == 2 || bits == 4 || bits == 8;
    if (writer->is_started || !is_usual || count < 1 || count > 1u << bits)
        return darkroom_png_note(&writer->trap, DARKROOM_PNG_MISUSE, "not such a palette");
    for (unsigned i = 0; i < count; i++) {
        writer->colours[i] = (png_color){colours[i][0], colours[i][1], colours[i][2]};
        writer->alphas[i] = colours[i][3];
        if (has_alpha && (i == 0 || colours[i][3] != 255))
            writer->alpha_count = i + 1;
    }
    writer->colour_count = count;
    writer->index_bits = bits;
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_writer_start(
    darkroom_png_writer *writer, uint32_t width, uint32_t height, int channels, int depth,
    const darkroom_png_colour *colour, uint32_t *written)
{
    static const int color_types[] = {
        PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
        PNG_COLOR_TYPE_RGB_ALPHA};
    if (writer->trap.result != DARKROOM_PNG_OK)
        return writer->trap.result;
    if (writer->is_started || channels < 1 || channels > 4 || (depth != 8 && depth != 16))
        return darkroom_png_note(&writer->trap, DARKROOM_PNG_MISUSE, "not to be started so");
    if (setjmp(writer->trap.jump) != 0)
        return writer->trap.result;
    png_structp png = writer->png;
    png_infop info = writer->info;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    const bool has_palette = writer->colour_count > 0;
    png_set_IHDR(
        png, info, width, height, has_palette ? writer->index_bits : depth,
        has_palette ? PNG_COLOR_TYPE_PALETTE : color_types[channels - 1], PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (has_palette)
        png_set_PLTE(png, info, writer->colours, (int)writer->colour_count);
    if (writer->alpha_count > 0)
        png_set_tRNS(png, info, writer->alphas, (int)writer->alpha_count, NULL);
    set_colour(png, info, colour);
    *written = accepted(png, info, colour);
    png_write_info(png, info);
    if (colour->present & DARKROOM_PNG_HAS_CICP)
        png_write_chunk(png, (png_const_bytep) "cICP", colour->code_points, 4);
    writer->is_started = true;
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_writer_exif(
    darkroom_png_writer *writer, const uint8_t *tiff, size_t count)
{
    if (writer->trap.result != DARKROOM_PNG_OK)
        return writer->trap.result;
    if (!writer->is_started)
        return darkroom_png_note(&writer->trap, DARKROOM_PNG_MISUSE, "not started");
    if (setjmp(writer->trap.jump) != 0)
        return writer->trap.result;
    png_write_chunk(writer->png, (png_const_bytep) "eXIf", tiff, count);
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_writer_xmp(
    darkroom_png_writer *writer, const uint8_t *packet, size_t count)
{
    /* Not compressed, and neither a language nor a translated keyword. */
    static const png_byte head[] = "XML:com.adobe.xmp\0\0\0\0";
    if (writer->trap.result != DARKROOM_PNG_OK)
        return writer->trap.result;
    if (!writer->is_started || count > PNG_UINT_31_MAX - sizeof head)
        return darkroom_png_note(&writer->trap, DARKROOM_PNG_MISUSE, "not started");
    if (setjmp(writer->trap.jump) != 0)
        return writer->trap.result;
    png_write_chunk_start(writer->png, (png_const_bytep) "iTXt", (png_uint_32)(sizeof head + count));
    png_write_chunk_data(writer->png, head, sizeof head);
    png_write_chunk_data(writer->png, packet, count);
    png_write_chunk_end(writer->png);
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_writer_finish(darkroom_png_writer *writer)
{
    if (writer->trap.result != DARKROOM_PNG_OK)
        return writer->trap.result;
    if (!writer->is_started)
        return darkroom_png_note(&writer->trap, DARKROOM_PNG_MISUSE, "not started");
    if (setjmp(writer->trap.jump) != 0)
        return writer->trap.result;
    /* Not png_write_end, which requires that libpng itself has written the IDAT chunks. */
    png_write_chunk(writer->png, (png_const_bytep) "IEND", NULL, 0);
    return DARKROOM_PNG_OK;
}

const uint8_t *darkroom_png_writer_output(const darkroom_png_writer *writer, size_t *count)
{
    *count = writer->count;
    return writer->output;
}

void darkroom_png_writer_drain(darkroom_png_writer *writer)
{
    writer->count = 0;
}

const char *darkroom_png_writer_message(const darkroom_png_writer *writer)
{
    return writer->trap.message;
}
