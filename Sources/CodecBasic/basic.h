/* The readers of PNG and JPEG behind the conversation of a codec process. */
#ifndef DARKROOM_BASIC_H
#define DARKROOM_BASIC_H

#include <stdbool.h>

#include "CDarkroomShims.h"
#include "darkroom_codec.h"

/* The memory that the daemon sees. */
typedef struct {
    darkroom_codec_call *call;
    darkroom_remote_state *state;
    /* Behind the state. */
    uint8_t *data;
    size_t data_bytes;
} basic_memory;

/* The descriptor of the picture's file, and the limits of the daemon. */
typedef struct {
    int file;
    uint64_t largest_allocation, largest_metadata;
    bool keeps_damaged;
} basic_input;

/* Do the one call in `message`, and set the state. End the process if it makes no sense. */
void basic_png(basic_memory *memory, const darkroom_codec_message *message);
void basic_jpeg(basic_memory *memory, const darkroom_codec_message *message);

basic_input basic_input_of(basic_memory *memory, const darkroom_codec_message *message);
void basic_text(char to[DARKROOM_REMOTE_TEXT], const char *text);
/* Add a remark, or the name of a chunk or segment. False after the last one, which is NULL, and if there is no room. */
bool basic_add_warning(darkroom_remote_state *state, const char *text);
bool basic_add_name(darkroom_remote_state *state, const char *text);
/* Copies a piece of metadata to the data. Returns its bytes. */
uint32_t basic_piece(basic_memory *memory, const darkroom_codec_message *message, const uint8_t *bytes, size_t count);
_Noreturn void basic_misuse(basic_memory *memory);

#endif
