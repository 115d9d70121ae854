#include "CDeflate.h"

#include "darkroom_cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Words of input and pairs of literals are moved as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "for little-endian processors");

#define INLINE static inline __attribute__((always_inline))

/*
 * Tables of codes. The next `root` bits of the input select an entry; where the code is longer, the
 * entry leads to a second table, which the bits behind them select from.
 *
 * An entry's lowest byte is the number of bits of the code. The 2 bits above are how many literals
 * it stands for, one or two; they lie in the upper half, the first one lower. Of other entries see
 * the masks below.
 *
 * A second table of 2^k entries has codes of at least k + 1 symbols; k is at most 15 - root. That
 * bounds the size of all second tables: 286 / 5 · 16 for lengths, 30 / 8 · 128 for distances.
 */
enum {
    LENGTH_ROOT = 11,
    DISTANCE_ROOT = 8,
    NUMBER_ROOT = 7,
    LENGTH_SIZE = (1 << LENGTH_ROOT) + 928,
    DISTANCE_SIZE = (1 << DISTANCE_ROOT) + 512,
    LONGEST_CODE = 15,
    MOST_LENGTHS = 288,
    MOST_DISTANCES = 32,
    WINDOW = 32768,
    LONGEST_MATCH = 258,
};

#define BITS(entry) ((entry) & 63)
#define LITERALS(entry) ((entry) >> 8 & 3)
#define IS_LITERAL 0x100u
#define ARE_LITERALS 0x300u
/* What an entry stands for that is neither literals nor a length or distance: nothing, or: */
#define IS_SPECIAL 0x8000u
#define IS_END 0x4000u
#define IS_TABLE 0x80000000u /* its offset is BASE, and FURTHER bits select from it */
/* A length or distance: its base, and the number of its further bits. */
#define BASE(entry) ((entry) >> 16 & 0x7fff)
#define FURTHER(entry) ((entry) >> 10 & 15)

struct darkroom_inflate {
    enum {
        IN_HEADER,
        IN_BLOCK_HEADER,
        IN_STORED_HEADER,
        IN_STORED,
        IN_COUNTS,       /* of a dynamic block: how many code lengths there are */
        IN_CODE_NUMBERS, /* the lengths of the codes in which the code lengths are written */
        IN_CODE_LENGTHS,
        IN_SYMBOLS,
        IN_MATCH, /* one is to be copied, or its rest */
        IN_TRAILER,
    } part;
    bool is_final;
    uint64_t bits; /* input not yet consumed, the next bit lowest; zeros above `bit_count` */
    unsigned bit_count;
    unsigned length_count, distance_count, number_count;
    unsigned known; /* of the lengths that are being read */
    unsigned left;  /* of a stored block or a match */
    unsigned distance;
    uint32_t adler;
    size_t history;                /* bytes before `out` that a match may refer to */
    uint8_t lengths[MOST_LENGTHS + MOST_DISTANCES]; /* of codes, 0 where a symbol has none */
    uint8_t number_lengths[19];
    uint32_t number_table[1 << NUMBER_ROOT];
    uint32_t length_table[LENGTH_SIZE];
    uint32_t distance_table[DISTANCE_SIZE];
};

/* The input and output of one call. */
typedef struct {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
    const uint8_t *oldest; /* the first byte that a match may refer to */
    const uint8_t *summed; /* up to here the checksum knows the output */
} span;

darkroom_inflate *darkroom_inflate_new(void)
{
    darkroom_inflate *s = calloc(1, sizeof *s);
    if (s != NULL)
        s->adler = 1;
    return s;
}

void darkroom_inflate_free(darkroom_inflate *s)
{
    free(s);
}

/* ---- Codes (RFC 1951, 3.2) ------------------------------------------------------------------- */

static const uint16_t length_bases[29] = {
    3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
};
static const uint8_t length_further[29] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
};
static const uint16_t distance_bases[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
};

static uint32_t length_entry(unsigned symbol)
{
    if (symbol < 256)
        return symbol << 16 | IS_LITERAL;
    if (symbol == 256)
        return IS_SPECIAL | IS_END;
    if (symbol > 285)
        return IS_SPECIAL;
    return (uint32_t)length_bases[symbol - 257] << 16
        | (uint32_t)length_further[symbol - 257] << 10;
}

static uint32_t distance_entry(unsigned symbol)
{
    if (symbol > 29)
        return IS_SPECIAL;
    return (uint32_t)distance_bases[symbol] << 16
        | (uint32_t)(symbol < 2 ? 0 : symbol / 2 - 1) << 10;
}

static uint32_t number_entry(unsigned symbol)
{
    return symbol << 16;
}

/* The code after `code`, both with their first bit lowest; 0 after the last one. */
static uint32_t next_code(uint32_t code, unsigned length)
{
    uint32_t bit = 1u << (length - 1);
    while ((code & bit) != 0)
        bit >>= 1;
    return bit == 0 ? 0 : (code & (bit - 1)) | bit;
}

/* How many bits select from the second table that begins with a code of `length`: enough for all
 * codes with the same first bits. `counts` are the codes of each length not yet placed. */
static unsigned table_bits(const unsigned *counts, unsigned length, unsigned root, unsigned longest)
{
    unsigned bits = length - root;
    int room = 1 << bits;
    while (bits + root < longest) {
        room -= (int)counts[bits + root];
        if (room <= 0)
            break;
        bits++;
        room <<= 1;
    }
    return bits;
}

/*
 * Makes the table of a code, given its symbols' lengths. False where there is no such code: with more
 * codes than bits can tell apart, or with fewer; only one single code of one bit may be, whose
 * other half is invalid, or none at all where `may_be_empty`.
 */
static bool make_table(
    uint32_t *table, unsigned root, const uint8_t *lengths, unsigned count,
    uint32_t (*entry)(unsigned), bool may_be_empty)
{
    unsigned counts[LONGEST_CODE + 1] = {0};
    for (unsigned i = 0; i < count; i++)
        counts[lengths[i]]++;
    unsigned longest = LONGEST_CODE;
    while (longest > 0 && counts[longest] == 0)
        longest--;
    int room = 1;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        room = 2 * room - (int)counts[length];
        if (room < 0)
            return false;
    }
    if (longest == 0 && !may_be_empty)
        return false;
    if (room > 0 && longest > 1)
        return false;
    if (room > 0)
        for (unsigned i = 0; i < 1u << root; i++)
            table[i] = IS_SPECIAL | 1;

    uint16_t starts[LONGEST_CODE + 2] = {0}, sorted[MOST_LENGTHS];
    for (unsigned length = 1; length <= LONGEST_CODE; length++)
        starts[length + 1] = (uint16_t)(starts[length] + counts[length]);
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] != 0)
            sorted[starts[lengths[i]]++] = (uint16_t)i;

    const uint32_t mask = (1u << root) - 1;
    uint32_t code = 0, prefix = ~0u;
    unsigned end = 1u << root, start = 0, selecting = 0;
    for (unsigned i = 0; i < starts[longest]; i++) {
        const unsigned length = lengths[sorted[i]];
        const uint32_t made = entry(sorted[i]) | length;
        if (length <= root) {
            for (uint32_t j = code; j <= mask; j += 1u << length)
                table[j] = made;
        } else {
            if ((code & mask) != prefix) {
                prefix = code & mask;
                selecting = table_bits(counts, length, root, longest);
                start = end;
                end += 1u << selecting;
                table[prefix] = IS_SPECIAL | IS_TABLE | selecting << 10 | start << 16;
            }
            for (uint32_t j = code >> root; j < 1u << selecting; j += 1u << (length - root))
                table[start + j] = made;
        }
        counts[length]--;
        code = next_code(code, length);
    }
    return true;
}

/* Makes one entry of two literals in a row wherever both codes fit. */
static void join_literals(uint32_t *table)
{
    /* The second one's entry is a smaller one, which is still single; or, of 0, itself. No branches:
     * they would be as good as random. */
    for (uint32_t i = 1u << LENGTH_ROOT; i-- > 0;) {
        const uint32_t entry = table[i];
        const uint32_t next = table[i >> BITS(entry)];
        const uint32_t bits = BITS(entry) + BITS(next);
        const uint32_t joined = (entry & 0xff0000) | (next & 0xff0000) << 8 | 2 * IS_LITERAL | bits;
        const bool fits = (entry & next & IS_LITERAL) != 0 && bits <= LENGTH_ROOT;
        table[i] = fits ? joined : entry;
    }
}

static bool make_tables(darkroom_inflate *s)
{
    if (!make_table(
            s->length_table, LENGTH_ROOT, s->lengths, s->length_count, length_entry, false)
        || !make_table(
            s->distance_table, DISTANCE_ROOT, s->lengths + s->length_count, s->distance_count,
            distance_entry, true))
        return false;
    join_literals(s->length_table);
    return true;
}

static void make_fixed_tables(darkroom_inflate *s)
{
    memset(s->lengths, 8, 144);
    memset(s->lengths + 144, 9, 112);
    memset(s->lengths + 256, 7, 24);
    memset(s->lengths + 280, 8, 8);
    memset(s->lengths + 288, 5, 32);
    s->length_count = 288;
    s->distance_count = 32;
    make_tables(s);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Takes in bytes until there are at least 56 bits, or no more input; true where there are `count`. */
INLINE bool need(darkroom_inflate *s, span *p, unsigned count)
{
    while (s->bit_count < 56 && p->in < p->in_end) {
        s->bits |= (uint64_t)*p->in++ << s->bit_count;
        s->bit_count += 8;
    }
    return s->bit_count >= count;
}

INLINE unsigned peek(const darkroom_inflate *s, unsigned count)
{
    return (unsigned)(s->bits & ((1ull << count) - 1));
}

INLINE void drop(darkroom_inflate *s, unsigned count)
{
    s->bits >>= count;
    s->bit_count -= count;
}

INLINE unsigned take(darkroom_inflate *s, unsigned count)
{
    const unsigned bits = peek(s, count);
    drop(s, count);
    return bits;
}

INLINE uint32_t look_up(const uint32_t *table, unsigned root, uint64_t bits)
{
    const uint32_t entry = table[bits & ((1u << root) - 1)];
    if ((entry & (IS_SPECIAL | IS_TABLE | ARE_LITERALS)) != (IS_SPECIAL | IS_TABLE))
        return entry;
    return table[BASE(entry) + (bits >> root & ((1u << FURTHER(entry)) - 1))];
}

/* ---- Headers --------------------------------------------------------------------------------- */

typedef darkroom_inflate_result result;

/* What a step answers that is not to end the call. */
enum { GO_ON = -1 };

static int read_header(darkroom_inflate *s, span *p)
{
    if (!need(s, p, 16))
        return DARKROOM_INFLATE_MORE;
    const unsigned method = take(s, 8), flags = take(s, 8);
    /* Deflate, a window of at most 2^(7 + 8) bytes, no dictionary. */
    if ((method & 15) != 8 || method >> 4 > 7 || (flags & 0x20) != 0
        || (method << 8 | flags) % 31 != 0)
        return DARKROOM_INFLATE_HEADER;
    s->part = IN_BLOCK_HEADER;
    return GO_ON;
}

static int read_block_header(darkroom_inflate *s, span *p)
{
    if (s->is_final) {
        drop(s, s->bit_count & 7);
        s->part = IN_TRAILER;
        return GO_ON;
    }
    if (!need(s, p, 3))
        return DARKROOM_INFLATE_MORE;
    s->is_final = take(s, 1) != 0;
    switch (take(s, 2)) {
    case 0:
        drop(s, s->bit_count & 7);
        s->part = IN_STORED_HEADER;
        return GO_ON;
    case 1:
        make_fixed_tables(s);
        s->part = IN_SYMBOLS;
        return GO_ON;
    case 2:
        s->part = IN_COUNTS;
        return GO_ON;
    default:
        return DARKROOM_INFLATE_DAMAGED;
    }
}

static int read_stored_header(darkroom_inflate *s, span *p)
{
    if (!need(s, p, 32))
        return DARKROOM_INFLATE_MORE;
    s->left = take(s, 16);
    if (take(s, 16) != (s->left ^ 0xffff))
        return DARKROOM_INFLATE_DAMAGED;
    s->part = IN_STORED;
    return GO_ON;
}

static int copy_stored(darkroom_inflate *s, span *p)
{
    while (s->left > 0) {
        if (p->out == p->out_end)
            return DARKROOM_INFLATE_ROOM;
        if (s->bit_count > 0) {
            *p->out++ = (uint8_t)take(s, 8);
            s->left--;
            continue;
        }
        size_t count = s->left;
        if (count > (size_t)(p->in_end - p->in))
            count = (size_t)(p->in_end - p->in);
        if (count > (size_t)(p->out_end - p->out))
            count = (size_t)(p->out_end - p->out);
        if (count == 0)
            return DARKROOM_INFLATE_MORE;
        memcpy(p->out, p->in, count);
        p->in += count;
        p->out += count;
        s->left -= (unsigned)count;
    }
    s->part = IN_BLOCK_HEADER;
    return GO_ON;
}

static int read_counts(darkroom_inflate *s, span *p)
{
    if (!need(s, p, 14))
        return DARKROOM_INFLATE_MORE;
    s->length_count = take(s, 5) + 257;
    s->distance_count = take(s, 5) + 1;
    s->number_count = take(s, 4) + 4;
    if (s->length_count > 286 || s->distance_count > 30)
        return DARKROOM_INFLATE_DAMAGED;
    memset(s->number_lengths, 0, sizeof s->number_lengths);
    s->known = 0;
    s->part = IN_CODE_NUMBERS;
    return GO_ON;
}

static int read_code_numbers(darkroom_inflate *s, span *p)
{
    static const uint8_t order[19] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    };
    while (s->known < s->number_count) {
        if (!need(s, p, 3))
            return DARKROOM_INFLATE_MORE;
        s->number_lengths[order[s->known++]] = (uint8_t)take(s, 3);
    }
    /* Unlike the others this code has to be complete. */
    if (!make_table(s->number_table, NUMBER_ROOT, s->number_lengths, 19, number_entry, false)
        || (s->number_table[(1 << NUMBER_ROOT) - 1] & IS_SPECIAL) != 0)
        return DARKROOM_INFLATE_DAMAGED;
    s->known = 0;
    s->part = IN_CODE_LENGTHS;
    return GO_ON;
}

static int read_code_lengths(darkroom_inflate *s, span *p)
{
    const unsigned count = s->length_count + s->distance_count;
    while (s->known < count) {
        need(s, p, 0);
        const uint32_t entry = s->number_table[peek(s, NUMBER_ROOT)];
        const unsigned number = BASE(entry);
        /* 16: the last length again; 17 and 18: zeros. */
        const unsigned further = number < 16 ? 0 : number == 16 ? 2 : number == 17 ? 3 : 7;
        if (s->bit_count < BITS(entry) + further)
            return DARKROOM_INFLATE_MORE;
        drop(s, BITS(entry));
        if (number < 16) {
            s->lengths[s->known++] = (uint8_t)number;
            continue;
        }
        if (number == 16 && s->known == 0)
            return DARKROOM_INFLATE_DAMAGED;
        const unsigned times = take(s, further) + (number == 18 ? 11 : 3);
        if (times > count - s->known)
            return DARKROOM_INFLATE_DAMAGED;
        memset(s->lengths + s->known, number == 16 ? s->lengths[s->known - 1] : 0, times);
        s->known += times;
    }
    /* A block without a code for its end has none. */
    if (s->lengths[256] == 0 || !make_tables(s))
        return DARKROOM_INFLATE_DAMAGED;
    s->part = IN_SYMBOLS;
    return GO_ON;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

static int copy_match(darkroom_inflate *s, span *p)
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

/* Symbols one by one, near the end of the input or of the room. One that is not there in whole is
 * left for the next call. */
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

/* Copies a match and up to 16 bytes of no meaning behind it. */
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
    } else if (distance == 1) {
        uint8_t same[16];
        memset(same, *from, sizeof same);
        do {
            memcpy(out, same, sizeof same);
            out += sizeof same;
        } while (out < end);
    } else {
        do
            *out++ = *from++;
        while (out < end);
    }
}

enum { QUICK_IN = 16, QUICK_OUT = 16 + LONGEST_MATCH + 16 };

/* Symbols as long as there are QUICK_IN bytes of input and QUICK_OUT of room for each turn. */
INLINE int read_quickly(darkroom_inflate *s, span *p)
{
    const uint32_t *const length_table = s->length_table;
    const uint32_t *const distance_table = s->distance_table;
    const uint8_t *in = p->in;
    uint8_t *out = p->out;
    uint64_t bits = s->bits;
    unsigned count = s->bit_count;
    int answer = GO_ON;

/* At least 56 bits, at most 63. Those above `count` that are already there are what is read again.
 *
 * Of `count` only the lowest 6 bits mean anything in this loop, and of an entry's only those are
 * subtracted: a mask would cost a cycle for each literal. */
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
#define LITERAL()                                                                                  \
    do {                                                                                           \
        const uint16_t literals = (uint16_t)(entry >> 16);                                         \
        DROP(entry);                                                                               \
        memcpy(out, &literals, 2);                                                                 \
        out += LITERALS(entry);                                                                    \
    } while (0)

    while (p->in_end - in >= QUICK_IN && p->out_end - out >= QUICK_OUT) {
        REFILL();
        uint32_t entry = length_table[bits & ((1u << LENGTH_ROOT) - 1)];
        if ((entry & ARE_LITERALS) != 0) {
            LITERAL();
            entry = length_table[bits & ((1u << LENGTH_ROOT) - 1)];
            if ((entry & ARE_LITERALS) != 0) {
                LITERAL();
                entry = length_table[bits & ((1u << LENGTH_ROOT) - 1)];
                if ((entry & ARE_LITERALS) != 0) {
                    LITERAL();
                    entry = length_table[bits & ((1u << LENGTH_ROOT) - 1)];
                    if ((entry & ARE_LITERALS) != 0) {
                        LITERAL();
                        continue;
                    }
                }
            }
            /* Of 56 bits at most 33 are used. A match may need 48. */
            REFILL();
        }
        if ((entry & IS_SPECIAL) != 0) {
            if ((entry & IS_TABLE) != 0)
                entry = look_up(length_table, LENGTH_ROOT, bits);
            if ((entry & ARE_LITERALS) != 0) {
                LITERAL();
                continue;
            }
            if ((entry & IS_SPECIAL) != 0) {
                if ((entry & IS_END) == 0) {
                    answer = DARKROOM_INFLATE_DAMAGED;
                    break;
                }
                DROP(entry);
                s->part = IN_BLOCK_HEADER;
                break;
            }
        }
        DROP(entry);
        const size_t length = BASE(entry) + (size_t)(bits & ((1u << FURTHER(entry)) - 1));
        DROP(FURTHER(entry));

        const uint32_t away = look_up(distance_table, DISTANCE_ROOT, bits);
        if ((away & IS_SPECIAL) != 0) {
            answer = DARKROOM_INFLATE_DAMAGED;
            break;
        }
        DROP(away);
        const size_t distance = BASE(away) + (size_t)(bits & ((1u << FURTHER(away)) - 1));
        DROP(FURTHER(away));
        if (distance > (size_t)(out - p->oldest)) {
            answer = DARKROOM_INFLATE_DAMAGED;
            break;
        }
        copy_quickly(out, distance, length);
        out += length;
    }
#undef REFILL
#undef DROP
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

static int read_symbols(darkroom_inflate *s, span *p)
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

/* ---- The stream ------------------------------------------------------------------------------ */

static void sum_up(darkroom_inflate *s, span *p)
{
    s->adler = darkroom_adler32(s->adler, p->summed, (size_t)(p->out - p->summed));
    p->summed = p->out;
}

static int read_trailer(darkroom_inflate *s, span *p)
{
    if (!need(s, p, 32))
        return DARKROOM_INFLATE_MORE;
    sum_up(s, p);
    uint32_t given = 0;
    for (int i = 0; i < 4; i++)
        given = given << 8 | take(s, 8);
    if (given != s->adler)
        return DARKROOM_INFLATE_CHECKSUM;
    const bool is_all = s->bit_count == 0 && p->in == p->in_end;
    return is_all ? DARKROOM_INFLATE_END : DARKROOM_INFLATE_SURPLUS;
}

static int read_part(darkroom_inflate *s, span *p)
{
    switch (s->part) {
    case IN_HEADER: return read_header(s, p);
    case IN_BLOCK_HEADER: return read_block_header(s, p);
    case IN_STORED_HEADER: return read_stored_header(s, p);
    case IN_STORED: return copy_stored(s, p);
    case IN_COUNTS: return read_counts(s, p);
    case IN_CODE_NUMBERS: return read_code_numbers(s, p);
    case IN_CODE_LENGTHS: return read_code_lengths(s, p);
    case IN_SYMBOLS: return read_symbols(s, p);
    case IN_MATCH: return copy_match(s, p);
    case IN_TRAILER: return read_trailer(s, p);
    }
    return DARKROOM_INFLATE_DAMAGED;
}

darkroom_inflate_result darkroom_inflate_run(
    darkroom_inflate *s, const uint8_t *in, size_t count, size_t *taken, uint8_t *out, size_t room,
    size_t *made)
{
    span p = {in, in + count, out, out + room, out - s->history, out};
    int answer = GO_ON;
    while (answer == GO_ON)
        answer = read_part(s, &p);
    sum_up(s, &p);
    *taken = (size_t)(p.in - in);
    *made = (size_t)(p.out - out);
    s->history += *made;
    if (s->history > WINDOW)
        s->history = WINDOW;
    return (darkroom_inflate_result)answer;
}
