/*
 * Decodes a block of deflate at four places at once.
 *
 * A decoder must know a symbol's code before it can find the next one. It waits for this most of the time, and for the
 * wrong predictions of what follows. So there are four chains of symbols, in which the processor works at the same time.
 * The first one begins where the data are known, the others further on, probably within a symbol. But Huffman codes
 * synchronise themselves: after a few symbols (in photographs 3, and nearly always less than 30) such a chain meets a
 * position that the previous chain meets too. From there on both would be the same, so its symbols are good. The symbols
 * before are dropped, and so is what a chain finds behind the end of the block.
 *
 * A chain only records the entries of the table that it meets. No branch depends on them. The output is made from these
 * traces (inflate_traces.c).
 *
 * The usual loop does what is unusual: the end of the block, damage, and the end of the input or the room. In a block
 * whose codes do not synchronise, it does everything.
 */
#include "darkroom_cpu.h"
#include "inflate_state.h"

#include <string.h>

_Static_assert(sizeof(uint32_t) * DISTANCES == IS_LENGTH, "the table of distances");

#if defined(__x86_64__)

enum {
    SPAN = 6144, /* bits between the chains */
    LEAST_SPAN = 512,
    OVERLAP = 192,     /* bits that a chain goes on behind the start of the next one */
    LEAST_ROOM = 4096,
    /* A step takes at most 28 bits. Behind the bits of a batch, a word may be read. */
    BATCH_BITS = 28 * BATCH + 64 + 8,
    /* After so many useless rounds, the rest of a block is read as usual, and also the next blocks. The more often this
     * happens, the more they are. */
    MOST_MISSES = 2,
    LONGEST_PAUSE = 63,
    /* With more bytes for a byte of input, most of them are copies. Then chains are not faster. */
    MOST_FOR_ONE = 6,
};

/* At least 57 bits from a position on. */
AVX512_INLINE uint64_t word_at(const uint8_t *in, uint32_t position)
{
    uint64_t word;
    memcpy(&word, in + (position >> 3), 8);
    return word >> (position & 7);
}

/* ---- The chains ------------------------------------------------------------------------------ */

/* An entry that is none of literals, length or distance: looks into the second table, or returns an entry that consumes
 * no bits, so that the chain stays where it is. */
AVX512_INLINE uint32_t unusual_entry(
    const uint32_t *table, size_t offset, uint32_t entry, uint64_t word, bool *is_stopped)
{
    if ((entry & (IS_SPECIAL | IS_TABLE | ARE_LITERALS)) == (IS_SPECIAL | IS_TABLE)) {
        entry = table[offset + BASE(entry) + (word >> ROOT & ((1u << FURTHER(entry)) - 1))];
        if ((entry & IS_SPECIAL) == 0)
            return entry;
    }
    *is_stopped = true;
    return offset == 0 ? 0 : IS_LENGTH;
}

/*
 * A chain's variables. `base` is the table of the next symbol: the one of distances after a length.
 *
 * Of the 57 bits of a word, two steps use at most 44: of a length's 11 + 5 and a distance's 11 + 13, or of the longer
 * ones in second tables, for which the word is read again. So in a third step there are enough bits to find an entry.
 */
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define BEGIN(i)                                                                                   \
    uint64_t word##i;                                                                              \
    uint32_t position##i = starts[i];                                                              \
    const char *base##i = (const char *)table;
#define LOAD(i) word##i = word_at(in, position##i);
#define STEP(i)                                                                                    \
    {                                                                                              \
        uint32_t entry;                                                                            \
        memcpy(&entry, base##i + sizeof entry * (word##i & ((1u << ROOT) - 1)), sizeof entry);     \
        if (UNLIKELY((entry & IS_SPECIAL) != 0)) {                                                 \
            bool is_stopped = false;                                                               \
            word##i = word_at(in, position##i);                                                    \
            entry = unusual_entry(                                                                 \
                table, base##i == (const char *)table ? 0 : DISTANCES, entry, word##i,             \
                &is_stopped);                                                                      \
            stopping |= (unsigned)is_stopped << i;                                                 \
        }                                                                                          \
        trace[i * MOST_STEPS + step] = entry;                                                      \
        base##i = (const char *)table + (entry & IS_LENGTH);                                       \
        word##i >>= BITS(entry);                                                                   \
        position##i += BITS(entry);                                                                \
    }
#define MARK(i) c->marks[batch][i] = position##i;
#define LOOK(i)                                                                                    \
    done |= (unsigned)(position##i >= limits[i]) << i;                                             \
    is_near_end |= position##i > last;
/* A chain that has stopped repeats what it has done, so that it does nothing unusual for a while. */
#define STOP(i)                                                                                    \
    if ((stopping & ~c->stopped & 1u << i) != 0) {                                                 \
        c->steps[i] = (batch + 1) * BATCH;                                                         \
        c->ends[i] = position##i;                                                                  \
    }                                                                                              \
    if ((stopping & 1u << i) != 0) {                                                               \
        position##i = starts[i];                                                                   \
        base##i = (const char *)table;                                                             \
    }
#define END(i)                                                                                     \
    if ((c->stopped & 1u << i) == 0) {                                                             \
        c->steps[i] = batch * BATCH;                                                               \
        c->ends[i] = position##i;                                                                  \
    }

/* Runs the chains until all have passed their limits, or all before one that has stopped. No batch begins behind
 * `last`. */
AVX512 static void run(
    const uint32_t *table, const uint8_t *in, const uint32_t starts[CHAINS],
    const uint32_t limits[CHAINS], uint32_t last, darkroom_chains *c)
{
    EACH(BEGIN)
    uint32_t *trace = c->trace[0];
    c->stopped = 0;
    unsigned batch = 0;
    for (;; batch++) {
        unsigned done = c->stopped;
        bool is_near_end = false;
        EACH(MARK)
        EACH(LOOK)
        const unsigned first_stopped = c->stopped & -c->stopped;
        const unsigned needed = (first_stopped - 1) & ((1u << CHAINS) - 1);
        if ((done & needed) == needed || is_near_end || batch == MOST_BATCHES)
            break;
        unsigned stopping = 0;
        for (unsigned k = 0; k < BATCH / 3; k++) {
            EACH(LOAD)
            {
                enum { step = 0 };
                EACH(STEP)
            }
            {
                enum { step = 1 };
                EACH(STEP)
            }
            {
                enum { step = 2 };
                EACH(STEP)
            }
            trace += 3;
        }
        if (UNLIKELY(stopping != 0)) {
            EACH(STOP)
            c->stopped |= stopping;
        }
    }
    EACH(END)
}

/* Finds the first position that chain `i` and the next one both meet at the start of a literal or length. Sets the steps
 * of both before it. Returns false if there is none. */
static bool join(
    const darkroom_chains *c, int i, uint32_t start, uint32_t *own, uint32_t *next, uint32_t *position)
{
    const uint32_t *const left = c->trace[i], *const right = c->trace[i + 1];
    uint32_t batch = c->steps[i] / BATCH - 1;
    while (batch > 0 && c->marks[batch][i] > start)
        batch--;
    uint32_t a = batch * BATCH, at = c->marks[batch][i];
    uint32_t b = 0, other = start;
    for (;;) {
        const bool is_symbol = (a == 0 || (left[a - 1] & IS_LENGTH) == 0)
            && (b == 0 || (right[b - 1] & IS_LENGTH) == 0);
        if (at == other && is_symbol)
            break;
        if (at <= other) {
            if (a == c->steps[i])
                return false;
            at += BITS(left[a++]);
        } else {
            if (b == c->steps[i + 1])
                return false;
            other += BITS(right[b++]);
        }
    }
    *own = a;
    *next = b;
    *position = at;
    return true;
}

/* ---- A round --------------------------------------------------------------------------------- */

/* Continues at this bit after `in`. */
static void go_to(darkroom_inflate *s, span *p, const uint8_t *in, uint32_t position)
{
    p->in = in + (position >> 3);
    s->bits = 0;
    s->bit_count = 0;
    if ((position & 7) != 0) {
        s->bits = (uint64_t)*p->in++ >> (position & 7);
        s->bit_count = 8 - (position & 7);
    }
}

/* The bits between the chains of a round; 0 if there cannot be one. */
static uint32_t span_of_round(const darkroom_inflate *s, const span *p)
{
    if (s->misses >= MOST_MISSES || p->out_end - p->out < LEAST_ROOM)
        return 0;
    const size_t bytes = (size_t)(p->in_end - p->in);
    if (bytes >= ((CHAINS + 1) * SPAN + OVERLAP + 2 * BATCH_BITS) / 8)
        return SPAN;
    if (bytes < (CHAINS * LEAST_SPAN + OVERLAP + 2 * BATCH_BITS) / 8)
        return 0;
    return (uint32_t)(8 * bytes - OVERLAP - 2 * BATCH_BITS) / CHAINS;
}

/* Remembers whether a round was faster than the usual loop. */
static void judge(darkroom_inflate *s, bool was_useful)
{
    if (was_useful) {
        s->misses = s->last_pause = 0;
    } else if (++s->misses == MOST_MISSES) {
        s->last_pause = s->last_pause < LONGEST_PAUSE ? 2 * s->last_pause + 1 : LONGEST_PAUSE;
        s->pause = s->last_pause;
    }
}

static inflate_round run_round(darkroom_inflate *s, span *p)
{
    const uint32_t bits = span_of_round(s, p);
    if (bits == 0)
        return ROUND_IMPOSSIBLE;
    /* The bits that have been read and not consumed may be those of the previous input. A few symbols later they are
     * not. */
    if ((size_t)(p->in - p->in_start) < (s->bit_count + 7) / 8)
        return ROUND_STOPPED;
    darkroom_chains *const c = &s->chains;
    const uint8_t *const in = p->in - (s->bit_count + 7) / 8;
    const uint32_t first = 8 * (uint32_t)(p->in - in) - s->bit_count;
    uint32_t starts[CHAINS], limits[CHAINS];
    for (uint32_t i = 0; i < CHAINS; i++) {
        starts[i] = first + i * bits;
        limits[i] = starts[i] + bits + (i + 1 < CHAINS ? OVERLAP : 0);
    }
    /* Far enough for a chain that is faster than the others. */
    const size_t rest = (size_t)(p->in_end - in) * 8 - BATCH_BITS;
    const uint32_t most = first + (CHAINS + 1) * bits + OVERLAP + BATCH_BITS;
    run(s->table, in, starts, limits, rest < most ? (uint32_t)rest : most, c);

    uint8_t *const start = p->out;
    uint32_t begin = 0, position = first;
    for (int i = 0;; i++) {
        uint32_t end = c->steps[i], next = 0, after = c->ends[i];
        uint32_t joined_end, joined_next, joined_after;
        /* The previous chain may have met this one only behind the place where this one meets the next one. */
        const bool is_joined = i + 1 < CHAINS
            && join(c, i, starts[i + 1], &joined_end, &joined_next, &joined_after)
            && joined_end >= begin;
        if (is_joined) {
            end = joined_end;
            next = joined_next;
            after = joined_after;
        }
        uint8_t *const out = darkroom_inflate_write_trace(
            c, c->trace[i] + begin, end - begin, in, position, &after, p);
        if (out == NULL) {
            judge(s, false);
            return ROUND_IMPOSSIBLE;
        }
        p->out = out;
        go_to(s, p, in, after);
        begin = next;
        position = after;
        if (is_joined)
            continue;
        const bool has_stopped = (c->stopped & 1u << i) != 0;
        if (!has_stopped || i > 0)
            judge(s, i > 0 && p->out - start <= MOST_FOR_ONE * (ptrdiff_t)((after - first) / 8));
        return has_stopped ? ROUND_STOPPED : ROUND_DONE;
    }
}

void darkroom_inflate_begin_chains(darkroom_inflate *s)
{
    s->misses = s->pause > 0 ? MOST_MISSES : 0;
    if (s->pause > 0)
        s->pause--;
}

inflate_round darkroom_inflate_run_round(darkroom_inflate *s, span *p)
{
    if (darkroom_cpu_level() < DARKROOM_CPU_AVX512 || !__builtin_cpu_supports("avx512vbmi2"))
        return ROUND_IMPOSSIBLE;
    return run_round(s, p);
}

#else

void darkroom_inflate_begin_chains(darkroom_inflate *s)
{
    (void)s;
}

inflate_round darkroom_inflate_run_round(darkroom_inflate *s, span *p)
{
    (void)s;
    (void)p;
    return ROUND_IMPOSSIBLE;
}

#endif
