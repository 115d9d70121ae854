/* The symbols of a block of deflate (RFC 1951, 3.2.3): literals and matches. */
#include "darkroom_cpu.h"
#include "inflate_state.h"

#include <string.h>

/* Words of input and pairs of literals are read and written as they are in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "for little-endian processors");

int darkroom_inflate_copy_match(darkroom_inflate *s, span *p)
{
    if (s->distance > (size_t)(p->out - p->oldest))
        return DARKROOM_INFLATE_DAMAGED;
    while (s->left > 0) {
        if (p->out == p->out_end)
            return DARKROOM_INFLATE_ROOM;
        *p->out = *(p->out - s->distance);
        p->out++;
        s->left--;
    }
    s->part = IN_SYMBOLS;
    return GO_ON;
}

/* Symbols one by one, near the end of the input or of the room. An incomplete one is left for the next call. */
static int read_symbol(darkroom_inflate *s, span *p)
{
    need(s, p, 0);
    const uint32_t entry = look_up(s->table, s->bits);
    if ((entry & ARE_LITERALS) != 0) {
        const uint8_t literal = (uint8_t)(entry >> 16);
        if (s->bit_count < s->lengths[literal])
            return DARKROOM_INFLATE_MORE;
        if (p->out == p->out_end)
            return DARKROOM_INFLATE_ROOM;
        drop(s, s->lengths[literal]);
        *p->out++ = literal;
        return GO_ON;
    }
    if (s->bit_count < BITS(entry))
        return DARKROOM_INFLATE_MORE;
    if ((entry & IS_SPECIAL) != 0) {
        if ((entry & IS_END) == 0)
            return DARKROOM_INFLATE_DAMAGED;
        drop(s, BITS(entry));
        s->part = IN_BLOCK_HEADER;
        return GO_ON;
    }
    const unsigned used = BITS(entry);
    const uint32_t away = look_up(s->table + DISTANCES, s->bits >> used);
    if (s->bit_count < used + BITS(away))
        return DARKROOM_INFLATE_MORE;
    if ((away & IS_SPECIAL) != 0)
        return DARKROOM_INFLATE_DAMAGED;
    s->left = value_of(entry, s->bits);
    s->distance = value_of(away, s->bits >> used);
    drop(s, used + BITS(away));
    s->part = IN_MATCH;
    return GO_ON;
}

enum { QUICK_IN = 32, QUICK_OUT = 16 + LONGEST_MATCH + 16 };

/* Reads symbols as long as there are QUICK_IN bytes of input and QUICK_OUT bytes of room for each round. A
 * round reads up to four words, each at most 7 bytes after the previous one, and writes up to three pairs of
 * literals, or two and a match. */
INLINE int read_quickly(darkroom_inflate *s, span *p)
{
    const uint32_t *const length_table = s->table;
    const uint32_t *const distance_table = s->table + DISTANCES;
    const uint8_t *in = p->in;
    uint8_t *out = p->out;
    uint64_t bits = s->bits;
    unsigned count = s->bit_count;
    int answer = GO_ON;

/* Fills up to at least 56 and at most 63 bits. Above these the word contains as many bits as it has room for,
 * which the next word contains again. Of `count` only the lowest 6 bits have a meaning in this loop, and of
 * an entry only those are subtracted: a mask would cost a cycle for each literal. */
#define REFILL()                                                                                   \
    do {                                                                                           \
        uint64_t word;                                                                             \
        memcpy(&word, in, 8);                                                                      \
        bits |= word << (count & 63);                                                              \
        in += 7 - (count >> 3 & 7);                                                                \
        count |= 56;                                                                               \
    } while (0)
#define DROP(entry)                                                                                \
    do {                                                                                           \
        bits >>= (entry) & 63;                                                                     \
        count -= (entry);                                                                          \
    } while (0)
/* Consumes an entry's bits, and looks up both possible next entries: a symbol, or a length's distance. It
 * looks up both before it is known which is needed. This is hard to predict, and a lookup takes as long as a
 * wrong prediction. */
#define FOLLOW()                                                                                   \
    do {                                                                                           \
        before = bits;                                                                             \
        DROP(entry);                                                                               \
        next = length_table[bits & mask];                                                          \
        away = distance_table[bits & mask];                                                        \
    } while (0)
#define LITERAL()                                                                                  \
    do {                                                                                           \
        const uint16_t literals = (uint16_t)(entry >> 16);                                         \
        memcpy(out, &literals, 2);                                                                 \
        out += LITERALS(entry);                                                                    \
        entry = next;                                                                              \
    } while (0)

    const uint32_t mask = (1u << ROOT) - 1;
    uint32_t next, away;
    uint64_t before;
    REFILL();
    uint32_t entry = length_table[bits & mask];
    while (p->in_end - in >= QUICK_IN && p->out_end - out >= QUICK_OUT) {
        REFILL();
        FOLLOW();
        if ((entry & ARE_LITERALS) != 0) {
            LITERAL();
            FOLLOW();
            if ((entry & ARE_LITERALS) != 0) {
                LITERAL();
                FOLLOW();
                if ((entry & ARE_LITERALS) != 0) {
                    LITERAL();
                    continue;
                }
                REFILL();
            }
        }
        if ((entry & IS_SPECIAL) != 0) {
            if ((entry & IS_TABLE) != 0) {
                REFILL();
                entry = look_up(length_table, bits);
                FOLLOW();
                if ((entry & ARE_LITERALS) != 0) {
                    LITERAL();
                    continue;
                }
            }
            if ((entry & IS_SPECIAL) != 0) {
                if ((entry & IS_END) != 0)
                    s->part = IN_BLOCK_HEADER;
                else
                    answer = DARKROOM_INFLATE_DAMAGED;
                break;
            }
        }
        /* Of 64 bits, literals have used at most ROOT. The length may use ROOT + 5 and a distance ROOT + 13, so that
         * ROOT bits remain for the next lookup. A length's or distance's code in a second table may have 15. */
        const size_t length = value_of(entry, before);
        if ((away & IS_SPECIAL) != 0) {
            REFILL();
            away = look_up(distance_table, bits);
            if ((away & IS_SPECIAL) != 0) {
                answer = DARKROOM_INFLATE_DAMAGED;
                break;
            }
        }
        const size_t distance = value_of(away, bits);
        DROP(away);
        if (distance > (size_t)(out - p->oldest)) {
            answer = DARKROOM_INFLATE_DAMAGED;
            break;
        }
        entry = length_table[bits & mask];
        copy_quickly(out, distance, length);
        out += length;
    }
#undef REFILL
#undef DROP
#undef FOLLOW
#undef LITERAL

    p->in = in;
    p->out = out;
    s->bit_count = count & 63;
    s->bits = bits & ((1ull << s->bit_count) - 1);
    return answer;
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi2,fma"))) static int read_more_quickly(darkroom_inflate *s, span *p)
{
    return read_quickly(s, p);
}
#endif

static int read_plainly(darkroom_inflate *s, span *p)
{
    return read_quickly(s, p);
}

static int read_many(darkroom_inflate *s, span *p)
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2)
        return read_more_quickly(s, p);
#endif
    return read_plainly(s, p);
}

int darkroom_inflate_read_symbols(darkroom_inflate *s, span *p)
{
    int answer = GO_ON;
    while (answer == GO_ON && s->part == IN_SYMBOLS) {
        const inflate_round round = darkroom_inflate_run_round(s, p);
        if (round == ROUND_DONE)
            continue;
        const bool is_near_end =
            p->in_end - p->in < QUICK_IN || p->out_end - p->out < QUICK_OUT;
        if (round == ROUND_STOPPED || is_near_end)
            answer = read_symbol(s, p);
        else
            answer = read_many(s, p);
    }
    return answer;
}
