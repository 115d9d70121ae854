#include "block.h"

#include "bits.h"
#include "body.h"

/* ---- A block's numbers ----------------------------------------------------------------------- */

typedef struct {
    uint32_t literal_counts[LITERAL_SYMBOLS + 2]; /* the fixed code has two that never appear */
    uint32_t distance_counts[DISTANCE_SYMBOLS + 2];
    darkroom_lengths lengths;
    uint64_t extra_bits;
} block_plan;

/* The code lengths in a dynamic block's header, as RFC 1951, 3.2.7 writes them. */
typedef struct {
    uint8_t symbols[LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
    uint8_t extras[LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
    unsigned count;
    unsigned literals, distances; /* lengths sent of each alphabet */
    uint8_t lengths[CODE_LENGTH_SYMBOLS];
    unsigned codes; /* lengths sent of the lengths' own code */
    unsigned bits;  /* of all this */
} block_header;

static const uint8_t code_length_order[CODE_LENGTH_SYMBOLS] = {
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
static const uint8_t code_length_extra[CODE_LENGTH_SYMBOLS] = {[16] = 2, [17] = 3, [18] = 7};

/* Equal neighbours would wait for the same counter. Therefore four sets of counters alternate. */
void darkroom_count_literals(
    uint32_t counts[4][LITERALS], const uint8_t *bytes, const uint8_t *end)
{
    for (; end - bytes >= 8; bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        counts[0][word & 255]++;
        counts[1][word >> 8 & 255]++;
        counts[2][word >> 16 & 255]++;
        counts[3][word >> 24 & 255]++;
        counts[0][word >> 32 & 255]++;
        counts[1][word >> 40 & 255]++;
        counts[2][word >> 48 & 255]++;
        counts[3][word >> 56]++;
    }
    for (; bytes < end; bytes++)
        counts[0][*bytes]++;
}

static void count_all(
    block_plan *plan, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count)
{
    uint32_t counts[4][LITERALS];
    memset(counts, 0, sizeof counts);
    memset(plan->literal_counts, 0, sizeof plan->literal_counts);
    memset(plan->distance_counts, 0, sizeof plan->distance_counts);
    plan->extra_bits = 0;
    const uint8_t *end = bytes + count;
    for (size_t i = 0; i < sequence_count; i++) {
        const darkroom_sequence match = sequences[i];
        unsigned length_extra, distance_extra;
        darkroom_count_literals(counts, bytes, bytes + match.literals);
        plan->literal_counts[length_symbol(match.length, &length_extra)]++;
        plan->distance_counts[distance_symbol(match.distance + 1u, &distance_extra)]++;
        plan->extra_bits += length_extra + distance_extra;
        bytes += match.literals + match.length;
    }
    darkroom_count_literals(counts, bytes, end);
    for (unsigned i = 0; i < LITERALS; i++)
        plan->literal_counts[i] = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
    plan->literal_counts[END_OF_BLOCK] = 1;
}

/* Takes over what the caller has counted. */
static void copy_counts(block_plan *plan, const darkroom_counts *counts)
{
    static const unsigned none[2] = {0, 0};
    memcpy(plan->literal_counts, counts->literals, sizeof counts->literals);
    memcpy(plan->literal_counts + LITERAL_SYMBOLS, none, sizeof none);
    memcpy(plan->distance_counts, counts->distances, sizeof counts->distances);
    memcpy(plan->distance_counts + DISTANCE_SYMBOLS, none, sizeof none);
    plan->literal_counts[END_OF_BLOCK] = 1;
    plan->extra_bits = 0;
    /* The last length has a symbol without extra bits; from the 8th symbol on, each four have one more. */
    for (unsigned i = 8; i < LITERAL_SYMBOLS - 1 - FIRST_LENGTH; i++)
        plan->extra_bits += counts->literals[FIRST_LENGTH + i] * (uint64_t)(i / 4 - 1);
    for (unsigned i = 4; i < DISTANCE_SYMBOLS; i++)
        plan->extra_bits += counts->distances[i] * (uint64_t)(i / 2 - 1);
}

static void set_fixed_lengths(block_plan *plan)
{
    memset(plan->lengths.literals, 8, sizeof plan->lengths.literals);
    memset(plan->lengths.literals + 144, 9, 112);
    memset(plan->lengths.literals + 256, 7, 24);
    memset(plan->lengths.distances, 5, sizeof plan->lengths.distances);
}

/* The number of bits without the header. */
static uint64_t body_bits(const block_plan *plan)
{
    uint64_t bits = plan->extra_bits;
    for (unsigned i = 0; i < LITERAL_SYMBOLS; i++)
        bits += plan->literal_counts[i] * (uint64_t)plan->lengths.literals[i];
    for (unsigned i = 0; i < DISTANCE_SYMBOLS; i++)
        bits += plan->distance_counts[i] * (uint64_t)plan->lengths.distances[i];
    return bits;
}

static unsigned used_symbols(const uint8_t *lengths, unsigned symbols, unsigned least)
{
    while (symbols > least && lengths[symbols - 1] == 0)
        symbols--;
    return symbols;
}

static void plan_header(const block_plan *plan, block_header *header)
{
    uint8_t all[LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
    uint32_t counts[CODE_LENGTH_SYMBOLS] = {0};
    header->literals = used_symbols(plan->lengths.literals, LITERAL_SYMBOLS, FIRST_LENGTH);
    header->distances = used_symbols(plan->lengths.distances, DISTANCE_SYMBOLS, 1);
    memcpy(all, plan->lengths.literals, header->literals);
    memcpy(all + header->literals, plan->lengths.distances, header->distances);
    const unsigned total = header->literals + header->distances;
    header->count = 0;
    for (unsigned at = 0; at < total;) {
        const uint8_t length = all[at];
        unsigned run = 1;
        while (at + run < total && all[at + run] == length)
            run++;
        at += run;
        if (length != 0) {
            header->symbols[header->count++] = length;
            run--;
        }
        while (run > 0) {
            unsigned taken = 1, symbol = length, first = 0;
            if (length == 0 && run >= 3) {
                taken = run < 138 ? run : 138;
                symbol = taken < 11 ? 17 : 18;
                first = taken < 11 ? 3 : 11;
            } else if (length != 0 && run >= 3) {
                taken = run < 6 ? run : 6;
                symbol = 16;
                first = 3;
            }
            header->extras[header->count] = (uint8_t)(taken - (first == 0 ? 1 : first));
            header->symbols[header->count++] = (uint8_t)symbol;
            run -= taken;
        }
    }
    for (unsigned i = 0; i < header->count; i++)
        counts[header->symbols[i]]++;
    darkroom_code_lengths(
        counts, CODE_LENGTH_SYMBOLS, LONGEST_CODE_LENGTH_CODE, header->lengths);
    header->codes = CODE_LENGTH_SYMBOLS;
    while (header->codes > 4 && header->lengths[code_length_order[header->codes - 1]] == 0)
        header->codes--;
    header->bits = 14 + 3 * header->codes;
    for (unsigned i = 0; i < CODE_LENGTH_SYMBOLS; i++)
        header->bits += counts[i] * (unsigned)(header->lengths[i] + code_length_extra[i]);
}

static void put_header(darkroom_bits *out, const block_header *header)
{
    uint16_t codes[CODE_LENGTH_SYMBOLS];
    darkroom_codes(header->lengths, CODE_LENGTH_SYMBOLS, codes);
    put(out, header->literals - FIRST_LENGTH, 5);
    put(out, header->distances - 1, 5);
    put(out, header->codes - 4, 4);
    flush(out);
    for (unsigned i = 0; i < header->codes; i++) {
        put(out, header->lengths[code_length_order[i]], 3);
        flush(out);
    }
    for (unsigned i = 0; i < header->count; i++) {
        const unsigned symbol = header->symbols[i];
        put(out, codes[symbol], header->lengths[symbol]);
        if (code_length_extra[symbol] != 0)
            put(out, header->extras[i], code_length_extra[symbol]);
        flush(out);
    }
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void put_stored(darkroom_bits *out, const uint8_t *bytes, size_t count)
{
    do {
        const size_t taken = count < STORED_LIMIT ? count : STORED_LIMIT;
        put(out, 0, 3);
        put(out, 0, (8 - out->count) & 7);
        flush(out);
        const uint8_t lengths[4] = {
            (uint8_t)taken, (uint8_t)(taken >> 8), (uint8_t)~taken, (uint8_t)(~taken >> 8)};
        memcpy(out->at, lengths, sizeof lengths);
        memcpy(out->at + 4, bytes, taken);
        out->at += 4 + taken;
        bytes += taken;
        count -= taken;
    } while (count > 0);
}

void darkroom_align(darkroom_bits *out)
{
    put_stored(out, (const uint8_t *)"", 0);
}

/* Writes the block whose symbols are counted in the plan. */
static void put_block(
    darkroom_bits *out, block_plan plan, const uint8_t *bytes, size_t count,
    const darkroom_sequence *sequences, size_t sequence_count)
{
    block_header header;
    darkroom_code_lengths(
        plan.literal_counts, LITERAL_SYMBOLS, LONGEST_CODE, plan.lengths.literals);
    darkroom_code_lengths(
        plan.distance_counts, DISTANCE_SYMBOLS, LONGEST_CODE, plan.lengths.distances);
    plan.lengths.literals[LITERAL_SYMBOLS] = plan.lengths.literals[LITERAL_SYMBOLS + 1] = 0;
    plan.lengths.distances[DISTANCE_SYMBOLS] = plan.lengths.distances[DISTANCE_SYMBOLS + 1] = 0;
    plan_header(&plan, &header);
    uint64_t bits = header.bits + body_bits(&plan);
    unsigned kind = 2;
    /* The fixed codes save the header. So they can be shorter only if the header is a large part. */
    if (bits < 8 * (uint64_t)header.bits) {
        block_plan fixed = plan;
        set_fixed_lengths(&fixed);
        const uint64_t fixed_bits = body_bits(&fixed);
        if (fixed_bits < bits) {
            plan = fixed;
            bits = fixed_bits;
            kind = 1;
        }
    }
    const size_t stored = count + 5 * ((count + STORED_LIMIT - 1) / STORED_LIMIT);
    if (bits >= 8 * (uint64_t)stored - 3) {
        put_stored(out, bytes, count);
        return;
    }
    put(out, kind << 1, 3);
    flush(out);
    if (kind == 2)
        put_header(out, &header);
    darkroom_put_body(out, &plan.lengths, bytes, count, sequences, sequence_count);
}

void darkroom_block(
    darkroom_bits *out, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count)
{
    block_plan plan;
    count_all(&plan, bytes, count, sequences, sequence_count);
    put_block(out, plan, bytes, count, sequences, sequence_count);
}

void darkroom_counted_block(
    darkroom_bits *out, const uint8_t *bytes, size_t count, const darkroom_sequence *sequences,
    size_t sequence_count, const darkroom_counts *counts)
{
    block_plan plan;
    copy_counts(&plan, counts);
    put_block(out, plan, bytes, count, sequences, sequence_count);
}
