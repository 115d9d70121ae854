#include "huffman.h"

#include <string.h>

bool darkroom_codes_make(
    darkroom_codes *codes, const uint8_t *counts, const uint8_t *symbols, bool is_dc)
{
    uint32_t code = 0, total = 0;
    for (unsigned length = 1; length <= DARKROOM_LONGEST_CODE; length++) {
        const uint32_t count = counts[length];
        codes->offsets[length] = (int32_t)total - (int32_t)code;
        code += count;
        total += count;
        /* The code of only ones is not used. */
        if ((count > 0 && code >= (uint32_t)1 << length) || total > 256)
            return false;
        codes->limits[length] = code << (DARKROOM_LONGEST_CODE - length);
        code <<= 1;
    }
    memcpy(codes->symbols, symbols, 256);
    for (uint32_t i = 0; is_dc && i < total; i++)
        if (symbols[i] > 15)
            return false;
    return true;
}

unsigned darkroom_codes_find(const darkroom_codes *codes, uint64_t bits, uint8_t *symbol)
{
    const uint32_t next = (uint32_t)(bits >> 48);
    for (unsigned length = 1; length <= DARKROOM_LONGEST_CODE; length++)
        if (next < codes->limits[length]) {
            const uint32_t code = next >> (DARKROOM_LONGEST_CODE - length);
            *symbol = codes->symbols[(code + (uint32_t)codes->offsets[length]) & 255];
            return length;
        }
    return 0;
}

/* A symbol of AC. */
typedef struct {
    unsigned code_bits, value_bits;
    unsigned advance; /* at least 1, but at the end of a block */
    bool is_end;
} ac_symbol;

/* Returns false if the first `valid` of `bits` have no whole code, or that of a doubtful symbol. */
static bool read_ac(const darkroom_codes *codes, uint64_t bits, unsigned valid, ac_symbol *result)
{
    uint8_t symbol = 0;
    const unsigned length = darkroom_codes_find(codes, bits, &symbol);
    if (length == 0 || length > valid)
        return false;
    const unsigned run = symbol >> 4, size = symbol & 15;
    if (size > DARKROOM_LARGEST_AC || (size == 0 && run != 0 && run != 15))
        return false;
    *result = (ac_symbol){length, size, symbol == 0 ? 0 : run + 1, symbol == 0};
    return true;
}

/* Adds the symbols of AC that follow a first value, whose last bits may be beyond the lookup's. */
static void add_second(const darkroom_codes *ac, uint64_t bits, darkroom_lookup *lookup)
{
    ac_symbol next;
    if (lookup->bits >= DARKROOM_LOOKUP_BITS)
        return;
    const unsigned valid = DARKROOM_LOOKUP_BITS - lookup->bits;
    bits <<= lookup->bits;
    if (!read_ac(ac, bits, valid, &next) || next.code_bits + next.value_bits > valid)
        return;
    if (next.is_end) {
        lookup->is_end = 1;
    } else {
        const int value = darkroom_value(bits << next.code_bits, next.value_bits);
        if (value > INT8_MAX || value < INT8_MIN)
            return;
        lookup->value = (int8_t)value;
        lookup->second = (uint8_t)(lookup->advance + next.advance - 1);
        lookup->advance = (uint8_t)(lookup->advance + next.advance);
    }
    lookup->bits = (uint8_t)(lookup->bits + next.code_bits + next.value_bits);
}

/* Adds as many symbols of AC as have a whole code, without their values. */
static void add_skipped(const darkroom_codes *ac, uint64_t bits, darkroom_lookup *lookup)
{
    ac_symbol next;
    while (!lookup->is_end && lookup->bits < DARKROOM_LOOKUP_BITS) {
        const unsigned valid = DARKROOM_LOOKUP_BITS - lookup->bits;
        if (!read_ac(ac, bits << lookup->bits, valid, &next)
            || lookup->advance + next.advance >= DARKROOM_NO_ADVANCE)
            return;
        lookup->bits = (uint8_t)(lookup->bits + next.code_bits + next.value_bits);
        lookup->advance = (uint8_t)(lookup->advance + next.advance);
        lookup->is_end = next.is_end;
    }
}

static darkroom_lookup look_up_dc(const darkroom_block_codes *codes, uint64_t bits)
{
    darkroom_lookup lookup = {.advance = DARKROOM_NO_ADVANCE};
    uint8_t size = 0;
    const unsigned length = darkroom_codes_find(&codes->dc, bits, &size);
    if (length == 0 || length > DARKROOM_LOOKUP_BITS || size > DARKROOM_LARGEST_DC)
        return lookup;
    lookup.bits = (uint8_t)(length + size);
    lookup.advance = 1;
    lookup.code_bits = (uint8_t)length;
    lookup.value_bits = size;
    if (codes->skips)
        add_skipped(&codes->ac, bits, &lookup);
    else
        add_second(&codes->ac, bits, &lookup);
    return lookup;
}

static darkroom_lookup look_up_ac(const darkroom_block_codes *codes, uint64_t bits)
{
    darkroom_lookup lookup = {.advance = DARKROOM_NO_ADVANCE};
    ac_symbol symbol;
    if (!read_ac(&codes->ac, bits, DARKROOM_LOOKUP_BITS, &symbol))
        return lookup;
    lookup.advance = 0;
    if (codes->skips) {
        add_skipped(&codes->ac, bits, &lookup);
        return lookup;
    }
    lookup.bits = (uint8_t)(symbol.code_bits + symbol.value_bits);
    lookup.advance = (uint8_t)symbol.advance;
    lookup.is_end = symbol.is_end;
    lookup.code_bits = (uint8_t)symbol.code_bits;
    if (symbol.value_bits > 0) {
        lookup.first = lookup.second = (uint8_t)(symbol.advance - 1);
        lookup.value_bits = (uint8_t)symbol.value_bits;
        add_second(&codes->ac, bits, &lookup);
    }
    return lookup;
}

void darkroom_block_codes_fill(darkroom_block_codes *codes)
{
    for (uint64_t i = 0; i < DARKROOM_LOOKUP_SIZE; i++) {
        const uint64_t bits = i << (64 - DARKROOM_LOOKUP_BITS);
        codes->lookups[i] = look_up_dc(codes, bits);
        codes->lookups[DARKROOM_LOOKUP_SIZE + i] = look_up_ac(codes, bits);
    }
}
