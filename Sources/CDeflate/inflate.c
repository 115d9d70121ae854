#include "CDarkroomDeflate.h"
#include "inflate_state.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- Headers ---- */

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

/* The tables may still be those of the last block. To make them takes far longer than to read an empty block. */
static void make_fixed_tables(darkroom_inflate *s)
{
    if (s->has_fixed_tables)
        return;
    s->has_fixed_tables = true;
    memset(s->lengths, 8, 144);
    memset(s->lengths + 144, 9, 112);
    memset(s->lengths + 256, 7, 24);
    memset(s->lengths + 280, 8, 8);
    memset(s->lengths + 288, 5, 32);
    s->length_count = 288;
    s->distance_count = 32;
    darkroom_inflate_make_tables(s);
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
    darkroom_inflate_begin_chains(s);
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
    if (!darkroom_inflate_make_number_table(s))
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
        /* 16: the previous length again; 17 and 18: zeros. */
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
    s->has_fixed_tables = false;
    /* A block without a code for its end has no end. */
    if (s->lengths[256] == 0 || !darkroom_inflate_make_tables(s))
        return DARKROOM_INFLATE_DAMAGED;
    s->part = IN_SYMBOLS;
    return GO_ON;
}

/* ---- The stream ---- */

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
    case IN_SYMBOLS: return darkroom_inflate_read_symbols(s, p);
    case IN_MATCH: return darkroom_inflate_copy_match(s, p);
    case IN_TRAILER: return read_trailer(s, p);
    }
    return DARKROOM_INFLATE_DAMAGED;
}

darkroom_inflate_result darkroom_inflate_run(
    darkroom_inflate *s, const uint8_t *in, size_t count, size_t *taken, uint8_t *out, size_t room,
    size_t *made)
{
    span p = {in, in + count, in, out, out + room, out - s->history, out};
    int answer = GO_ON;
    while (answer == GO_ON)
        answer = read_part(s, &p);
    sum_up(s, &p);
    /* What has been read ahead is not the stream's. */
    if (answer == DARKROOM_INFLATE_SURPLUS) {
        const size_t ahead = s->bit_count / 8;
        p.in -= ahead < (size_t)(p.in - in) ? ahead : (size_t)(p.in - in);
    }
    *taken = (size_t)(p.in - in);
    *made = (size_t)(p.out - out);
    s->history += *made;
    if (s->history > WINDOW)
        s->history = WINDOW;
    return (darkroom_inflate_result)answer;
}
