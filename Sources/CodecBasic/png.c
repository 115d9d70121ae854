#include <string.h>

#include "basic.h"

static darkroom_png_reader *reader;
static size_t row_bytes;

static void begin(basic_memory *memory, const darkroom_codec_message *message)
{
    basic_input input = basic_input_of(memory, message);
    if (reader) basic_misuse(memory);
    reader = darkroom_png_reader_new(input.file, input.largest_allocation, input.largest_metadata);
    if (!reader) codec_fail(memory->call, DARKROOM_CODEC_MEMORY, "there is no memory for a reader");
    if (input.keeps_damaged) darkroom_png_reader_keep_damaged(reader);
}

static darkroom_png_result read_prefix(basic_memory *memory, const darkroom_codec_message *message)
{
    size_t copied = 0;
    if (message->count > memory->data_bytes) basic_misuse(memory);
    darkroom_png_result result = darkroom_png_reader_prefix(reader, memory->data, message->count, &copied);
    memory->state->value = (uint32_t) copied;
    return result;
}

static darkroom_png_result open_picture(darkroom_remote_state *state)
{
    darkroom_png_result result = darkroom_png_reader_open(reader, &state->png);
    darkroom_png_reader_colour(reader, &state->colour);
    basic_text(state->profile_name, state->colour.profile_name);
    state->profile_bytes = state->colour.profile_length;
    state->colour.profile_name = NULL;
    state->colour.profile = NULL;
    size_t count;
    darkroom_png_reader_exif(reader, &count);
    state->exif_bytes[0] = (uint32_t) count;
    state->has_transparency = darkroom_png_reader_has_transparency(reader) != 0;
    return result;
}

static darkroom_png_result start(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    codec_await_memory(memory->call);
    darkroom_png_result result = darkroom_png_reader_start(reader, (darkroom_png_decoder) message->first, &row_bytes);
    unsigned count = 0;
    const uint8_t (*colours)[4] = result == DARKROOM_PNG_OK ? darkroom_png_reader_palette(reader, &count) : NULL;
    state->palette_count = colours ? count : 0;
    if (colours) memcpy(state->palette, colours, count * sizeof *colours);
    return result;
}

static darkroom_png_result read_rows(basic_memory *memory, const darkroom_codec_message *message)
{
    if (row_bytes == 0 || message->count > memory->data_bytes / row_bytes) basic_misuse(memory);
    return darkroom_png_reader_rows(reader, memory->data, message->count);
}

static void tell_fact(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_png_colour colour;
    size_t count;
    const uint8_t *bytes;
    if (message->first == DARKROOM_REMOTE_PROFILE) {
        darkroom_png_reader_colour(reader, &colour);
        bytes = colour.profile;
        count = colour.profile_length;
    } else {
        bytes = darkroom_png_reader_exif(reader, &count);
    }
    memory->state->value = basic_piece(memory, message, bytes, bytes ? count : 0);
}

static darkroom_png_result call(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    switch ((darkroom_remote_function) message->bits) {
        case DARKROOM_REMOTE_PNG_PREFIX: return read_prefix(memory, message);
        case DARKROOM_REMOTE_PNG_OPEN: return open_picture(state);
        case DARKROOM_REMOTE_PNG_START: return start(memory, message);
        case DARKROOM_REMOTE_PNG_KEEP_INDICES:
            darkroom_png_reader_keep_indices(reader);
            row_bytes = state->png.width;
            return DARKROOM_PNG_OK;
        case DARKROOM_REMOTE_PNG_KEEP_DATA:
            state->value = darkroom_png_reader_keep_data(reader);
            return DARKROOM_PNG_OK;
        case DARKROOM_REMOTE_PNG_TAKE_DATA:
            if (message->count > memory->data_bytes) basic_misuse(memory);
            state->value = (uint32_t) darkroom_png_reader_take_data(
                reader, memory->data, message->count, message->first != 0);
            return DARKROOM_PNG_OK;
        case DARKROOM_REMOTE_PNG_ROWS: return read_rows(memory, message);
        case DARKROOM_REMOTE_PNG_FINISH: return darkroom_png_reader_finish(reader);
        case DARKROOM_REMOTE_PNG_FACT:
            tell_fact(memory, message);
            return DARKROOM_PNG_OK;
        default: basic_misuse(memory);
    }
}

void basic_png(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    if (message->bits == DARKROOM_REMOTE_PNG_NEW) return begin(memory, message);
    if (!reader) basic_misuse(memory);
    state->result = (int32_t) call(memory, message);
    state->last_count = darkroom_png_reader_last_count(reader);
    state->system_error = darkroom_png_reader_errno(reader);
    state->has_extra_rows = darkroom_png_reader_has_extra_rows(reader);
    basic_text(state->message, darkroom_png_reader_message(reader));
    state->warning_count = state->name_count = 0;
    while (basic_add_warning(state, darkroom_png_reader_warning(reader, state->warning_count))) {}
    while (basic_add_name(state, darkroom_png_reader_chunk(reader, state->name_count))) {}
}
