/* Matches at distance 1: for rows of photographs, in which a search finds nothing else. */
#include "block.h"
#include "darkroom_deflate.h"

#include <darkroom_cpu.h>
#include <string.h>

enum {
    /* The shortest run that is taken. Repeated bytes of filtered rows are mostly zeros of two or three bits
     * each. This number of them costs more than a match. */
    SHORTEST_RUN = 5,
    /* The frequencies of symbols change from place to place. A code costs about 90 bytes. The block is small
     * enough to be stored in one piece. */
    BLOCK_BYTES = 60 << 10,
};

/* The first place from `at` to `end` where RUN bytes equal the previous byte; `end` if there is none. */
static size_t next_run_plain(const uint8_t *bytes, size_t at, size_t end)
{
    size_t equal = 0;
    for (; at < end; at++) {
        equal = bytes[at] == bytes[at - 1] ? equal + 1 : 0;
        if (equal == SHORTEST_RUN)
            return at + 1 - SHORTEST_RUN;
    }
    return end;
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2,bmi2,fma"))) static size_t next_run_avx2(
    const uint8_t *bytes, size_t at, size_t end)
{
    enum { VECTOR = 32, STEP = VECTOR - SHORTEST_RUN + 1 };
    _Static_assert(SHORTEST_RUN == 5, "as many shifts as make a run");
    for (; at + VECTOR <= end; at += STEP) {
        const __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + at));
        const __m256i before =
            _mm256_loadu_si256((const __m256i *)(const void *)(bytes + at - 1));
        const uint32_t equal = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, before));
        const uint32_t two = equal & equal >> 1;
        const uint32_t five = two & two >> 2 & equal >> 4;
        if (five != 0)
            return at + (size_t)__builtin_ctz(five);
    }
    return next_run_plain(bytes, at, end);
}
#endif

static size_t next_run(const uint8_t *bytes, size_t at, size_t end)
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        return next_run_avx2(bytes, at, end);
#endif
    return next_run_plain(bytes, at, end);
}

static size_t run_end(const uint8_t *bytes, size_t at, size_t end)
{
    const uint8_t value = bytes[at - 1];
    const uint64_t all = value * UINT64_C(0x0101010101010101);
    for (; at + 8 <= end; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (word != all)
            break;
    }
    while (at < end && bytes[at] == value)
        at++;
    return at;
}

/* Finds the runs in the bytes from `start` to `end`. The decoder knows the bytes before them. */
static size_t find_runs(
    const uint8_t *bytes, size_t start, size_t end, darkroom_sequence *sequences)
{
    size_t count = 0;
    size_t done = start;
    size_t at = start == 0 ? 1 : start;
    while ((at = next_run(bytes, at, end)) < end) {
        const size_t stop = run_end(bytes, at, end);
        while (stop - at >= SHORTEST_MATCH) {
            const size_t left = stop - at;
            const size_t length = left < LONGEST_MATCH ? left : LONGEST_MATCH;
            sequences[count++] = (darkroom_sequence){
                .literals = (uint32_t)(at - done), .length = (uint16_t)length, .distance = 0};
            at += length;
            done = at;
        }
        at = stop;
    }
    return count;
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

size_t darkroom_deflate_runs(
    const uint8_t *bytes, size_t count, void *scratch, uint8_t *out)
{
    darkroom_bits bits = {.at = out};
    for (size_t start = 0; start < count; start += BLOCK_BYTES) {
        const size_t end = count - start < BLOCK_BYTES ? count : start + BLOCK_BYTES;
        const size_t runs = find_runs(bytes, start, end, scratch);
        darkroom_block(&bits, bytes + start, end - start, scratch, runs);
    }
    darkroom_align(&bits);
    return (size_t)(bits.at - out);
}
