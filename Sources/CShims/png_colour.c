/* A PNG's information about its colours, and its Exif. */
#include "png_reader.h"

#include <string.h>

/* A chunk that libpng kept unparsed, or NULL. */
static const png_unknown_chunk *find_chunk(darkroom_png_reader *reader, const char *name)
{
    png_unknown_chunkp chunks = NULL;
    const int count = png_get_unknown_chunks(reader->png, reader->info, &chunks);
    for (int i = 0; i < count; i++)
        if (memcmp(chunks[i].name, name, 4) == 0)
            return &chunks[i];
    return NULL;
}

const uint8_t *darkroom_png_reader_exif(darkroom_png_reader *reader, size_t *count)
{
    *count = 0;
    if (!reader->is_open || setjmp(reader->trap.jump) != 0)
        return NULL;
    const png_unknown_chunk *chunk = find_chunk(reader, "eXIf");
    if (chunk == NULL)
        return NULL;
    *count = chunk->size;
    return chunk->data;
}

void darkroom_png_reader_colour(darkroom_png_reader *reader, darkroom_png_colour *colour)
{
    memset(colour, 0, sizeof *colour);
    if (!reader->is_open || setjmp(reader->trap.jump) != 0)
        return;
    png_structp png = reader->png;
    png_infop info = reader->info;
    const darkroom_png_source *source = &reader->source;
    /* libpng derives some of these from others. Only those in the file count. */
    int intent = 0;
    if (darkroom_png_source_has_met(source, "sRGB") && png_get_sRGB(png, info, &intent) != 0) {
        colour->rendering_intent = intent;
        colour->present |= DARKROOM_PNG_HAS_SRGB;
    }
    png_fixed_point gamma = 0;
    if (darkroom_png_source_has_met(source, "gAMA")
        && png_get_gAMA_fixed(png, info, &gamma) != 0) {
        colour->gamma = (uint32_t)gamma;
        colour->present |= DARKROOM_PNG_HAS_GAMA;
    }
    int32_t *c = colour->chromaticities;
    if (darkroom_png_source_has_met(source, "cHRM")
        && png_get_cHRM_fixed(
            png, info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]) != 0)
        colour->present |= DARKROOM_PNG_HAS_CHRM;
    int unit = 0;
    if (png_get_pHYs(png, info, &colour->pixels_x, &colour->pixels_y, &unit) != 0) {
        colour->unit = (uint8_t)unit;
        colour->present |= DARKROOM_PNG_HAS_PHYS;
    }
    const png_unknown_chunk *code_points = find_chunk(reader, "cICP");
    if (code_points != NULL && code_points->size == sizeof colour->code_points) {
        memcpy(colour->code_points, code_points->data, sizeof colour->code_points);
        colour->present |= DARKROOM_PNG_HAS_CICP;
    }
    char *name = NULL;
    uint8_t *profile = NULL;
    int method = 0;
    if (png_get_iCCP(png, info, &name, &method, &profile, &colour->profile_length) != 0) {
        colour->profile_name = name;
        colour->profile = profile;
        colour->present |= DARKROOM_PNG_HAS_ICCP;
    }
}

bool darkroom_png_finds_transparency(png_const_structp png, png_infop info)
{
    int count = 0;
    return png_get_tRNS(png, info, NULL, &count, NULL) != 0 && count > 0;
}

int darkroom_png_reader_has_transparency(darkroom_png_reader *reader)
{
    return reader->is_open && darkroom_png_finds_transparency(reader->png, reader->info);
}
