#include <jxl/decode.h>
#include <jxl/encode.h>
#include <stdlib.h>

#include "samples.h"

const bool samples_leave_nothing = false;
const darkroom_codec_options sample_options[] = {
    {.quality = 80, .effort = 1}, {.lossless = 1, .effort = 3}, {.quality = 90, .effort = 9}, {.lossless = 1, .effort = 9}};
const size_t sample_options_count = sizeof sample_options / sizeof *sample_options;

/* The encoder is tried with all kinds; what it makes is read again there. */
void samples_make(uint32_t width, uint32_t height) { (void) width, (void) height; }

/* ---- libjxl keeps tables between pictures: what a picture leaves is destroyed when the next one begins ---- */

JxlDecoder *__real_JxlDecoderCreate(const JxlMemoryManager *manager);
void __real_JxlDecoderDestroy(JxlDecoder *decoder);
JxlEncoder *__real_JxlEncoderCreate(const JxlMemoryManager *manager);
JxlDecoder *__wrap_JxlDecoderCreate(const JxlMemoryManager *manager);
void __wrap_JxlDecoderDestroy(JxlDecoder *decoder);
JxlEncoder *__wrap_JxlEncoderCreate(const JxlMemoryManager *manager);

static JxlDecoder *decoder;
static JxlEncoder *encoder;

JxlDecoder *__wrap_JxlDecoderCreate(const JxlMemoryManager *manager)
{
    if (decoder) __real_JxlDecoderDestroy(decoder);
    return decoder = __real_JxlDecoderCreate(manager);
}

void __wrap_JxlDecoderDestroy(JxlDecoder *last)
{
    __real_JxlDecoderDestroy(last);
    decoder = NULL;
}

JxlEncoder *__wrap_JxlEncoderCreate(const JxlMemoryManager *manager)
{
    if (encoder) JxlEncoderDestroy(encoder);
    return encoder = __real_JxlEncoderCreate(manager);
}
