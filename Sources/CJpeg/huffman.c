#include "huffman.h"

#include <string.h>

bool darkroom_jpeg_codes_make(
    darkroom_jpeg_codes *codes, const uint8_t *counts, const uint8_t *symbols, bool is_dc)
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

unsigned darkroom_jpeg_codes_find(const darkroom_jpeg_codes *codes, uint64_t bits, uint8_t *symbol)
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
    uint8_t code_bits; /* 0 for a code that is longer than a lookup, or a symbol in doubt */
    uint8_t value_bits;
    uint8_t advance; /* at least 1, but at the end of a block */
    bool is_end;
} ac_symbol;

/* The symbols at the beginning of all bits of a lookup. */
typedef struct {
    ac_symbol at[DARKROOM_LOOKUP_SIZE];
} ac_symbols;

static void find_symbols(const darkroom_jpeg_codes *codes, ac_symbols *symbols)
{
    enum { SHIFT = DARKROOM_LONGEST_CODE - DARKROOM_LOOKUP_BITS };
    memset(symbols, 0, sizeof *symbols);
    uint32_t index = 0;
    for (unsigned length = 1; length <= DARKROOM_LOOKUP_BITS; length++)
        while (index < codes->limits[length] >> SHIFT) {
            const uint32_t code = index >> (DARKROOM_LOOKUP_BITS - length);
            const uint8_t symbol = codes->symbols[(code + (uint32_t)codes->offsets[length]) & 255];
            const unsigned run = symbol >> 4, size = symbol & 15;
            const bool is_doubtful =
                size > DARKROOM_LARGEST_AC || (size == 0 && run != 0 && run != 15);
            const ac_symbol found = {
                .code_bits = is_doubtful ? 0 : (uint8_t)length,
                .value_bits = (uint8_t)size,
                .advance = symbol == 0 ? 0 : (uint8_t)(run + 1),
                .is_end = symbol == 0,
            };
            for (uint32_t k = 0; k < 1u << (DARKROOM_LOOKUP_BITS - length); k++)
                symbols->at[index++] = found;
        }
}

/* The symbol at the beginning of `bits`, if its code is in the first `valid` ones; else NULL. */
static const ac_symbol *symbol_of(const ac_symbols *symbols, uint64_t bits, unsigned valid)
{
    const ac_symbol *found = &symbols->at[bits >> (64 - DARKROOM_LOOKUP_BITS)];
    return found->code_bits == 0 || found->code_bits > valid ? NULL : found;
}

/* Adds the symbol of AC that follows a first value, whose last bits may be beyond the lookup's. */
static void add_second(const ac_symbols *ac, uint64_t bits, darkroom_jpeg_lookup *lookup)
{
    if (lookup->bits >= DARKROOM_LOOKUP_BITS)
        return;
    const unsigned valid = DARKROOM_LOOKUP_BITS - lookup->bits;
    bits <<= lookup->bits;
    const ac_symbol *next = symbol_of(ac, bits, valid);
    if (next == NULL || (unsigned)next->code_bits + next->value_bits > valid)
        return;
    if (next->is_end) {
        lookup->is_end = 1;
    } else {
        const int value = darkroom_jpeg_value(bits << next->code_bits, 63u - next->value_bits);
        if (value > INT8_MAX || value < INT8_MIN)
            return;
        lookup->value = (int8_t)value;
        lookup->second = (uint8_t)(lookup->advance + next->advance - 1);
        lookup->advance = (uint8_t)(lookup->advance + next->advance);
    }
    lookup->bits = (uint8_t)(lookup->bits + next->code_bits + next->value_bits);
}

/* Adds as many symbols of AC as have a whole code, without their values. */
static void add_skipped(const ac_symbols *ac, uint64_t bits, darkroom_jpeg_lookup *lookup)
{
    while (!lookup->is_end && lookup->bits < DARKROOM_LOOKUP_BITS) {
        const unsigned valid = DARKROOM_LOOKUP_BITS - lookup->bits;
        const ac_symbol *next = symbol_of(ac, bits << lookup->bits, valid);
        if (next == NULL || lookup->advance + next->advance >= DARKROOM_NO_ADVANCE)
            return;
        lookup->bits = (uint8_t)(lookup->bits + next->code_bits + next->value_bits);
        lookup->advance = (uint8_t)(lookup->advance + next->advance);
        lookup->is_end = next->is_end;
    }
}

/* `size` is the symbol of DC at the beginning of `bits`, `length` that of its code. */
static darkroom_jpeg_lookup look_up_dc(
    const ac_symbols *ac, bool skips, uint64_t bits, unsigned length, uint8_t size)
{
    darkroom_jpeg_lookup lookup = {.advance = DARKROOM_NO_ADVANCE, .value_shift = 63};
    if (length == 0 || length > DARKROOM_LOOKUP_BITS || size > DARKROOM_LARGEST_DC)
        return lookup;
    lookup.bits = (uint8_t)(length + size);
    lookup.advance = 1;
    lookup.code_bits = (uint8_t)length;
    lookup.value_shift = (uint8_t)(63 - size);
    if (skips)
        add_skipped(ac, bits, &lookup);
    else
        add_second(ac, bits, &lookup);
    return lookup;
}

static darkroom_jpeg_lookup look_up_ac(const ac_symbols *ac, bool skips, uint64_t bits)
{
    darkroom_jpeg_lookup lookup = {.advance = DARKROOM_NO_ADVANCE, .value_shift = 63};
    const ac_symbol *symbol = symbol_of(ac, bits, DARKROOM_LOOKUP_BITS);
    if (symbol == NULL)
        return lookup;
    lookup.advance = 0;
    if (skips) {
        add_skipped(ac, bits, &lookup);
        return lookup;
    }
    lookup.bits = symbol->code_bits + symbol->value_bits;
    lookup.advance = symbol->advance;
    lookup.is_end = symbol->is_end;
    lookup.code_bits = symbol->code_bits;
    if (symbol->value_bits > 0) {
        lookup.first = lookup.second = symbol->advance - 1;
        lookup.value_shift = 63 - symbol->value_bits;
        add_second(ac, bits, &lookup);
    }
    return lookup;
}

void darkroom_jpeg_block_codes_fill(darkroom_jpeg_block_codes *codes)
{
    ac_symbols ac;
    find_symbols(&codes->ac, &ac);
    unsigned length = 0;
    uint8_t size = 0;
    for (uint64_t i = 0, next = 0; i < DARKROOM_LOOKUP_SIZE; i++) {
        const uint64_t bits = i << (64 - DARKROOM_LOOKUP_BITS);
        if (i == next) {
            length = darkroom_jpeg_codes_find(&codes->dc, bits, &size);
            /* The codes are in order: those that follow one that is too long, or none, are so, too. */
            if (length == 0 || length > DARKROOM_LOOKUP_BITS)
                next = DARKROOM_LOOKUP_SIZE;
            else
                next += 1u << (DARKROOM_LOOKUP_BITS - length);
        }
        codes->lookups[i] = look_up_dc(&ac, codes->skips, bits, length, size);
        codes->lookups[DARKROOM_LOOKUP_SIZE + i] = look_up_ac(&ac, codes->skips, bits);
    }
}
