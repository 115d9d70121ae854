#include <string.h>

#include "call.h"

static void give_back(uint32_t index)
{
    call_say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_FREE, .slot = index});
}

/* The next message of the picture. What the daemon frees meanwhile is free. */
static darkroom_codec_message hear_picture(darkroom_codec_call *call)
{
    if (call->waiting_count > 0) {
        darkroom_codec_message message = call->waiting[call->waiting_first];
        call->waiting_first = (call->waiting_first + 1) % WAITING;
        call->waiting_count--;
        return message;
    }
    for (;;) {
        darkroom_codec_message message = call_hear();
        if (message.kind != DARKROOM_CODEC_FREE) return message;
        call_freed(call, message.slot);
    }
}

static codec_blob hear_blob(darkroom_codec_call *call, uint32_t which, uint32_t bytes)
{
    if (bytes == 0) return (codec_blob) {NULL, 0};
    if (bytes > call->limits.most_metadata) call_misuse(call, "the size of metadata");
    uint8_t *blob = codec_allocate(call, bytes, 1);
    for (uint32_t done = 0; done < bytes;) {
        darkroom_codec_message message = hear_picture(call);
        if (message.kind != DARKROOM_CODEC_BLOB || message.bits != which || message.slot >= call->own_first
            || message.bytes == 0 || message.bytes > call->slot_bytes || message.bytes > bytes - done)
            call_misuse(call, "metadata");
        memcpy(blob + done, call_slot(call, message.slot), message.bytes);
        done += (uint32_t) message.bytes;
        give_back(message.slot);
    }
    return (codec_blob) {blob, bytes};
}

static bool makes_sense(const darkroom_codec_header *header)
{
    bool is_colour = header->colour == DARKROOM_CODEC_GRAY || header->colour == DARKROOM_CODEC_RGB
        || header->colour == DARKROOM_CODEC_CMYK;
    return is_colour && header->width > 0 && header->height > 0 && header->height <= INT32_MAX
        && (header->channels == header->colour || header->channels == header->colour + 1)
        && (header->depth == 8 || header->depth == 16);
}

const darkroom_codec_header *codec_picture(
    darkroom_codec_call *call, darkroom_codec_options *options, codec_metadata *metadata)
{
    darkroom_codec_message message = hear_picture(call);
    if (message.kind != DARKROOM_CODEC_HEADER || !makes_sense(&message.header)
        || codec_row_bytes(&message.header) > call->slot_bytes)
        call_misuse(call, "a header");
    call->header = message.header;
    call_is_counted = true;
    *options = message.options;
    call->metadata.icc = hear_blob(call, DARKROOM_CODEC_ICC, call->header.icc);
    call->metadata.exif = hear_blob(call, DARKROOM_CODEC_EXIF, call->header.exif);
    call->metadata.xmp = hear_blob(call, DARKROOM_CODEC_XMP, call->header.xmp);
    call->metadata.iptc = hear_blob(call, DARKROOM_CODEC_IPTC, call->header.iptc);
    *metadata = call->metadata;
    return &call->header;
}

const uint8_t *codec_next_rows(darkroom_codec_call *call, uint32_t *count)
{
    if (call->rows_slot >= 0) give_back((uint32_t) call->rows_slot);
    call->rows_slot = -1;
    *count = 0;
    if (call->rows == call->header.height) return NULL;
    darkroom_codec_message message = hear_picture(call);
    size_t row = codec_row_bytes(&call->header);
    if (message.kind != DARKROOM_CODEC_ROWS || message.slot >= call->own_first || message.first != call->rows
        || message.count == 0 || message.count > call->header.height - call->rows
        || message.count > call->slot_bytes / row)
        call_misuse(call, "rows");
    call->rows += message.count;
    call->rows_slot = (int) message.slot;
    *count = message.count;
    return call_slot(call, message.slot);
}

void codec_bytes(darkroom_codec_call *call, uint64_t offset, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    if (call->filling >= 0 && call->filled_offset + call->filled != offset) call_flush(call);
    while (count > 0) {
        if (call->filling < 0) {
            call->filling = (int) call_take_slot(call);
            call->filled = 0;
            call->filled_offset = offset;
        }
        size_t most = DARKROOM_CODEC_BAND < call->slot_bytes ? DARKROOM_CODEC_BAND : call->slot_bytes;
        size_t room = most - call->filled;
        size_t some = count < room ? count : room;
        memcpy(call_slot(call, (uint32_t) call->filling) + call->filled, from, some);
        call->filled += some;
        from += some;
        offset += some;
        count -= some;
        if (some == room) call_flush(call);
    }
}

void codec_chosen(darkroom_codec_call *call, uint32_t quality, double similarity)
{
    call->chosen = (darkroom_codec_options) {.quality = quality, .similarity = similarity};
}
