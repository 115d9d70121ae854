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
    const uint32_t entry = look_up(s->length_table, LENGTH_ROOT, s->bits);
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
    unsigned used = BITS(entry);
    const unsigned further = (unsigned)(s->bits >> used) & ((1u << FURTHER(entry)) - 1);
    used += FURTHER(entry);
    if (s->bit_count < used)
        return DARKROOM_INFLATE_MORE;
    const uint32_t away = look_up(s->distance_table, DISTANCE_ROOT, s->bits >> used);
    if (s->bit_count < used + BITS(away))
        return DARKROOM_INFLATE_MORE;
    if ((away & IS_SPECIAL) != 0)
        return DARKROOM_INFLATE_DAMAGED;
    used += BITS(away);
    if (s->bit_count < used + FURTHER(away))
        return DARKROOM_INFLATE_MORE;
    s->left = BASE(entry) + further;
    s->distance = BASE(away) + ((unsigned)(s->bits >> used) & ((1u << FURTHER(away)) - 1));
    drop(s, used + FURTHER(away));
    s->part = IN_MATCH;
    return GO_ON;
}

/* Copies a match and up to 16 bytes without meaning after it. */
INLINE void copy_quickly(uint8_t *out, size_t distance, size_t length)
{
    const uint8_t *from = out - distance;
    uint8_t *const end = out + length;
    if (distance >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        } while (out < end);
    } else if (distance >= 8) {
        do {
            memcpy(out, from, 8);
            out += 8;
            from += 8;
        } while (out < end);
    } else {
        /* The last `distance` bytes repeatedly: as often as they fit completely into eight bytes, and a part
         * of the next copy. */
        static const uint8_t steps[8] = {0, 8, 8, 6, 8, 5, 6, 7};
        uint64_t word = 0;
        memcpy(&word, from, 8);
        word &= (1ull << 8 * distance) - 1;
        word |= word << 8 * distance;
        if (distance < 4)
            word |= word << 16 * distance;
        if (distance == 1)
            word |= word << 32;
        const size_t step = steps[distance];
        do {
            memcpy(out, &word, 8);
            out += step;
        } while (out < end);
    }
}

enum { QUICK_IN = 32, QUICK_OUT = 16 + LONGEST_MATCH + 16 };

/* Reads symbols as long as there are QUICK_IN bytes of input and QUICK_OUT bytes of room for each round. A
 * round reads up to four words, each at most 7 bytes after the previous one, and writes up to three pairs of
 * literals, or two and a match. */
INLINE int read_quickly(darkroom_inflate *s, span *p)
{
    const uint32_t *const length_table = s->length_table;
    const uint32_t *const distance_table = s->distance_table;
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
        DROP(entry);                                                                               \
        next = length_table[bits & length_mask];                                                   \
        away = distance_table[bits >> FURTHER(entry) & distance_mask];                             \
    } while (0)
#define LITERAL()                                                                                  \
    do {                                                                                           \
        const uint16_t literals = (uint16_t)(entry >> 16);                                         \
        memcpy(out, &literals, 2);                                                                 \
        out += LITERALS(entry);                                                                    \
        entry = next;                                                                              \
    } while (0)

    const uint32_t length_mask = (1u << LENGTH_ROOT) - 1, distance_mask = (1u << DISTANCE_ROOT) - 1;
    uint32_t next, away;
    REFILL();
    uint32_t entry = length_table[bits & length_mask];
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
                entry = look_up(length_table, LENGTH_ROOT, bits);
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
        /* Of 64 bits, at most 2 * LENGTH_ROOT are used. The length may have 5 further bits, and a distance
         * DISTANCE_ROOT + 13, so that LENGTH_ROOT bits remain for the next lookup. A distance's code in a
         * second table may have 15. */
        const size_t length = BASE(entry) + (size_t)(bits & ((1u << FURTHER(entry)) - 1));
        DROP(FURTHER(entry));
        if ((away & IS_SPECIAL) != 0) {
            REFILL();
            away = look_up(distance_table, DISTANCE_ROOT, bits);
            if ((away & IS_SPECIAL) != 0) {
                answer = DARKROOM_INFLATE_DAMAGED;
                break;
            }
        }
        DROP(away);
        const size_t distance = BASE(away) + (size_t)(bits & ((1u << FURTHER(away)) - 1));
        DROP(FURTHER(away));
        if (distance > (size_t)(out - p->oldest)) {
            answer = DARKROOM_INFLATE_DAMAGED;
            break;
        }
        entry = length_table[bits & length_mask];
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

int darkroom_inflate_read_symbols(darkroom_inflate *s, span *p)
{
    int answer = GO_ON;
    while (answer == GO_ON && s->part == IN_SYMBOLS) {
        if (p->in_end - p->in >= QUICK_IN && p->out_end - p->out >= QUICK_OUT) {
#if defined(__x86_64__)
            answer = darkroom_cpu_level() >= DARKROOM_CPU_AVX2 ? read_more_quickly(s, p)
                                                               : read_plainly(s, p);
#else
            answer = read_plainly(s, p);
#endif
        } else {
            answer = read_symbol(s, p);
        }
    }
    return answer;
}
