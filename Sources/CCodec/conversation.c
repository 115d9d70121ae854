#define _GNU_SOURCE
#include "conversation.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    /* The slot that is being filled, what is in it, and the place of its bytes in the result. */
    int filling;
    size_t filled;
    uint32_t filled_rows;
    uint64_t filled_offset;
    /* A ring of what the daemon said meanwhile. */
    darkroom_codec_message waiting[WAITING];
    uint32_t waiting_first, waiting_count;
};

/* Without a daemon there is nobody to tell. */
static void say(const darkroom_codec_message *message)
{
    if (!darkroom_codec_send(CHILD_SOCKET, message, NULL, 0)) _exit(74);
}

static darkroom_codec_message hear(void)
{
    darkroom_codec_message message;
    ssize_t count;
    do count = recv(CHILD_SOCKET, &message, sizeof message, 0);
    while (count < 0 && errno == EINTR);
    if (count != (ssize_t) sizeof message) _exit(74);
    return message;
}

/* Waits until the daemon has closed the socket: what it has not read yet would be lost if it had something to read
 * here. */
_Noreturn static void leave(void)
{
    darkroom_codec_message message;
    ssize_t count;
    do count = recv(CHILD_SOCKET, &message, sizeof message, 0);
    while (count > 0 || (count < 0 && errno == EINTR));
    _exit(0);
}

static void tell(darkroom_codec_kind kind, darkroom_codec_result result, const char *format, va_list arguments)
{
    darkroom_codec_message message = {.kind = kind, .bits = result};
    vsnprintf(message.text, sizeof message.text, format, arguments);
    say(&message);
}

void codec_fail(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
{
    (void) call;
    va_list arguments;
    va_start(arguments, format);
    tell(DARKROOM_CODEC_FAILURE, result, format, arguments);
    va_end(arguments);
    leave();
}

void codec_warn(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
{
    (void) call;
    va_list arguments;
    va_start(arguments, format);
    tell(DARKROOM_CODEC_WARNING, result, format, arguments);
    va_end(arguments);
}

_Noreturn static void misuse(darkroom_codec_call *call, const char *what)
{
    codec_fail(call, DARKROOM_CODEC_MISUSE, "%s makes no sense", what);
}

/* Whether a picture is in work whose memory the daemon knows. */
static bool is_counted;

void conversation_without_memory(size_t bytes)
{
    if (is_counted) codec_fail(NULL, DARKROOM_CODEC_MEMORY, "there is no memory for %zu bytes", bytes);
}

darkroom_codec_call *conversation_new(const darkroom_codec_message *order, bool decodes, const uint32_t *is_permitted)
{
    uint32_t slots = order->slots * (decodes ? 1 : 2);
    darkroom_codec_call *call = calloc(1, sizeof *call);
    if (!call) return NULL;
    call->limits = order->limits;
    call->slot_bytes = order->slot_bytes;
    call->own_first = decodes ? 0 : order->slots;
    call->own_count = order->slots;
    call->page = order->count;
    call->is_permitted = is_permitted;
    call->rows_slot = call->filling = -1;
    size_t bytes = (size_t) slots * order->slot_bytes;
    struct stat status;
    if (fstat(CHILD_MEMORY, &status) != 0 || (uint64_t) status.st_size < bytes) return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, CHILD_MEMORY, 0);
    if (memory == MAP_FAILED) return NULL;
    call->slots = memory;
    if (!decodes) return call;
    if (fstat(CHILD_SOURCE, &status) != 0) return NULL;
    call->source_bytes = (size_t) status.st_size;
    if (call->source_bytes == 0) return call;
    void *source = mmap(NULL, call->source_bytes, PROT_READ, MAP_PRIVATE, CHILD_SOURCE, 0);
    if (source == MAP_FAILED) return NULL;
    size_t offset = order->offset < call->source_bytes ? (size_t) order->offset : call->source_bytes;
    call->source = (const uint8_t *) source + offset;
    call->source_bytes -= offset;
    return call;
}

static uint8_t *slot(const darkroom_codec_call *call, uint32_t index)
{
    return call->slots + (size_t) index * call->slot_bytes;
}

void *codec_allocate(darkroom_codec_call *call, size_t count, size_t size)
{
    size_t bytes;
    void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes ? bytes : 1);
    if (!memory) codec_fail(call, DARKROOM_CODEC_MEMORY, "there is no memory for %zu x %zu bytes", count, size);
    return memory;
}

/* ---- Slots of this side ---- */

static void freed(darkroom_codec_call *call, uint32_t index)
{
    uint32_t own = index - call->own_first;
    if (own >= call->own_count || !(call->lent & 1u << own)) misuse(call, "a free slot");
    call->lent &= ~(1u << own);
}

static void keep(darkroom_codec_call *call, const darkroom_codec_message *message)
{
    if (call->own_first == 0 || call->waiting_count == WAITING) misuse(call, "a message");
    call->waiting[(call->waiting_first + call->waiting_count++) % WAITING] = *message;
}

/* Waits for a slot to fill. */
static uint32_t take_slot(darkroom_codec_call *call)
{
    for (;;) {
        for (uint32_t own = 0; own < call->own_count; own++)
            if (!(call->lent & 1u << own)) return call->own_first + own;
        darkroom_codec_message message = hear();
        if (message.kind == DARKROOM_CODEC_FREE) freed(call, message.slot);
        else keep(call, &message);
    }
}

static void lend(darkroom_codec_call *call, darkroom_codec_message message)
{
    call->lent |= 1u << (message.slot - call->own_first);
    say(&message);
}

/* Says what is in the slot that is being filled: rows of a decoder, bytes of an encoder. */
static void flush(darkroom_codec_call *call)
{
    if (call->filling < 0) return;
    darkroom_codec_message message = {.slot = (uint32_t) call->filling};
    if (call->own_first == 0) {
        message.kind = DARKROOM_CODEC_ROWS;
        message.first = call->rows - call->filled_rows;
        message.count = call->filled_rows;
    } else {
        message.kind = DARKROOM_CODEC_BYTES;
        message.bytes = call->filled;
        message.offset = call->filled_offset;
    }
    lend(call, message);
    call->filling = -1;
}

_Noreturn void conversation_end(darkroom_codec_call *call)
{
    if (call->header.height != call->rows) misuse(call, "the number of rows");
    flush(call);
    say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_END});
    leave();
}

/* ---- Decoding ---- */

const darkroom_codec_limits *codec_limits(const darkroom_codec_call *call) { return &call->limits; }

uint32_t codec_page(const darkroom_codec_call *call) { return call->page ? call->page : 1; }

const uint8_t *codec_source(darkroom_codec_call *call, size_t *bytes)
{
    *bytes = call->source_bytes;
    return call->source;
}

size_t codec_row_bytes(const darkroom_codec_header *header)
{
    return (size_t) header->width * header->channels * (header->depth / 8);
}

static void say_blob(darkroom_codec_call *call, uint32_t which, codec_blob blob)
{
    for (size_t done = 0; done < blob.count;) {
        size_t count = blob.count - done < call->slot_bytes ? blob.count - done : call->slot_bytes;
        uint32_t index = take_slot(call);
        memcpy(slot(call, index), blob.bytes + done, count);
        lend(call, (darkroom_codec_message) {
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
    is_counted = true;
}

void codec_begin(darkroom_codec_call *call, darkroom_codec_header header, codec_metadata metadata)
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
    say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_HEADER, .header = header});
    say_blob(call, DARKROOM_CODEC_ICC, metadata.icc);
    say_blob(call, DARKROOM_CODEC_EXIF, metadata.exif);
    say_blob(call, DARKROOM_CODEC_XMP, metadata.xmp);
    say_blob(call, DARKROOM_CODEC_IPTC, metadata.iptc);
    for (;;) {
        darkroom_codec_message message = hear();
        if (message.kind == DARKROOM_CODEC_GO) return codec_await_memory(call);
        if (message.kind != DARKROOM_CODEC_FREE) misuse(call, "a message to a decoder");
        freed(call, message.slot);
    }
}

void codec_rows(darkroom_codec_call *call, const void *rows, size_t stride, uint32_t count)
{
    size_t row = codec_row_bytes(&call->header);
    const uint8_t *from = rows;
    if (count > call->header.height - call->rows) misuse(call, "the number of rows");
    for (; count > 0; count--, from += stride) {
        if (call->filling < 0) {
            call->filling = (int) take_slot(call);
            call->filled = 0;
            call->filled_rows = 0;
        }
        memcpy(slot(call, (uint32_t) call->filling) + call->filled, from, row);
        call->filled += row;
        call->filled_rows++;
        call->rows++;
        bool is_enough = call->filled >= DARKROOM_CODEC_BAND || call->slot_bytes - call->filled < row;
        if (is_enough || call->rows == call->header.height) flush(call);
    }
}

/* ---- Answering calls ---- */

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
    return hear();
}

void codec_say(darkroom_codec_call *call, const darkroom_codec_message *message)
{
    (void) call;
    say(message);
}

/* ---- Encoding ---- */

static void give_back(uint32_t index)
{
    say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_FREE, .slot = index});
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
        darkroom_codec_message message = hear();
        if (message.kind != DARKROOM_CODEC_FREE) return message;
        freed(call, message.slot);
    }
}

static codec_blob hear_blob(darkroom_codec_call *call, uint32_t which, uint32_t bytes)
{
    if (bytes == 0) return (codec_blob) {NULL, 0};
    if (bytes > call->limits.most_metadata) misuse(call, "the size of metadata");
    uint8_t *blob = codec_allocate(call, bytes, 1);
    for (uint32_t done = 0; done < bytes;) {
        darkroom_codec_message message = hear_picture(call);
        if (message.kind != DARKROOM_CODEC_BLOB || message.bits != which || message.slot >= call->own_first
            || message.bytes == 0 || message.bytes > call->slot_bytes || message.bytes > bytes - done)
            misuse(call, "metadata");
        memcpy(blob + done, slot(call, message.slot), message.bytes);
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
        misuse(call, "a header");
    call->header = message.header;
    is_counted = true;
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
        misuse(call, "rows");
    call->rows += message.count;
    call->rows_slot = (int) message.slot;
    *count = message.count;
    return slot(call, message.slot);
}

void codec_bytes(darkroom_codec_call *call, uint64_t offset, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    if (call->filling >= 0 && call->filled_offset + call->filled != offset) flush(call);
    while (count > 0) {
        if (call->filling < 0) {
            call->filling = (int) take_slot(call);
            call->filled = 0;
            call->filled_offset = offset;
        }
        size_t most = DARKROOM_CODEC_BAND < call->slot_bytes ? DARKROOM_CODEC_BAND : call->slot_bytes;
        size_t room = most - call->filled;
        size_t some = count < room ? count : room;
        memcpy(slot(call, (uint32_t) call->filling) + call->filled, from, some);
        call->filled += some;
        from += some;
        offset += some;
        count -= some;
        if (some == room) flush(call);
    }
}
