#include <string.h>

#include "CDarkroomShims.h"
#include "bad.h"

enum { SIDE = 64, STEP = 16 };

/* Changes the answer to a function. */
typedef void (*change)(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data);

/* A PNG with two colours, and a JPEG of the same size. */
static void answer(darkroom_codec_call *call, change change)
{
    size_t bytes;
    uint8_t *memory = codec_memory(call, &bytes);
    darkroom_remote_state *state = (darkroom_remote_state *) (void *) memory;
    for (;;) {
        darkroom_codec_message asked = codec_hear(call);
        memset(memory, 0, bytes);
        state->png = (darkroom_png_header) {
            .width = SIDE, .height = SIDE, .color_type = 3, .bit_depth = 8, .channels = 3, .depth = 8};
        state->jpeg = (darkroom_jpeg_header) {.width = SIDE, .height = SIDE, .channels = 3};
        state->palette_count = 2;
        for (unsigned view = 0; view < DARKROOM_JPEG_MOST_VIEWS; view++) {
            state->widths[view] = state->heights[view] = SIDE;
            state->rows[view] = STEP;
        }
        change((darkroom_remote_function) asked.bits, state, memory + DARKROOM_REMOTE_DATA);
        codec_say(call, &(darkroom_codec_message) {.kind = DARKROOM_CODEC_ANSWER, .bits = asked.bits});
    }
}

static void change_rows(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) data;
    if (function == DARKROOM_REMOTE_JPEG_ROWS) state->result = DARKROOM_JPEG_UNUSUAL;
}

static void change_result(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) data;
    if (function == DARKROOM_REMOTE_JPEG_OPEN) state->result = -1;
}

static void change_size(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) data;
    if (function == DARKROOM_REMOTE_JPEG_START) state->widths[0] = 5000;
}

static void change_nothing(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) function, (void) state, (void) data;
}

static void change_profile(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) data;
    if (function == DARKROOM_REMOTE_JPEG_OPEN) state->profile_bytes = UINT32_MAX;
}

static void change_depth(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) data;
    if (function == DARKROOM_REMOTE_PNG_OPEN) state->png.bit_depth = 3;
}

static void change_index(darkroom_remote_function function, darkroom_remote_state *state, uint8_t *data)
{
    (void) state;
    if (function == DARKROOM_REMOTE_PNG_ROWS) data[100] = 2;
}

void answer_unusual_rows(darkroom_codec_call *call) { answer(call, change_rows); }
void answer_misuse(darkroom_codec_call *call) { answer(call, change_result); }
void answer_large_size(darkroom_codec_call *call) { answer(call, change_size); }
/* Each step has as many rows as the first one. */
void answer_rows_for_ever(darkroom_codec_call *call) { answer(call, change_nothing); }
void answer_large_profile(darkroom_codec_call *call) { answer(call, change_profile); }
void answer_odd_depth(darkroom_codec_call *call) { answer(call, change_depth); }
void answer_strange_index(darkroom_codec_call *call) { answer(call, change_index); }
