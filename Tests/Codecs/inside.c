#include "inside.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A codec's main function, which has another name here. */
int codec_program(int argc, char **argv);

struct darkroom_codec_call {
    inside_outcome *outcome;
    jmp_buf end;
    uint32_t page;
    const uint8_t *source;
    size_t source_bytes;
    size_t room;
    uint32_t rows;
    /* To encode. */
    const darkroom_codec_options *options;
    const codec_metadata *metadata;
    const uint8_t *pixels;
    uint8_t *lent;
    /* What the codec has allocated by codec_allocate. */
    struct piece_of_codec {
        struct piece_of_codec *next;
        void *memory;
    } *pieces;
};

darkroom_codec_limits inside_limits;
static darkroom_codec codec;

void inside_require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "failed: %s\n", what);
    abort();
}

int darkroom_codec_main(const darkroom_codec *given, int argc, char **argv)
{
    (void) argc, (void) argv;
    codec = *given;
    return 0;
}

const darkroom_codec *inside_codec(void)
{
    codec_program(0, NULL);
    inside_require(codec.library && strlen(codec.library()) > 0, "the library has a name");
    if (codec.prepare) codec.prepare();
    return &codec;
}

/* ---- Memory: the sanitizer tells of each piece ---- */

/* A library that wants very much at once gets nothing, as in a child. What a picture leaves is freed here, with free,
 * whatever had allocated it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0:alloc_dealloc_mismatch=0";
}

int __sanitizer_install_malloc_and_free_hooks(
    void (*)(const volatile void *, size_t), void (*)(const volatile void *)) __attribute__((weak));

enum { PIECES = 1 << 17 };

static struct {
    pthread_mutex_t lock;
    bool is_on, is_sweeping, is_full;
    /* Which thread runs the codec. */
    pthread_t runner;
    struct piece {
        const volatile void *start;
        size_t bytes;
        bool is_of_runner;
    } pieces[PIECES];
    size_t count;
    /* From the header on: less than nothing where more is freed that was there before it. */
    int64_t now, peak;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* This thread's allocations are the codec's. */
static _Thread_local bool is_outside;

static size_t place_of(const volatile void *start) { return ((uintptr_t) start * UINT64_C(0x9e3779b97f4a7c15)) >> 47; }

static void allocated(const volatile void *start, size_t bytes)
{
    if (is_outside || !start) return;
    pthread_mutex_lock(&memory.lock);
    if (!memory.is_on) {
        pthread_mutex_unlock(&memory.lock);
        return;
    }
    if (memory.count > PIECES / 2) memory.is_full = true;
    else {
        size_t place = place_of(start);
        while (memory.pieces[place].start) place = (place + 1) % PIECES;
        memory.pieces[place] = (struct piece) {start, bytes, pthread_equal(pthread_self(), memory.runner)};
        memory.count++;
        memory.now += (int64_t) bytes;
        if (memory.now > memory.peak) memory.peak = memory.now;
    }
    pthread_mutex_unlock(&memory.lock);
}

/* Closes the gap: pieces behind it that would be found through it move up. */
static void close_gap(size_t gap)
{
    for (size_t next = (gap + 1) % PIECES; memory.pieces[next].start; next = (next + 1) % PIECES) {
        size_t home = place_of(memory.pieces[next].start);
        if ((next - home) % PIECES < (next - gap) % PIECES) continue;
        memory.pieces[gap] = memory.pieces[next];
        gap = next;
    }
    memory.pieces[gap].start = NULL;
}

static void freed(const volatile void *start)
{
    if (!start) return;
    pthread_mutex_lock(&memory.lock);
    size_t place = place_of(start);
    while (memory.is_on && memory.pieces[place].start && memory.pieces[place].start != start) place = (place + 1) % PIECES;
    if (memory.is_on && memory.pieces[place].start) {
        memory.now -= (int64_t) memory.pieces[place].bytes;
        memory.count--;
        close_gap(place);
    }
    pthread_mutex_unlock(&memory.lock);
}

void inside_sweep(void) { memory.is_sweeping = true; }

static void watch_memory(void)
{
    static bool is_installed;
    if (!is_installed && __sanitizer_install_malloc_and_free_hooks)
        __sanitizer_install_malloc_and_free_hooks(allocated, freed);
    is_installed = true;
    pthread_mutex_lock(&memory.lock);
    memory.now = memory.peak = 0;
    memory.is_full = false;
    memory.runner = pthread_self();
    memory.is_on = true;
    pthread_mutex_unlock(&memory.lock);
}

/* What is used counts from here. */
static void count_anew(void)
{
    pthread_mutex_lock(&memory.lock);
    memory.now = memory.peak = 0;
    pthread_mutex_unlock(&memory.lock);
}

/* Other threads free what is theirs: libFuzzer's, which measures memory, is still beginning during the first input. */
static void sweep_memory(void)
{
    pthread_mutex_lock(&memory.lock);
    memory.is_on = false;
    pthread_mutex_unlock(&memory.lock);
    for (size_t place = 0; memory.count > 0 && place < PIECES; place++) {
        if (!memory.pieces[place].start) continue;
        if (memory.is_sweeping && memory.pieces[place].is_of_runner) free((void *) memory.pieces[place].start);
        memory.pieces[place].start = NULL;
        memory.count--;
    }
}

/* ---- What a codec calls ---- */

const darkroom_codec_limits *codec_limits(const darkroom_codec_call *call)
{
    (void) call;
    return &inside_limits;
}

void codec_fail(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->outcome->text, sizeof call->outcome->text, format, arguments);
    va_end(arguments);
    call->outcome->failure = result;
    longjmp(call->end, 1);
}

void codec_warn(darkroom_codec_call *call, darkroom_codec_result result, const char *format, ...)
{
    char text[DARKROOM_CODEC_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    inside_require(result == DARKROOM_CODEC_ANIMATED || result == DARKROOM_CODEC_METADATA ||
            result == DARKROOM_CODEC_TRUNCATED,
        "the kind of a warning");
    call->outcome->warnings++;
}

uint32_t codec_page(const darkroom_codec_call *call) { return call->page; }

const uint8_t *codec_source(darkroom_codec_call *call, size_t *bytes)
{
    *bytes = call->source_bytes;
    return call->source;
}

static void use(codec_blob blob)
{
    static volatile uint8_t sum;
    for (size_t index = 0; index < blob.count; index++) sum ^= blob.bytes[index];
}

/* The rules of the daemon's side for a header. */
static void check(const darkroom_codec_header *header)
{
    inside_require(header->colour == DARKROOM_CODEC_GRAY || header->colour == DARKROOM_CODEC_RGB
            || header->colour == DARKROOM_CODEC_CMYK, "the header's colour");
    inside_require(header->channels == header->colour || header->channels == header->colour + 1, "the header's channels");
    inside_require(header->depth == 8 || header->depth == 16, "the header's depth");
    inside_require(header->source_depth >= 1 && header->source_depth <= 16, "the header's depth of the file");
    inside_require(header->orientation <= 8, "the header's orientation");
    inside_require(header->page <= header->pages, "the header's page");
}

uint32_t inside_divisor = 1;

uint32_t codec_begin(darkroom_codec_call *call, darkroom_codec_header header, codec_metadata metadata)
{
    if (header.width == 0 || header.height == 0) codec_fail(call, DARKROOM_CODEC_DAMAGED, "the picture has no pixels");
    uint32_t side = header.width > header.height ? header.width : header.height;
    if (side > inside_limits.largest_side || (uint64_t) header.width * header.height > inside_limits.most_pixels)
        codec_fail(call, DARKROOM_CODEC_TOO_LARGE, "the picture is too large");
    if (header.page == 0) header.page = header.pages = 1;
    check(&header);
    use(metadata.icc);
    use(metadata.exif);
    use(metadata.xmp);
    use(metadata.iptc);
    inside_outcome *outcome = call->outcome;
    inside_require(!outcome->has_begun, "a header comes once");
    outcome->has_begun = true;
    uint32_t divisor = header.reduces ? inside_divisor : 1;
    outcome->memory = divisor > 1 ? header.reduced_memory : header.memory;
    header.width = codec_reduced(header.width, divisor);
    header.height = codec_reduced(header.height, divisor);
    outcome->header = header;
    outcome->count = codec_row_bytes(&header) * header.height;
    is_outside = true;
    outcome->bytes = malloc(outcome->count);
    is_outside = false;
    count_anew();
    return divisor;
}

void codec_rows(darkroom_codec_call *call, const void *rows, size_t stride, uint32_t count)
{
    inside_outcome *outcome = call->outcome;
    inside_require(outcome->has_begun, "rows come after the header");
    inside_require(count <= outcome->header.height - call->rows, "the number of rows");
    size_t row = codec_row_bytes(&outcome->header);
    inside_require(count < 2 || stride >= row, "the distance of rows");
    for (uint32_t line = 0; line < count; line++, call->rows++)
        memcpy(outcome->bytes + row * call->rows, (const uint8_t *) rows + stride * line, row);
}

const darkroom_codec_header *codec_picture(
    darkroom_codec_call *call, darkroom_codec_options *options, codec_metadata *metadata)
{
    *options = *call->options;
    *metadata = *call->metadata;
    return &call->outcome->header;
}

/* At most three rows, in memory that ends where they end and is gone afterwards. */
const uint8_t *codec_next_rows(darkroom_codec_call *call, uint32_t *count)
{
    const darkroom_codec_header *header = &call->outcome->header;
    size_t row = codec_row_bytes(header);
    is_outside = true;
    free(call->lent);
    call->lent = NULL;
    *count = header->height - call->rows < 3 ? header->height - call->rows : 3;
    if (*count > 0) {
        call->lent = malloc(row * *count);
        memcpy(call->lent, call->pixels + row * call->rows, row * *count);
    }
    is_outside = false;
    call->rows += *count;
    return call->lent;
}

void codec_bytes(darkroom_codec_call *call, uint64_t offset, const void *bytes, size_t count)
{
    inside_outcome *outcome = call->outcome;
    inside_require(offset <= outcome->count, "bytes follow those before");
    size_t end = (size_t) offset + count;
    if (end > call->room) {
        is_outside = true;
        outcome->bytes = realloc(outcome->bytes, call->room = end * 2);
        is_outside = false;
    }
    if (count > 0) memcpy(outcome->bytes + offset, bytes, count);
    if (end > outcome->count) outcome->count = end;
}

void codec_chosen(darkroom_codec_call *call, uint32_t quality, double similarity)
{
    inside_require(quality > 0 && quality <= call->options->quality, "a quality is chosen");
    inside_require(similarity >= 0 && similarity <= 1, "a similarity is reached");
    call->outcome->quality = quality;
}

size_t codec_row_bytes(const darkroom_codec_header *header)
{
    return (size_t) header->width * header->channels * (header->depth / 8);
}

void *codec_allocate(darkroom_codec_call *call, size_t count, size_t size)
{
    size_t bytes;
    /* So that what needs too much is noticed here, too. */
    bool is_small = !__builtin_mul_overflow(count, size, &bytes) && bytes <= inside_limits.memory_at_most;
    void *memory = is_small ? malloc(bytes ? bytes : 1) : NULL;
    if (!memory) codec_fail(call, DARKROOM_CODEC_MEMORY, "there is no memory for %zu x %zu bytes", count, size);
    is_outside = true;
    struct piece_of_codec *piece = malloc(sizeof *piece);
    is_outside = false;
    *piece = (struct piece_of_codec) {call->pieces, memory};
    call->pieces = piece;
    return memory;
}

/* ---- One picture ---- */

static void run(darkroom_codec_call *call, void (*work)(darkroom_codec_call *))
{
    watch_memory();
    if (setjmp(call->end) == 0) work(call);
    call->outcome->peak = memory.is_full ? 0 : (uint64_t) memory.peak;
    for (struct piece_of_codec *next; call->pieces; call->pieces = next) {
        next = call->pieces->next;
        free(call->pieces->memory);
        free(call->pieces);
    }
    sweep_memory();
    free(call->lent);
}

void inside_decode(const uint8_t *bytes, size_t count, uint32_t page, inside_outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    darkroom_codec_call call = {.outcome = outcome, .page = page, .source = bytes, .source_bytes = count};
    run(&call, codec.decode);
    if (outcome->failure) return inside_require(outcome->text[0] != 0, "a failure has words");
    inside_require(outcome->has_begun && call.rows == outcome->header.height, "all rows have come");
    /* The daemon permits so much more than the header says. */
    enum { SPARE = 1 << 20 };
    if (outcome->peak > outcome->memory + SPARE) {
        fprintf(stderr, "%llu bytes are in use, and the header says %llu for %u x %u pixels of %u x %u bits\n",
            (unsigned long long) outcome->peak, (unsigned long long) outcome->memory, outcome->header.width,
            outcome->header.height, outcome->header.channels, outcome->header.depth);
        inside_require(false, "the header says how much memory is needed");
    }
}

void inside_encode(const darkroom_codec_header *header, const darkroom_codec_options *options,
    const codec_metadata *metadata, const uint8_t *pixels, inside_outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->header = *header;
    darkroom_codec_call call = {.outcome = outcome, .options = options, .metadata = metadata, .pixels = pixels};
    run(&call, codec.encode);
    inside_require(outcome->failure ? outcome->text[0] != 0 : outcome->count > 0, "an encoder writes, or says why not");
}

void inside_free(inside_outcome *outcome)
{
    free(outcome->bytes);
    outcome->bytes = NULL;
}
