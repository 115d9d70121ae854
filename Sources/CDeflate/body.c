#include "body.h"

#include "bits.h"

#include <darkroom_cpu.h>

/* The bits written for each symbol. */
typedef struct {
    /* A literal's code in the highest bits and its length in the lowest. */
    uint64_t literals[LITERALS];
    /* A match length's code with its extra bits, and the number of all these bits. */
    uint32_t matches[LONGEST_MATCH + 1];
    uint8_t match_bits[LONGEST_MATCH + 1];
    uint16_t distances[DISTANCE_SYMBOLS + 2];
    uint8_t distance_bits[DISTANCE_SYMBOLS + 2];
    uint16_t end;
    uint8_t end_bits;
} block_tables;

static void make_tables(const darkroom_lengths *lengths, block_tables *tables, int has_matches)
{
    uint16_t codes[LITERAL_SYMBOLS + 2];
    darkroom_codes(lengths->literals, LITERAL_SYMBOLS + 2, codes);
    for (unsigned i = 0; i < LITERALS; i++) {
        const unsigned length = lengths->literals[i];
        tables->literals[i] = length == 0 ? 0 : (uint64_t)codes[i] << (64 - length) | length;
    }
    tables->end = codes[END_OF_BLOCK];
    tables->end_bits = lengths->literals[END_OF_BLOCK];
    if (!has_matches)
        return;
    for (unsigned length = SHORTEST_MATCH; length <= LONGEST_MATCH; length++) {
        unsigned extra;
        const unsigned symbol = length_symbol(length, &extra);
        const uint32_t rest = (length - SHORTEST_MATCH) & ((1u << extra) - 1);
        tables->matches[length] = codes[symbol] | rest << lengths->literals[symbol];
        tables->match_bits[length] = (uint8_t)(lengths->literals[symbol] + extra);
    }
    darkroom_codes(lengths->distances, DISTANCE_SYMBOLS + 2, tables->distances);
    memcpy(tables->distance_bits, lengths->distances, sizeof tables->distance_bits);
}

/*
 * The destination of a body's bits. The pending ones are at the upper end of the word, and bits that have been written
 * are below them. An entry shifts them down by its length and puts its own bits on top.
 */
typedef struct {
    uint8_t *at;
    uint64_t word;
    unsigned waiting; /* less than 8 between calls */
} body;

INLINE void write_waiting(body *out)
{
    const uint64_t ready = out->word >> 1 >> (63 - out->waiting);
    memcpy(out->at, &ready, sizeof ready);
    out->at += out->waiting >> 3;
    out->waiting &= 7;
}

/*
 * Adds the entries of four literals. Only the lowest six bits of a shift count matter, and those of a sum of entries
 * are the sum of their lengths. The literals are joined before they are added to the word, so that the next four do
 * not wait for them. The lengths in the lowest bits of entries are at places without pending bits: these are 7 + 4 · 13
 * bits, and a length has four.
 */
INLINE void put_four(body *out, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t last = c + d, all = a + b + last;
    const uint64_t first_two = a >> (b & 63) | b, last_two = c >> (d & 63) | d;
    out->word = out->word >> (all & 63) | first_two >> (last & 63) | last_two;
    out->waiting += (unsigned)(all & 63);
    write_waiting(out);
}

INLINE const uint8_t *put_fours(
    body *out, const uint64_t *table, const uint8_t *bytes, const uint8_t *end)
{
    for (; end - bytes >= 4; bytes += 4)
        put_four(out, table[bytes[0]], table[bytes[1]], table[bytes[2]], table[bytes[3]]);
    return bytes;
}

/* Puts literals before a match, of which the first three bytes may be read. An entry of zero adds nothing. */
INLINE void put_literals(
    body *out, const uint64_t *table, const uint8_t *bytes, const uint8_t *end)
{
    bytes = put_fours(out, table, bytes, end);
    const size_t left = (size_t)(end - bytes);
    if (left == 0)
        return;
    put_four(
        out, table[bytes[0]], left > 1 ? table[bytes[1]] : 0, left > 2 ? table[bytes[2]] : 0, 0);
}

/* The same where nothing may be read beyond the end. */
INLINE void put_last_literals(
    body *out, const uint64_t *table, const uint8_t *bytes, const uint8_t *end)
{
    for (bytes = put_fours(out, table, bytes, end); bytes < end; bytes++)
        put_four(out, table[*bytes], 0, 0, 0);
}

/* At most 2 · 13 + 5 + 13 bits. */
INLINE void put_match(body *out, const block_tables *tables, darkroom_sequence match)
{
    unsigned extra, count = tables->match_bits[match.length];
    const unsigned symbol = distance_symbol(match.distance + 1u, &extra);
    uint64_t bits = tables->matches[match.length];
    bits |= (uint64_t)tables->distances[symbol] << count;
    count += tables->distance_bits[symbol];
    bits |= (uint64_t)(match.distance & ((1u << extra) - 1)) << count;
    count += extra;
    out->word = out->word >> count | bits << (64 - count);
    out->waiting += count;
    write_waiting(out);
}

INLINE void put_all(
    darkroom_bits *result, const block_tables *tables, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count)
{
    body out = {result->at, result->bits << 1 << (63 - result->count), result->count};
    const uint8_t *end = bytes + count;
    for (size_t i = 0; i < sequence_count; i++) {
        /* In many pictures matches follow each other. */
        if (sequences[i].literals > 0)
            put_literals(&out, tables->literals, bytes, bytes + sequences[i].literals);
        put_match(&out, tables, sequences[i]);
        bytes += sequences[i].literals + sequences[i].length;
    }
    put_last_literals(&out, tables->literals, bytes, end);
    *result = (darkroom_bits){out.at, out.word >> 1 >> (63 - out.waiting), out.waiting};
    put(result, tables->end, tables->end_bits);
    flush(result);
}

static void put_all_plain(
    darkroom_bits *out, const block_tables *tables, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count)
{
    put_all(out, tables, bytes, count, sequences, sequence_count);
}

#if defined(__x86_64__)
/* The same with shifts that do not need the one register of the older instructions. */
__attribute__((target("avx2,bmi2,fma"))) static void put_all_bmi2(
    darkroom_bits *out, const block_tables *tables, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count)
{
    put_all(out, tables, bytes, count, sequences, sequence_count);
}
#endif

void darkroom_put_body(
    darkroom_bits *out, const darkroom_lengths *lengths, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count)
{
    block_tables tables;
    make_tables(lengths, &tables, sequence_count > 0);
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        put_all_bmi2(out, &tables, bytes, count, sequences, sequence_count);
        return;
    }
#endif
    put_all_plain(out, &tables, bytes, count, sequences, sequence_count);
}
