#define _GNU_SOURCE
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"

uint32_t codec_page(const darkroom_codec_call *call) { return call->page ? call->page : 1; }

const uint8_t *codec_source(darkroom_codec_call *call, size_t *bytes)
{
    *bytes = call->source_bytes;
    return call->source;
}

static void say_blob(darkroom_codec_call *call, uint32_t which, codec_blob blob)
{
    for (size_t done = 0; done < blob.count;) {
        size_t count = blob.count - done < call->slot_bytes ? blob.count - done : call->slot_bytes;
        uint32_t index = call_take_slot(call);
        memcpy(call_slot(call, index), blob.bytes + done, count);
        call_lend(call, (darkroom_codec_message) {
            .kind = DARKROOM_CODEC_BLOB, .bits = which, .slot = index, .bytes = count});
        done += count;
    }
}

/* What is larger than permitted is left out. */
static codec_blob bounded(darkroom_codec_call *call, const char *name, codec_blob blob)
{
    if (blob.count <= call->limits.most_metadata) return blob;
    codec_warn(call, DARKROOM_CODEC_METADATA, "%s of %zu bytes is left out: at most %u are read", name, blob.count,
        call->limits.most_metadata);
    return (codec_blob) {NULL, 0};
}

/* The daemon's word may be here before the waiting process has raised the limit. */
void codec_await_memory(darkroom_codec_call *call)
{
    while (__atomic_load_n(call->is_permitted, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, call->is_permitted, FUTEX_WAIT, 0, NULL, NULL, 0);
    call_is_counted = true;
}

/* The divisor that the daemon wants. */
static uint32_t divisor_of(darkroom_codec_call *call, uint32_t wanted)
{
    bool is_known = wanted <= 1 || wanted == 2 || wanted == 4 || wanted == 8;
    if (!is_known || (wanted > 1 && !call->header.reduces)) call_misuse(call, "the size of the rows");
    uint32_t divisor = wanted > 1 ? wanted : 1;
    call->header.width = codec_reduced(call->header.width, divisor);
    call->header.height = codec_reduced(call->header.height, divisor);
    return divisor;
}

uint32_t codec_begin(darkroom_codec_call *call, darkroom_codec_header header, codec_metadata metadata)
{
    uint32_t side = header.width > header.height ? header.width : header.height;
    if (header.width == 0 || header.height == 0)
        codec_fail(call, DARKROOM_CODEC_DAMAGED, "the picture has no pixels");
    if (side > call->limits.largest_side)
        codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "the picture has %u x %u pixels; a side may have %u", header.width,
            header.height, call->limits.largest_side);
    if ((uint64_t) header.width * header.height > call->limits.most_pixels)
        codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "the picture has %u x %u pixels; it may have %llu", header.width,
            header.height, (unsigned long long) call->limits.most_pixels);
    if (codec_row_bytes(&header) > call->slot_bytes)
        codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "a row of the picture does not fit into a slot");
    metadata.icc = bounded(call, "the colour profile", metadata.icc);
    metadata.exif = bounded(call, "the Exif data", metadata.exif);
    metadata.xmp = bounded(call, "the XMP data", metadata.xmp);
    metadata.iptc = bounded(call, "the IPTC data", metadata.iptc);
    header.icc = (uint32_t) metadata.icc.count;
    header.exif = (uint32_t) metadata.exif.count;
    header.xmp = (uint32_t) metadata.xmp.count;
    header.iptc = (uint32_t) metadata.iptc.count;
    if (header.page == 0) header.page = header.pages = 1;
    call->header = header;
    call_say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_HEADER, .header = header});
    say_blob(call, DARKROOM_CODEC_ICC, metadata.icc);
    say_blob(call, DARKROOM_CODEC_EXIF, metadata.exif);
    say_blob(call, DARKROOM_CODEC_XMP, metadata.xmp);
    say_blob(call, DARKROOM_CODEC_IPTC, metadata.iptc);
    for (;;) {
        darkroom_codec_message message = call_hear();
        if (message.kind == DARKROOM_CODEC_GO) {
            uint32_t divisor = divisor_of(call, message.count);
            codec_await_memory(call);
            return divisor;
        }
        if (message.kind != DARKROOM_CODEC_FREE) call_misuse(call, "a message to a decoder");
        call_freed(call, message.slot);
    }
}

void codec_rows(darkroom_codec_call *call, const void *rows, size_t stride, uint32_t count)
{
    size_t row = codec_row_bytes(&call->header);
    const uint8_t *from = rows;
    if (count > call->header.height - call->rows) call_misuse(call, "the number of rows");
    for (; count > 0; count--, from += stride) {
        if (call->filling < 0) {
            call->filling = (int) call_take_slot(call);
            call->filled = 0;
            call->filled_rows = 0;
        }
        memcpy(call_slot(call, (uint32_t) call->filling) + call->filled, from, row);
        call->filled += row;
        call->filled_rows++;
        call->rows++;
        bool is_enough = call->filled >= DARKROOM_CODEC_BAND || call->slot_bytes - call->filled < row;
        if (is_enough || call->rows == call->header.height) call_flush(call);
    }
}
