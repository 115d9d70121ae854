#include <stdlib.h>

#include "samples.h"

const darkroom_codec_options sample_options[] = {{.quality = 80, .effort = 1}, {.lossless = 1, .effort = 3}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

/* The encoder is tried with all kinds; what it makes is read again there. */
void samples_make(uint32_t width, uint32_t height) { (void) width, (void) height; }
