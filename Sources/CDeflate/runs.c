/* Matches at distance 1: for rows of photographs, in which a search finds nothing else. */
#include "block.h"
#include "darkroom_deflate.h"

#include <darkroom_cpu.h>
#include <string.h>

enum {
    /* The shortest run that is taken. Repeated bytes of filtered rows are mostly zeros of two or three bits
     * each. This number of them costs more than a match. */
    SHORTEST_RUN = 5,
    /* In smooth rows most bytes are zeros, which cost less than two bits each, and short runs are so frequent that they
     * take most of the time. */
    SHORTEST_LONG_RUN = 8,
    /* The frequencies of symbols change from place to place. A code costs about 90 bytes. The block is small
     * enough to be stored in one piece. */
    BLOCK_BYTES = 60 << 10,
};

/* A block's runs, and how often it has each symbol. */
typedef struct {
    darkroom_sequence *sequences;
    size_t count;
    const uint8_t *done;    /* what precedes this is in the sequences */
    const uint8_t *counted; /* what precedes this is in the counts */
    uint32_t literals[4][LITERALS];
    darkroom_counts symbols;
} block_runs;

/* Adds a run of bytes that equal the one before them. */
INLINE void add_run(block_runs *runs, const uint8_t *at, const uint8_t *stop)
{
    /* Bytes of a long run would wait for the same counter. */
    enum { LONG = 64 };
    const size_t all = (size_t)(stop - at);
    size_t left = all;
    while (left >= SHORTEST_MATCH) {
        const size_t length = left < LONGEST_MATCH ? left : LONGEST_MATCH;
        unsigned extra;
        runs->sequences[runs->count++] = (darkroom_sequence){
            .literals = (uint32_t)(at - runs->done), .length = (uint16_t)length, .distance = 0};
        runs->symbols.literals[length_symbol((unsigned)length, &extra)]++;
        left -= length;
        at += length;
        runs->done = at;
    }
    if (all < LONG) {
        /* They will be counted with the literals around them, which takes less time than to leave them out. */
        runs->literals[0][*(stop - 1)] -= (uint32_t)(all - left);
    } else {
        darkroom_count_literals(runs->literals, runs->counted, at - (all - left));
        runs->counted = at;
    }
}

static const uint8_t *run_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t value = at[-1];
    const uint64_t all = value * UINT64_C(0x0101010101010101);
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        if (word != all)
            break;
    }
    while (at < end && *at == value)
        at++;
    return at;
}

/* Finds the runs of at least `shortest` bytes from `at` on. The decoder knows the byte before it. */
static void find_runs_plain(
    block_runs *runs, const uint8_t *at, const uint8_t *end, size_t shortest)
{
    size_t equal = 0;
    while (at < end) {
        equal = *at == at[-1] ? equal + 1 : 0;
        at++;
        if (equal < shortest)
            continue;
        const uint8_t *stop = run_end(at, end);
        add_run(runs, at - shortest, stop);
        at = stop;
        equal = 0;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,fma")))

/* For each of 64 bytes whether it equals the one before. */
AVX2 INLINE uint64_t equal_neighbours(const uint8_t *at)
{
    const __m256i *here = (const __m256i *)(const void *)at;
    const __m256i *before = (const __m256i *)(const void *)(at - 1);
    const __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(here), _mm256_loadu_si256(before));
    const __m256i high =
        _mm256_cmpeq_epi8(_mm256_loadu_si256(here + 1), _mm256_loadu_si256(before + 1));
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 INLINE void find_runs_of(
    block_runs *runs, const uint8_t *at, const uint8_t *end, size_t shortest)
{
    enum { BYTES = 64 };
    _Static_assert(SHORTEST_RUN == 5 && SHORTEST_LONG_RUN == 8, "as many shifts as make a run");
    while (end - at >= BYTES) {
        const uint64_t equal = equal_neighbours(at);
        const uint64_t two = equal & equal >> 1, four = two & two >> 2;
        uint64_t starts = shortest == SHORTEST_RUN ? four & equal >> 4 : four & four >> 4;
        const uint8_t *next = at + BYTES + 1 - shortest;
        while (starts != 0) {
            const unsigned start = (unsigned)__builtin_ctzll(starts);
            const uint64_t differing = ~equal >> start << start;
            if (differing == 0) {
                next = run_end(at + BYTES, end);
                add_run(runs, at + start, next);
                break;
            }
            const unsigned stop = (unsigned)__builtin_ctzll(differing);
            add_run(runs, at + start, at + stop);
            starts = starts >> stop << stop;
        }
        at = next;
    }
    find_runs_plain(runs, at, end, shortest);
}

AVX2 static void find_runs_avx2(
    block_runs *runs, const uint8_t *at, const uint8_t *end, size_t shortest)
{
    if (shortest == SHORTEST_RUN)
        find_runs_of(runs, at, end, SHORTEST_RUN);
    else
        find_runs_of(runs, at, end, SHORTEST_LONG_RUN);
}
#endif

static void find_runs(block_runs *runs, const uint8_t *at, const uint8_t *end, size_t shortest)
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        find_runs_avx2(runs, at, end, shortest);
        return;
    }
#endif
    find_runs_plain(runs, at, end, shortest);
}

/* Writes a block of its runs and of literals. The first byte of all has none before it. */
static void put_block_of_runs(
    darkroom_bits *bits, const uint8_t *start, const uint8_t *end, int is_first, size_t shortest,
    darkroom_sequence *sequences)
{
    block_runs runs = {.sequences = sequences, .done = start, .counted = start};
    find_runs(&runs, start + is_first, end, shortest);
    darkroom_count_literals(runs.literals, runs.counted, end);
    for (unsigned i = 0; i < LITERALS; i++)
        runs.symbols.literals[i] = runs.literals[0][i] + runs.literals[1][i] + runs.literals[2][i]
            + runs.literals[3][i];
    runs.symbols.distances[0] = (uint32_t)runs.count;
    darkroom_counted_block(
        bits, start, (size_t)(end - start), sequences, runs.count, &runs.symbols);
}

size_t darkroom_deflate_room(size_t count)
{
    /* Five bytes for each stored block and for the empty one at the end, and one byte for the partly used
     * byte of each. */
    return count + 6 * (count / LEAST_BLOCK_BYTES + 2) + BLOCK_SLACK;
}

size_t darkroom_deflate_scratch(size_t count)
{
    const size_t block = count < BLOCK_BYTES ? count : BLOCK_BYTES;
    return (block / SHORTEST_MATCH + 1) * sizeof(darkroom_sequence);
}

static size_t deflate(
    const uint8_t *bytes, size_t count, size_t shortest, darkroom_sequence *sequences, uint8_t *out)
{
    darkroom_bits bits = {.at = out};
    for (size_t start = 0; start < count; start += BLOCK_BYTES) {
        const size_t end = count - start < BLOCK_BYTES ? count : start + BLOCK_BYTES;
        put_block_of_runs(
            &bits, bytes + start, bytes + end, start == 0, shortest, sequences);
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}

size_t darkroom_deflate_runs(const uint8_t *bytes, size_t count, void *scratch, uint8_t *out)
{
    return deflate(bytes, count, SHORTEST_RUN, scratch, out);
}

size_t darkroom_deflate_long_runs(const uint8_t *bytes, size_t count, void *scratch, uint8_t *out)
{
    return deflate(bytes, count, SHORTEST_LONG_RUN, scratch, out);
}
