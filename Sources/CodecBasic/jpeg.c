#include <string.h>

#include "basic.h"

static darkroom_jpeg_reader *reader;
/* The length of a row of each view. */
static size_t view_bytes[DARKROOM_JPEG_MOST_VIEWS];
static unsigned view_count;

static void begin(basic_memory *memory, const darkroom_codec_message *message)
{
    basic_input input = basic_input_of(memory, message);
    if (reader) basic_misuse(memory);
    reader = darkroom_jpeg_reader_new(input.file, input.largest_metadata);
    if (!reader) codec_fail(memory->call, DARKROOM_CODEC_MEMORY, "there is no memory for a reader");
    if (input.keeps_damaged) darkroom_jpeg_reader_keep_damaged(reader);
}

static darkroom_jpeg_result open_picture(darkroom_remote_state *state)
{
    darkroom_jpeg_result result = darkroom_jpeg_reader_open(reader, &state->jpeg);
    size_t count = 0;
    darkroom_jpeg_reader_profile(reader, &count);
    state->profile_bytes = (uint32_t) count;
    for (size_t index = 0; index < DARKROOM_REMOTE_EXIFS; index++)
        state->exif_bytes[index] = darkroom_jpeg_reader_exif(reader, index, &count) ? (uint32_t) count : 0;
    return result;
}

static darkroom_jpeg_result start_views(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    unsigned divisors[DARKROOM_JPEG_MOST_VIEWS];
    if (message->count > DARKROOM_JPEG_MOST_VIEWS) basic_misuse(memory);
    codec_await_memory(memory->call);
    memcpy(divisors, memory->data, message->count * sizeof *divisors);
    darkroom_jpeg_result result = darkroom_jpeg_reader_start_views(
        reader, divisors, message->count, state->widths, state->heights, state->rows);
    if (result != DARKROOM_JPEG_OK) return result;
    view_count = message->count;
    size_t needed = 0;
    for (unsigned view = 0; view < view_count; view++) {
        view_bytes[view] = (size_t) state->widths[view] * state->jpeg.channels * state->rows[view];
        needed += view_bytes[view];
    }
    /* Then each size is read by itself. */
    return needed <= memory->data_bytes ? DARKROOM_JPEG_OK : DARKROOM_JPEG_UNUSUAL;
}

static darkroom_jpeg_result step(basic_memory *memory)
{
    uint8_t *rows[DARKROOM_JPEG_MOST_VIEWS] = {NULL};
    uint8_t *next = memory->data;
    if (view_count == 0) basic_misuse(memory);
    for (unsigned view = 0; view < view_count; view++) {
        rows[view] = next;
        next += view_bytes[view];
    }
    return darkroom_jpeg_reader_step(reader, rows, memory->state->rows);
}

static darkroom_jpeg_result absorb(darkroom_remote_state *state)
{
    int is_complete = 0;
    darkroom_jpeg_result result = darkroom_jpeg_reader_absorb(reader, &is_complete);
    state->value = is_complete != 0;
    return result;
}

static darkroom_jpeg_result read_rows(basic_memory *memory, const darkroom_codec_message *message)
{
    if (message->bytes == 0 || message->count > memory->data_bytes / message->bytes) basic_misuse(memory);
    return darkroom_jpeg_reader_rows(reader, memory->data, message->bytes, message->count);
}

static void tell_fact(basic_memory *memory, const darkroom_codec_message *message)
{
    size_t count = 0;
    const uint8_t *bytes = message->first == DARKROOM_REMOTE_PROFILE
        ? darkroom_jpeg_reader_profile(reader, &count)
        : darkroom_jpeg_reader_exif(reader, message->first - DARKROOM_REMOTE_EXIF, &count);
    memory->state->value = basic_piece(memory, message, bytes, bytes ? count : 0);
}

static darkroom_jpeg_result call(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    switch ((darkroom_remote_function) message->bits) {
        case DARKROOM_REMOTE_JPEG_OPEN: return open_picture(state);
        case DARKROOM_REMOTE_JPEG_START:
            codec_await_memory(memory->call);
            return darkroom_jpeg_reader_start(
                reader, (darkroom_jpeg_decoder) message->first, message->count, state->widths, state->heights);
        case DARKROOM_REMOTE_JPEG_VIEWS: return start_views(memory, message);
        case DARKROOM_REMOTE_JPEG_STEP: return step(memory);
        case DARKROOM_REMOTE_JPEG_ABSORB: return absorb(state);
        case DARKROOM_REMOTE_JPEG_ROWS: return read_rows(memory, message);
        case DARKROOM_REMOTE_JPEG_FINISH: return darkroom_jpeg_reader_finish(reader);
        case DARKROOM_REMOTE_JPEG_FACT:
            tell_fact(memory, message);
            return DARKROOM_JPEG_OK;
        default: basic_misuse(memory);
    }
}

void basic_jpeg(basic_memory *memory, const darkroom_codec_message *message)
{
    darkroom_remote_state *state = memory->state;
    if (message->bits == DARKROOM_REMOTE_JPEG_NEW) return begin(memory, message);
    if (!reader) basic_misuse(memory);
    state->result = (int32_t) call(memory, message);
    state->last_count = darkroom_jpeg_reader_last_count(reader);
    state->system_error = darkroom_jpeg_reader_errno(reader);
    state->is_reference = darkroom_jpeg_reader_is_reference(reader) != 0;
    basic_text(state->message, darkroom_jpeg_reader_message(reader));
    state->warning_count = state->name_count = 0;
    while (basic_add_warning(state, darkroom_jpeg_reader_warning(reader, state->warning_count))) {}
    while (basic_add_name(state, darkroom_jpeg_reader_segment(reader, state->name_count))) {}
}
