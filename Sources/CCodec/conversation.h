#ifndef DARKROOM_CODEC_CONVERSATION_H
#define DARKROOM_CODEC_CONVERSATION_H

#include "darkroom_codec.h"
#include "darkroom_codec_socket.h"

/* The child of an order: its descriptors have these numbers. */
enum { CHILD_SOCKET = 3, CHILD_MEMORY = 4, CHILD_SOURCE = 5 };

/* The shared memory of an order, before it is confined: maps the slots, and the source if it is to be decoded. The waiting
 * process sets `is_permitted` when it has raised the limit of memory. NULL if that fails. */
darkroom_codec_call *conversation_new(const darkroom_codec_message *order, bool decodes, const uint32_t *is_permitted);
/* The end of a child whose work is done. */
_Noreturn void conversation_end(darkroom_codec_call *call);

/* The end of a child that has no memory for so many bytes; see memory.c. Returns where this is for the library to handle:
 * before the header of a picture, which may be a lie. */
void conversation_without_memory(size_t bytes);

#endif
