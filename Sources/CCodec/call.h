#ifndef DARKROOM_CODEC_CALL_H
#define DARKROOM_CODEC_CALL_H

#include "conversation.h"

/* What the files of the conversation share: conversation.c has messages and slots, decoding.c, encoding.c and calls.c what
 * a picture needs in each direction. */

/* What the daemon can have said while a free slot is awaited: rows in all of its slots, and END. */
enum { WAITING = DARKROOM_CODEC_SLOTS + 1 };

/* Allocated before the child is confined; one for each process. */
struct darkroom_codec_call {
    darkroom_codec_limits limits;
    uint8_t *slots;
    uint32_t slot_bytes;
    /* The first and the number of those that this side fills. */
    uint32_t own_first, own_count;
    /* A bit for each slot of this side that the daemon has. */
    uint32_t lent;
    /* To decode. */
    const uint32_t *is_permitted;
    uint32_t page;
    const uint8_t *source;
    size_t source_bytes;
    /* To encode: the slot whose rows are in use, or -1. */
    int rows_slot;
    codec_metadata metadata;
    darkroom_codec_header header;
    /* The rows so far. */
    uint32_t rows;
    /* The chosen quality and its similarity; 0 without a choice. */
    darkroom_codec_options chosen;
    /* The slot that is being filled, what is in it, and the place of its bytes in the result. */
    int filling;
    size_t filled;
    uint32_t filled_rows;
    uint64_t filled_offset;
    /* A ring of what the daemon said meanwhile. */
    darkroom_codec_message waiting[WAITING];
    uint32_t waiting_first, waiting_count;
};

/* Whether a picture is in work whose memory the daemon knows. */
extern bool call_is_counted;

/* Says a message; without a daemon, the process ends. */
void call_say(const darkroom_codec_message *message);
/* Waits for the next message; without a daemon, the process ends. */
darkroom_codec_message call_hear(void);
_Noreturn void call_misuse(darkroom_codec_call *call, const char *what);

uint8_t *call_slot(const darkroom_codec_call *call, uint32_t index);
/* Waits for a slot of this side to fill. */
uint32_t call_take_slot(darkroom_codec_call *call);
/* The daemon has given a slot of this side back. */
void call_freed(darkroom_codec_call *call, uint32_t index);
/* Says a message about a slot of this side, which the daemon then has. */
void call_lend(darkroom_codec_call *call, darkroom_codec_message message);
/* Says what is in the slot that is being filled: rows of a decoder, bytes of an encoder. */
void call_flush(darkroom_codec_call *call);

#endif
