#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"

void call_say(const darkroom_codec_message *message)
{
    if (!darkroom_codec_send(CHILD_SOCKET, message, NULL, 0)) _exit(DARKROOM_CODEC_CUT_OFF);
}

darkroom_codec_message call_hear(void)
{
    darkroom_codec_message message;
    ssize_t count;
    do count = recv(CHILD_SOCKET, &message, sizeof message, 0);
    while (count < 0 && errno == EINTR);
    if (count != (ssize_t) sizeof message) _exit(DARKROOM_CODEC_CUT_OFF);
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
    _exit(count == 0 ? 0 : DARKROOM_CODEC_CUT_OFF);
}

static void tell(darkroom_codec_kind kind, darkroom_codec_result result, const char *format, va_list arguments)
{
    darkroom_codec_message message = {.kind = kind, .bits = result};
    vsnprintf(message.text, sizeof message.text, format, arguments);
    /* Some libraries end their sentences with blanks. */
    for (size_t end = strlen(message.text); end > 0 && message.text[end - 1] <= ' ' && message.text[end - 1] > 0; end--)
        message.text[end - 1] = 0;
    call_say(&message);
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

_Noreturn void call_misuse(darkroom_codec_call *call, const char *what)
{
    codec_fail(call, DARKROOM_CODEC_MISUSE, "%s makes no sense", what);
}

bool call_is_counted;

/* As Units.bytes of the daemon has it: exact, and rounded if that is long. */
_Noreturn static void fail_without(darkroom_codec_call *call, size_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    enum { LAST = sizeof units / sizeof *units - 1 };
    size_t whole = bytes;
    unsigned exact = 0, large = 0;
    for (; whole > 0 && whole % 1024 == 0 && exact < LAST; exact++) whole /= 1024;
    double amount = (double) bytes;
    for (; amount >= 1024 && large < LAST; large++) amount /= 1024;
    if (whole < 10 << 10) codec_fail(call, DARKROOM_CODEC_MEMORY, "there is no memory for %zu %s", whole, units[exact]);
    codec_fail(call, DARKROOM_CODEC_MEMORY, "there is no memory for %zu %s (%.1f %s)", whole, units[exact], amount, units[large]);
}

void conversation_without_memory(size_t bytes)
{
    if (call_is_counted) fail_without(NULL, bytes);
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

uint8_t *call_slot(const darkroom_codec_call *call, uint32_t index)
{
    return call->slots + (size_t) index * call->slot_bytes;
}

void *codec_allocate(darkroom_codec_call *call, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    void *memory = bytes == SIZE_MAX ? NULL : malloc(bytes ? bytes : 1);
    if (!memory) fail_without(call, bytes);
    return memory;
}

/* ---- Slots of this side ---- */

void call_freed(darkroom_codec_call *call, uint32_t index)
{
    uint32_t own = index - call->own_first;
    if (own >= call->own_count || !(call->lent & 1u << own)) call_misuse(call, "a free slot");
    call->lent &= ~(1u << own);
}

static void keep(darkroom_codec_call *call, const darkroom_codec_message *message)
{
    if (call->own_first == 0 || call->waiting_count == WAITING) call_misuse(call, "a message");
    call->waiting[(call->waiting_first + call->waiting_count++) % WAITING] = *message;
}

uint32_t call_take_slot(darkroom_codec_call *call)
{
    for (;;) {
        for (uint32_t own = 0; own < call->own_count; own++)
            if (!(call->lent & 1u << own)) return call->own_first + own;
        darkroom_codec_message message = call_hear();
        if (message.kind == DARKROOM_CODEC_FREE) call_freed(call, message.slot);
        else keep(call, &message);
    }
}

void call_lend(darkroom_codec_call *call, darkroom_codec_message message)
{
    call->lent |= 1u << (message.slot - call->own_first);
    call_say(&message);
}

void call_flush(darkroom_codec_call *call)
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
    call_lend(call, message);
    call->filling = -1;
}

_Noreturn void conversation_end(darkroom_codec_call *call)
{
    if (call->header.height != call->rows) call_misuse(call, "the number of rows");
    call_flush(call);
    call_say(&(darkroom_codec_message) {.kind = DARKROOM_CODEC_END, .options = call->chosen});
    leave();
}

const darkroom_codec_limits *codec_limits(const darkroom_codec_call *call) { return &call->limits; }

size_t codec_row_bytes(const darkroom_codec_header *header)
{
    return (size_t) header->width * header->channels * (header->depth / 8);
}
