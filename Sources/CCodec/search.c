/* The choice of a quality by trials, for formats whose libraries encode in memory. */
#include <stdlib.h>

#include "darkroom_codec.h"

bool codec_searches(const darkroom_codec_options *options) { return options->most_bytes > 0 || options->similarity > 0; }

codec_light codec_light_for(
    darkroom_codec_call *call, const darkroom_codec_header *header, const darkroom_codec_options *options)
{
    codec_light light = {.header = header};
    if (options->similarity == 0) return light;
    light.samples = codec_allocate(call, header->width, header->height);
    light.memory = codec_allocate(call, darkroom_ssim_bytes(header->width) + header->width, 1);
    return light;
}

void codec_light_add(codec_light *light, const uint8_t *rows, uint32_t count)
{
    const darkroom_codec_header *header = light->header;
    if (!light->samples) return;
    for (uint32_t line = 0; line < count; line++, light->rows++)
        darkroom_brightness(rows + codec_row_bytes(header) * line, header->width, header->channels, header->depth,
            light->samples + (size_t) header->width * light->rows);
}

double codec_similarity(const codec_light *light, const uint8_t *pixels, size_t stride, uint32_t channels)
{
    uint32_t width = light->header->width, height = light->header->height;
    uint8_t *row = (uint8_t *) light->memory + darkroom_ssim_bytes(width);
    darkroom_ssim ssim;
    darkroom_ssim_begin(&ssim, light->memory, width, height);
    for (uint32_t y = 0; y < height; y++) {
        darkroom_brightness(pixels + stride * y, width, channels, 8, row);
        darkroom_ssim_row(&ssim, light->samples + (size_t) width * y, row);
    }
    return darkroom_ssim_end(&ssim);
}

void codec_search(darkroom_codec_call *call, const darkroom_codec_options *options, codec_encoder encode, void *context)
{
    darkroom_quality_search search = darkroom_quality_begin(options->quality, options->most_bytes, options->similarity);
    codec_file best = {NULL, 0};
    for (uint32_t quality; (quality = darkroom_quality_next(&search)) > 0;) {
        darkroom_codec_options trial = *options;
        trial.quality = quality;
        double similarity = 0;
        codec_file file = encode(context, &trial, &similarity);
        bool is_choice = darkroom_quality_note(&search, quality, file.count, similarity);
        free(is_choice ? best.bytes : file.bytes);
        if (is_choice) best = file;
    }
    if (search.quality == 0)
        codec_fail(call, DARKROOM_CODEC_TOO_MANY_BYTES, "%llu", (unsigned long long) search.smallest);
    codec_bytes(call, 0, best.bytes, best.count);
    codec_chosen(call, search.quality, search.reached);
    free(best.bytes);
}
