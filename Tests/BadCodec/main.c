/* A codec program that misbehaves as the first bytes of its "picture" say, for the tests of the engine's side and of the
 * confinement. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad.h"
#include "darkroom_codec.h"
#include "darkroom_codec_socket.h"

/* The child's socket, past the functions that check what is said. */
enum { SOCKET = 3 };

static void say(darkroom_codec_message message) { darkroom_codec_send(SOCKET, &message, NULL, 0); }

static darkroom_codec_header header_of(uint32_t width, uint32_t height)
{
    return (darkroom_codec_header) {
        .width = width, .height = height, .colour = DARKROOM_CODEC_RGB, .channels = 3, .depth = 8, .source_depth = 8,
        .orientation = 1, .page = 1, .pages = 1, .cicp = {2, 2, 2, 1}};
}

/* A picture of 8 x 8 pixels, as far as its header. */
static void begin(darkroom_codec_call *call) { codec_begin(call, header_of(8, 8), (codec_metadata) {0}); }

static void say_header(darkroom_codec_header header)
{
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_HEADER, .header = header});
}

static void say_rows(uint32_t slot, uint32_t first, uint32_t count)
{
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_ROWS, .slot = slot, .first = first, .count = count});
}

static void wait_for_ever(void)
{
    darkroom_codec_message message;
    for (;;) recv(SOCKET, &message, sizeof message, 0);
}

/* ---- What must end the child ---- */

static void crash(darkroom_codec_call *call)
{
    (void) call;
    __builtin_trap();
}

static void crash_after_header(darkroom_codec_call *call)
{
    begin(call);
    *(volatile int *) 8 = 1;
}

static void leave(darkroom_codec_call *call)
{
    (void) call;
    _exit(9);
}

static void spin(darkroom_codec_call *call)
{
    (void) call;
    for (volatile unsigned turn = 0;; turn++) {}
}

static void use_memory(darkroom_codec_call *call)
{
    for (int piece = 0; piece < 100 << 10; piece++) memset(codec_allocate(call, 1 << 20, 1), 1, 1 << 20);
}

/* ---- What a child may not do ---- */

static void open_file(darkroom_codec_call *call)
{
    if (open("/etc/passwd", O_RDONLY) >= 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it opened a file");
}

static void make_socket(darkroom_codec_call *call)
{
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it made a socket");
}

static void make_process(darkroom_codec_call *call)
{
    for (;;)
        if (fork() < 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it called fork");
}

static void run_program(darkroom_codec_call *call)
{
    execl("/bin/true", "true", (char *) NULL);
    codec_fail(call, DARKROOM_CODEC_DAMAGED, "it called exec");
}

static void signal_parent(darkroom_codec_call *call)
{
    kill(getppid(), SIGKILL);
    codec_fail(call, DARKROOM_CODEC_DAMAGED, "it sent a signal");
}

static void make_code(darkroom_codec_call *call)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it made memory that can be executed");
}

static void raise_limit(darkroom_codec_call *call)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it asked for its limits");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_AS, &limit) == 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "it raised its limit");
}

/* ---- Nonsense ---- */

static void say_no_width(darkroom_codec_call *call)
{
    (void) call;
    say_header(header_of(0, 8));
    wait_for_ever();
}

static void say_seven_channels(darkroom_codec_call *call)
{
    (void) call;
    darkroom_codec_header header = header_of(8, 8);
    header.channels = 7;
    say_header(header);
    wait_for_ever();
}

static void say_large_size(darkroom_codec_call *call)
{
    (void) call;
    say_header(header_of(2000000000, 2000000000));
    wait_for_ever();
}

static void say_large_profile(darkroom_codec_call *call)
{
    (void) call;
    darkroom_codec_header header = header_of(8, 8);
    header.icc = 0xffffffff;
    say_header(header);
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_BLOB, .bits = DARKROOM_CODEC_ICC, .bytes = 1});
    wait_for_ever();
}

static void say_long_blob(darkroom_codec_call *call)
{
    (void) call;
    darkroom_codec_header header = header_of(8, 8);
    header.icc = 100;
    say_header(header);
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_BLOB, .bits = DARKROOM_CODEC_ICC, .bytes = UINT64_MAX});
    wait_for_ever();
}

static void say_many_rows(darkroom_codec_call *call)
{
    begin(call);
    say_rows(0, 0, 1000000);
    wait_for_ever();
}

static void say_rows_again(darkroom_codec_call *call)
{
    begin(call);
    say_rows(0, 0, 4);
    say_rows(1, 0, 4);
    wait_for_ever();
}

/* The daemon wants a reduced picture, and gets all rows. */
static void say_whole_rows(darkroom_codec_call *call)
{
    darkroom_codec_header header = header_of(8, 8);
    header.reduces = 1;
    codec_begin(call, header, (codec_metadata) {0});
    say_rows(0, 0, 8);
    wait_for_ever();
}

static void say_no_slot(darkroom_codec_call *call)
{
    begin(call);
    say_rows(4000000000, 0, 8);
    wait_for_ever();
}

static void say_short(darkroom_codec_call *call)
{
    (void) call;
    send(SOCKET, "short", 5, 0);
    wait_for_ever();
}

static void end_early(darkroom_codec_call *call)
{
    begin(call);
    say_rows(0, 0, 4);
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_END});
    wait_for_ever();
}

static void warn_for_ever(darkroom_codec_call *call)
{
    for (int turn = 0; turn < 100000; turn++) codec_warn(call, DARKROOM_CODEC_METADATA, "a warning\033[31m %d", turn);
    codec_fail(call, DARKROOM_CODEC_DAMAGED, "it\nis\033[0m damaged");
}

static void be_silent(darkroom_codec_call *call)
{
    (void) call;
    wait_for_ever();
}

static void be_silent_after_header(darkroom_codec_call *call)
{
    begin(call);
    wait_for_ever();
}

/* ---- One that behaves ---- */

static void be_good(darkroom_codec_call *call)
{
    uint8_t row[24];
    begin(call);
    for (int y = 0; y < 8; y++) {
        memset(row, y, sizeof row);
        codec_rows(call, row, sizeof row, 1);
    }
}

static const struct {
    const char *name;
    void (*decode)(darkroom_codec_call *);
} ways[] = {
    {"crash", crash}, {"crash-after-header", crash_after_header}, {"leave", leave}, {"spin", spin},
    {"memory", use_memory}, {"open", open_file}, {"socket", make_socket}, {"fork", make_process},
    {"exec", run_program}, {"signal", signal_parent}, {"code", make_code}, {"limit", raise_limit},
    {"no-width", say_no_width}, {"seven-channels", say_seven_channels}, {"large-size", say_large_size},
    {"large-profile", say_large_profile}, {"long-blob", say_long_blob}, {"many-rows", say_many_rows},
    {"rows-again", say_rows_again}, {"no-slot", say_no_slot}, {"whole-rows", say_whole_rows}, {"short", say_short}, {"end-early", end_early},
    {"warnings", warn_for_ever}, {"silent", be_silent}, {"silent-after-header", be_silent_after_header},
    {"good", be_good},
    {"unusual-rows", answer_unusual_rows}, {"misuse", answer_misuse}, {"large-view", answer_large_size},
    {"rows-for-ever", answer_rows_for_ever}, {"large-fact", answer_large_profile}, {"odd-depth", answer_odd_depth},
    {"strange-index", answer_strange_index},
};

static void decode(darkroom_codec_call *call)
{
    size_t count;
    const char *name = (const char *) codec_source(call, &count);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        if (strlen(ways[way].name) == count && memcmp(ways[way].name, name, count) == 0) return ways[way].decode(call);
    codec_fail(call, DARKROOM_CODEC_MISUSE, "there is no such way to misbehave");
}

/* ---- As an encoder: the name of the way is in the Exif data ---- */

static void say_bytes(uint32_t slot, uint64_t bytes, uint64_t offset)
{
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_BYTES, .slot = slot, .bytes = bytes, .offset = offset});
}

static void say_bytes_of_rows(darkroom_codec_call *call)
{
    (void) call;
    say_bytes(0, 8, 0);
    wait_for_ever();
}

static void say_bytes_of_no_slot(darkroom_codec_call *call)
{
    (void) call;
    say_bytes(4000000000, 8, 0);
    wait_for_ever();
}

static void say_many_bytes(darkroom_codec_call *call)
{
    (void) call;
    say_bytes(4, UINT64_MAX, 0);
    wait_for_ever();
}

static void say_no_bytes(darkroom_codec_call *call)
{
    (void) call;
    say_bytes(4, 0, 0);
    wait_for_ever();
}

static void leave_a_gap(darkroom_codec_call *call)
{
    codec_bytes(call, 0, "bytes", 5);
    codec_bytes(call, 1000, "bytes", 5);
    codec_bytes(call, 0, "bytes", 5);
    wait_for_ever();
}

static void say_bytes_far_away(darkroom_codec_call *call)
{
    (void) call;
    say_bytes(4, 8, UINT64_MAX - 3);
    wait_for_ever();
}

/* And listens to nothing. */
static void say_bytes_for_ever(darkroom_codec_call *call)
{
    (void) call;
    for (;;) say_bytes(4, 8, 0);
}

static void say_large_bytes_for_ever(darkroom_codec_call *call)
{
    static const uint8_t bytes[64 << 10];
    for (;;) {
        codec_bytes(call, 0, bytes, sizeof bytes);
        codec_bytes(call, 1, bytes, 1);
    }
}

static void free_no_slot(darkroom_codec_call *call)
{
    (void) call;
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_FREE, .slot = 9});
    wait_for_ever();
}

static void free_twice(darkroom_codec_call *call)
{
    (void) call;
    for (int turn = 0; turn < 2; turn++) say((darkroom_codec_message) {.kind = DARKROOM_CODEC_FREE, .slot = 0});
    wait_for_ever();
}

static void say_rows_back(darkroom_codec_call *call)
{
    (void) call;
    say_rows(0, 0, 8);
    wait_for_ever();
}

static void end_without_rows(darkroom_codec_call *call)
{
    codec_bytes(call, 0, "bytes", 5);
    codec_bytes(call, 0, "bytes", 5);
    say((darkroom_codec_message) {.kind = DARKROOM_CODEC_END});
    wait_for_ever();
}

static uint32_t take_rows(darkroom_codec_call *call)
{
    uint32_t count, sum = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count));)
        for (uint32_t index = 0; index < count * 24; index++) sum += rows[index];
    return sum;
}

static void end_without_bytes(darkroom_codec_call *call) { take_rows(call); }

static void crash_at_the_end(darkroom_codec_call *call)
{
    take_rows(call);
    *(volatile int *) 8 = 1;
}

static void refuse(darkroom_codec_call *call)
{
    take_rows(call);
    codec_fail(call, DARKROOM_CODEC_IO, "it cannot");
}

static void call_it_damaged(darkroom_codec_call *call) { codec_fail(call, DARKROOM_CODEC_DAMAGED, "it is damaged"); }

/* Says its first bytes again, as a TIFF is written. */
static void write_well(darkroom_codec_call *call)
{
    char text[32];
    codec_bytes(call, 0, "????: ", 6);
    int count = snprintf(text, sizeof text, "%u", take_rows(call));
    codec_bytes(call, 6, text, (size_t) count);
    codec_bytes(call, 0, "good", 4);
    codec_warn(call, DARKROOM_CODEC_ANIMATED, "a remark");
}

static const struct {
    const char *name;
    void (*encode)(darkroom_codec_call *);
} writing_ways[] = {
    {"crash", crash}, {"crash-at-end", crash_at_the_end}, {"leave", leave}, {"spin", spin}, {"memory", use_memory},
    {"open", open_file}, {"silent", be_silent}, {"short", say_short}, {"warnings", warn_for_ever},
    {"bytes-of-rows", say_bytes_of_rows}, {"bytes-of-no-slot", say_bytes_of_no_slot}, {"many-bytes", say_many_bytes},
    {"no-bytes", say_no_bytes}, {"gap", leave_a_gap}, {"far-away", say_bytes_far_away},
    {"for-ever", say_bytes_for_ever}, {"large-for-ever", say_large_bytes_for_ever}, {"free-no-slot", free_no_slot},
    {"free-twice", free_twice}, {"rows-back", say_rows_back}, {"end-without-rows", end_without_rows},
    {"end-without-bytes", end_without_bytes}, {"refuse", refuse}, {"damaged", call_it_damaged}, {"good", write_well},
};

static void encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    codec_metadata metadata;
    codec_picture(call, &options, &metadata);
    for (size_t way = 0; way < sizeof writing_ways / sizeof *writing_ways; way++)
        if (strlen(writing_ways[way].name) == metadata.exif.count
            && memcmp(writing_ways[way].name, metadata.exif.bytes, metadata.exif.count) == 0)
            return writing_ways[way].encode(call);
    codec_fail(call, DARKROOM_CODEC_MISUSE, "there is no such way to misbehave");
}

static const char *library(void) { return "a codec that misbehaves"; }

int main(int argc, char **argv)
{
    const darkroom_codec codec = {.library = library, .decode = decode, .encode = encode};
    return darkroom_codec_main(&codec, argc, argv);
}
