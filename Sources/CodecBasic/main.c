#include <png.h>
#include <stdio.h>
#include <string.h>

#include "basic.h"

static const char *library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "libpng %s, libjpeg-turbo", png_get_libpng_ver(NULL));
    return text;
}

void basic_misuse(basic_memory *memory)
{
    codec_fail(memory->call, DARKROOM_CODEC_MISUSE, "a call of a reader makes no sense");
}

void basic_text(char to[DARKROOM_REMOTE_TEXT], const char *text)
{
    snprintf(to, DARKROOM_REMOTE_TEXT, "%s", text ? text : "");
}

bool basic_add_warning(darkroom_remote_state *state, const char *text)
{
    if (!text || state->warning_count == DARKROOM_REMOTE_WARNINGS) return false;
    basic_text(state->warnings[state->warning_count++], text);
    return true;
}

bool basic_add_name(darkroom_remote_state *state, const char *text)
{
    if (!text || state->name_count == DARKROOM_REMOTE_NAMES) return false;
    char *name = state->names[state->name_count++];
    snprintf(name, sizeof *state->names, "%s", text);
    return true;
}

basic_input basic_input_of(basic_memory *memory, const darkroom_codec_message *message)
{
    return (basic_input) {
        .file = codec_source_file(memory->call),
        .largest_allocation = message->bytes,
        .largest_metadata = message->offset,
        .keeps_damaged = message->first != 0,
    };
}

uint32_t basic_piece(basic_memory *memory, const darkroom_codec_message *message, const uint8_t *bytes, size_t count)
{
    if (message->offset > count || message->count > count - message->offset || message->count > memory->data_bytes)
        basic_misuse(memory);
    memcpy(memory->data, bytes + message->offset, message->count);
    return message->count;
}

static void answer(basic_memory *memory, uint32_t function)
{
    codec_say(memory->call, &(darkroom_codec_message) {.kind = DARKROOM_CODEC_ANSWER, .bits = function});
}

/* Answers calls until the daemon is gone. */
static void serve(darkroom_codec_call *call)
{
    basic_memory memory = {.call = call};
    size_t bytes;
    uint8_t *start = codec_memory(call, &bytes);
    if (bytes <= DARKROOM_REMOTE_DATA) basic_misuse(&memory);
    memory.state = (darkroom_remote_state *) (void *) start;
    memory.data = start + DARKROOM_REMOTE_DATA;
    memory.data_bytes = bytes - DARKROOM_REMOTE_DATA;
    for (;;) {
        darkroom_codec_message message = codec_hear(call);
        if (message.kind != DARKROOM_CODEC_CALL) basic_misuse(&memory);
        if (message.bits < DARKROOM_REMOTE_JPEG_NEW) basic_png(&memory, &message);
        else basic_jpeg(&memory, &message);
        answer(&memory, message.bits);
    }
}

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .decode = serve, .reads_source = true};
    return darkroom_codec_main(&codec, argc, argv);
}
