/* For a program that answers calls instead of telling a picture. */
#include "call.h"

int codec_source_file(const darkroom_codec_call *call)
{
    (void) call;
    return CHILD_SOURCE;
}

uint8_t *codec_memory(const darkroom_codec_call *call, size_t *bytes)
{
    *bytes = (size_t) call->own_count * call->slot_bytes;
    return call->slots;
}

darkroom_codec_message codec_hear(darkroom_codec_call *call)
{
    (void) call;
    return call_hear();
}

void codec_say(darkroom_codec_call *call, const darkroom_codec_message *message)
{
    (void) call;
    call_say(message);
}
