/* Throws made-up messages of a daemon at the child's side of the conversation (conversation.c, decoding.c and encoding.c of Sources/CCodec): whatever a
 * daemon says, the child stays within the shared memory, uses no slot that the daemon has, and ends.
 *
 * An input is one byte for the direction, one for the number of slots, two for their size, and messages of MESSAGE bytes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t recv_made_up(int socket, void *to, size_t count, int flags);
static void *mmap_made_up(void *at, size_t bytes, int access, int flags, int file, off_t offset);
static int fstat_made_up(int file, struct stat *status);
_Noreturn static void exit_made_up(int status);

#define recv recv_made_up
#define mmap mmap_made_up
#define fstat fstat_made_up
#define _exit exit_made_up
#include "../../Sources/CCodec/conversation.c"
#include "../../Sources/CCodec/decoding.c"
#include "../../Sources/CCodec/encoding.c"
#undef recv
#undef mmap
#undef fstat
#undef _exit

enum { MESSAGE = 24, MOST_SLOT = 5000 };

static struct {
    jmp_buf end;
    const uint8_t *input;
    size_t left;
    uint8_t *slots;
    size_t bytes;
    uint32_t own_first, own_count;
    /* Slots of the child that the daemon has. */
    uint32_t lent;
    darkroom_codec_call *call;
    void *pieces[8];
    unsigned piece_count;
} talk;

/* A child that ends leaves its memory to the system. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "failed: %s\n", what);
    abort();
}

static uint32_t take(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned index = 0; index < count; index++) value |= (uint32_t) bytes[index] << 8 * index;
    return value;
}

/* Large values are extreme ones. */
static uint32_t take_wide(const uint8_t *bytes)
{
    uint32_t value = take(bytes, 2);
    return value > 0xff00 ? value << 16 | value : value;
}

static ssize_t recv_made_up(int socket, void *to, size_t count, int flags)
{
    (void) socket, (void) flags;
    if (talk.left < MESSAGE) return 0;
    const uint8_t *from = talk.input;
    talk.input += MESSAGE;
    talk.left -= MESSAGE;
    darkroom_codec_message message = {.kind = from[0] % 12 + 18, .bits = from[1] % 8, .slot = from[2] > 250 ? ~0u - from[2] : from[2] % 20u,
        .first = take_wide(from + 3), .count = take_wide(from + 5), .bytes = take_wide(from + 7)};
    message.header = (darkroom_codec_header) {.width = take_wide(from + 9), .height = take_wide(from + 11), .colour = from[13] % 6,
        .channels = from[14] % 7, .depth = from[15] & 1 ? 16 : from[15] % 20, .icc = take_wide(from + 16),
        .exif = take_wide(from + 18), .xmp = from[20], .iptc = from[21]};
    if (message.kind == DARKROOM_CODEC_FREE) talk.lent &= ~(message.slot - talk.own_first < 32 ? 1u << (message.slot - talk.own_first) : 0);
    require(count == sizeof message, "the child reads whole messages");
    memcpy(to, &message, sizeof message);
    return sizeof message;
}

bool darkroom_codec_send(int socket, const darkroom_codec_message *message, const int *descriptors, int count)
{
    (void) socket, (void) descriptors;
    require(count == 0, "a child sends no descriptors");
    bool lends = message->kind == DARKROOM_CODEC_ROWS || message->kind == DARKROOM_CODEC_BYTES || message->kind == DARKROOM_CODEC_BLOB;
    if (!lends) return true;
    uint32_t own = message->slot - talk.own_first;
    require(own < talk.own_count && !(talk.lent & 1u << own), "the child lends a slot that it has");
    talk.lent |= 1u << own;
    return true;
}

static void *mmap_made_up(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
    (void) at, (void) access, (void) flags, (void) file, (void) offset;
    void *piece = calloc(1, bytes);
    require(piece && talk.piece_count < sizeof talk.pieces / sizeof *talk.pieces, "a mapping");
    return talk.pieces[talk.piece_count++] = piece;
}

static int fstat_made_up(int file, struct stat *status)
{
    memset(status, 0, sizeof *status);
    status->st_size = file == CHILD_MEMORY ? (off_t) talk.bytes : 100;
    return 0;
}

_Noreturn static void exit_made_up(int status)
{
    (void) status;
    longjmp(talk.end, 1);
}

static uint8_t sum(const uint8_t *bytes, size_t count)
{
    uint8_t value = 0;
    for (size_t index = 0; index < count; index++) value ^= bytes[index];
    return value;
}

static void encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    codec_metadata metadata;
    const darkroom_codec_header *header = codec_picture(call, &options, &metadata);
    uint8_t seen = sum(metadata.icc.bytes, metadata.icc.count) ^ sum(metadata.exif.bytes, metadata.exif.count);
    uint32_t count;
    uint64_t offset = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count)); offset += 100) {
        uint8_t bytes[1000];
        memset(bytes, seen ^ sum(rows, count * codec_row_bytes(header)), sizeof bytes);
        codec_bytes(call, offset, bytes, sizeof bytes);
    }
}

static void decode(darkroom_codec_call *call)
{
    size_t count;
    const uint8_t *source = codec_source(call, &count);
    darkroom_codec_header header = {.width = 30, .height = 40, .colour = 3, .channels = 3, .depth = 8};
    codec_begin(call, header, (codec_metadata) {.icc = {source, count}, .xmp = {source, count / 2}});
    uint8_t rows[90 * 4] = {1};
    for (uint32_t row = 0; row < header.height; row += 4) codec_rows(call, rows, 90, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 4) return 0;
    bool decodes = bytes[0] & 1;
    darkroom_codec_message order = {.slots = bytes[1] % DARKROOM_CODEC_SLOTS + 1u, .slot_bytes = take(bytes + 2, 2) % MOST_SLOT + 1,
        .limits = {.largest_side = 1000, .most_pixels = 100000, .most_metadata = 5000}};
    memset(&talk, 0, sizeof talk);
    talk.input = bytes + 4;
    talk.left = count - 4;
    talk.bytes = (size_t) order.slots * order.slot_bytes * (decodes ? 1 : 2);
    talk.own_first = decodes ? 0 : order.slots;
    talk.own_count = order.slots;
    if (setjmp(talk.end) == 0) {
        static const uint32_t is_permitted = 1;
        talk.call = conversation_new(&order, decodes, &is_permitted);
        require(talk.call != NULL, "a conversation begins");
        if (decodes) decode(talk.call);
        else encode(talk.call);
        conversation_end(talk.call);
    }
    free((void *) talk.call->metadata.icc.bytes);
    free((void *) talk.call->metadata.exif.bytes);
    free((void *) talk.call->metadata.xmp.bytes);
    free((void *) talk.call->metadata.iptc.bytes);
    free(talk.call);
    while (talk.piece_count > 0) free(talk.pieces[--talk.piece_count]);
    return 0;
}
