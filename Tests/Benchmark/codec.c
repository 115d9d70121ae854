/* The cost of a process for each picture: a WebP is decoded in this process by libwebp, and by the program
 * darkroom-codec-webp as the daemon uses it. Prints a line for each file: milliseconds of processor time for a picture both
 * ways, and milliseconds of a clock. Takes turns in nine rounds, and prints the medians.
 *
 *     codec PROGRAM FILE...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <webp/decode.h>

#include "darkroom_codec_socket.h"

enum { ROUNDS = 9, SLOTS = 4, SLOT_BYTES = 1 << 20 };

static int file;
static const uint8_t *source;
static size_t source_bytes;
/* So that all rows are read. */
static uint64_t sum;

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "codec: %s\n", what);
    exit(1);
}

static void add(const uint8_t *bytes, size_t count)
{
    for (size_t index = 0; index + 8 <= count; index += 64) sum += *(const uint64_t *) (const void *) (bytes + index);
}

static void decode_here(void)
{
    int width, height;
    uint8_t *pixels = WebPDecodeRGB(source, source_bytes, &width, &height);
    if (!pixels) fail("libwebp refuses the picture");
    add(pixels, (size_t) width * (size_t) height * 3);
    WebPFree(pixels);
}

static darkroom_codec_message hear(int socket)
{
    darkroom_codec_message message;
    if (darkroom_codec_hear(socket, &message, 60000) != DARKROOM_CODEC_HEARD) fail("the program is silent");
    return message;
}

static void say(int socket, darkroom_codec_kind kind, uint32_t slot, uint64_t bytes)
{
    darkroom_codec_message message = {.kind = kind, .slot = slot, .bytes = bytes, .number = 1};
    darkroom_codec_send(socket, &message, NULL, 0);
}

static void decode_there(int control)
{
    int ends[2], memory = darkroom_codec_memory((size_t) SLOTS * SLOT_BYTES);
    if (memory < 0 || darkroom_codec_pair(ends) != 0) fail("there is no memory or socket");
    uint8_t *slots = mmap(NULL, (size_t) SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    darkroom_codec_message order = {
        .kind = DARKROOM_CODEC_DECODE, .number = 1, .slots = SLOTS, .slot_bytes = SLOT_BYTES, .count = 1,
        .limits = {.memory_at_first = 64 << 20, .memory_at_most = 1 << 30, .seconds = 60, .largest_side = 65535,
            .most_pixels = 1 << 28, .most_metadata = 1 << 20}};
    int given[3] = {ends[1], memory, file};
    if (!darkroom_codec_send(control, &order, given, 3)) fail("the program is gone");
    close(ends[1]);
    close(memory);
    size_t row = 0;
    for (;;) {
        darkroom_codec_message message = hear(ends[0]);
        if (message.kind == DARKROOM_CODEC_HEADER) {
            row = (size_t) message.header.width * message.header.channels;
            say(control, DARKROOM_CODEC_LIMIT, 0, 1 << 30);
            say(ends[0], DARKROOM_CODEC_GO, 0, 0);
        } else if (message.kind == DARKROOM_CODEC_ROWS) {
            add(slots + (size_t) message.slot * SLOT_BYTES, message.count * row);
            say(ends[0], DARKROOM_CODEC_FREE, message.slot, 0);
        } else if (message.kind == DARKROOM_CODEC_END) {
            break;
        } else if (message.kind == DARKROOM_CODEC_FAILURE) {
            fail(message.text);
        }
    }
    close(ends[0]);
    munmap(slots, (size_t) SLOTS * SLOT_BYTES);
    while (hear(control).kind != DARKROOM_CODEC_ENDED) {}
}

static double seconds(struct timeval time) { return (double) time.tv_sec + (double) time.tv_usec / 1e6; }

static double processor(void)
{
    struct rusage own, others;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    return seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(others.ru_utime) + seconds(others.ru_stime);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* Milliseconds of a picture: of processors, and as a clock shows them. */
static void measure(const char *program, int runs, double *cost, double *time)
{
    double processor_before = processor(), before = now();
    if (!program) {
        for (int run = 0; run < runs; run++) decode_here();
    } else {
        int ends[2];
        if (darkroom_codec_pair(ends) != 0) fail("there is no socket");
        pid_t process = darkroom_codec_start(program, ends[1]);
        close(ends[1]);
        if (process < 0 || hear(ends[0]).kind != DARKROOM_CODEC_READY) fail("the program does not start");
        before = now();
        for (int run = 0; run < runs; run++) decode_there(ends[0]);
        close(ends[0]);
        waitpid(process, NULL, 0);
    }
    *time = (now() - before) * 1000 / runs;
    *cost = (processor() - processor_before) * 1000 / runs;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *) left - *(const double *) right;
    return difference < 0 ? -1 : difference > 0;
}

static void compare_ways(const char *program, const char *name)
{
    struct stat status;
    file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) fail("there is no such file");
    source_bytes = (size_t) status.st_size;
    source = mmap(NULL, source_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    double costs[2][ROUNDS], times[2][ROUNDS];
    /* Half a second of work each. */
    measure(NULL, 3, costs[0], times[0]);
    int runs = costs[0][0] < 2.5 ? 200 : costs[0][0] > 100 ? 5 : (int) (500 / costs[0][0]);
    for (int round = 0; round < ROUNDS; round++)
        for (int there = 0; there < 2; there++)
            measure(there ? program : NULL, runs, &costs[there][round], &times[there][round]);
    for (int there = 0; there < 2; there++) {
        qsort(costs[there], ROUNDS, sizeof **costs, compare);
        qsort(times[there], ROUNDS, sizeof **times, compare);
    }
    double here = costs[0][ROUNDS / 2], confined = costs[1][ROUNDS / 2];
    printf("%s: processor %.2f in process, %.2f confined (+%.2f, %.2fx); clock %.2f, %.2f\n", name, here, confined,
        confined - here, confined / here, times[0][ROUNDS / 2], times[1][ROUNDS / 2]);
    munmap((void *) source, source_bytes);
    close(file);
}

int main(int argc, char **argv)
{
    if (argc < 3) fail("usage: codec PROGRAM FILE...");
    for (int index = 2; index < argc; index++) compare_ways(argv[1], argv[index]);
    return sum == 0;
}
