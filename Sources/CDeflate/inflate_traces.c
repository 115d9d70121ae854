/*
 * The output of a chain's trace (inflate_chains.c). First the entries are divided into literals and parts of matches, 16 at
 * a time. Then it is computed where the further bits of each part are, also 16 at a time. Finally literals and matches are
 * copied in turn.
 */
#include "inflate_state.h"

#if defined(__x86_64__)

/* Divides a part of a trace. Returns the number of parts, and sets that of literals. */
AVX512 static size_t divide(
    darkroom_chains *c, const uint32_t *trace, size_t count, size_t *literal_count)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i last = _mm512_set1_epi32(15);
    const __m512i own_bits = _mm512_set1_epi32(BITS(~0u));
    __m512i before = zero;
    size_t literals = 0, parts = 0;
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 valid = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1);
        const __m512i entries = _mm512_maskz_loadu_epi32(valid, trace + i);
        /* One literal is in byte 2, and two are in bytes 2 and 3. */
        const __mmask16 have_one = _mm512_test_epi32_mask(entries, _mm512_set1_epi32(ARE_LITERALS));
        const __mmask16 have_two = _mm512_test_epi32_mask(entries, _mm512_set1_epi32(2 * IS_LITERAL));
        const __mmask64 are_literals = _pdep_u64(have_one, 0x4444444444444444)
            | _pdep_u64(have_two, 0x8888888888888888);
        _mm256_storeu_si256(
            (__m256i *)(c->literals + literals),
            _mm512_castsi512_si256(_mm512_maskz_compress_epi8(are_literals, entries)));
        literals += (size_t)__builtin_popcountll(are_literals);

        /* Bits in the lower half, literals in the upper one, and of both the sums of this and all previous entries. */
        const __m512i own = _mm512_or_si512(
            _mm512_and_si512(entries, own_bits),
            _mm512_and_si512(_mm512_slli_epi32(entries, 10), _mm512_set1_epi32(0x30000)));
        __m512i sums = _mm512_add_epi32(own, _mm512_alignr_epi32(own, zero, 15));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 14));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 12));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 8));
        sums = _mm512_add_epi32(sums, before);
        before = _mm512_permutexvar_epi32(last, sums);
        const __mmask16 are_parts = _mm512_test_epi32_mask(entries, _mm512_set1_epi32(IS_PART));
        _mm512_storeu_si512(
            c->places + parts,
            _mm512_maskz_compress_epi32(are_parts, _mm512_sub_epi32(sums, own)));
        _mm512_storeu_si512(c->parts + parts, _mm512_maskz_compress_epi32(are_parts, entries));
        parts += (size_t)__builtin_popcount(are_parts);
    }
    *literal_count = literals;
    return parts;
}

/*
 * Prepares the parts of matches for `write`, 16 at a time. Of a part, the upper half becomes the base of its value, and
 * the lower half says which bits of the input are added: their number, and the first one's place within a byte. The
 * lower half of its place becomes that byte, counted from `in`.
 */
AVX512 static void prepare(darkroom_chains *c, size_t part_count, uint32_t position)
{
    const __m512i begin = _mm512_set1_epi32((int)position);
    for (size_t i = 0; i < part_count; i += 16) {
        const __m512i part = _mm512_loadu_si512(c->parts + i);
        const __m512i place = _mm512_loadu_si512(c->places + i);
        const __m512i own = _mm512_and_si512(part, _mm512_set1_epi32(BITS(~0u)));
        const __m512i further = _mm512_and_si512(_mm512_srli_epi32(part, 8), _mm512_set1_epi32(15));
        const __m512i bit = _mm512_add_epi32(
            _mm512_add_epi32(_mm512_and_si512(place, _mm512_set1_epi32(0xffff)), begin),
            _mm512_sub_epi32(own, further));
        _mm512_storeu_si512(
            c->parts + i,
            _mm512_or_si512(
                _mm512_and_si512(part, _mm512_set1_epi32(0x7fff0f00)),
                _mm512_and_si512(bit, _mm512_set1_epi32(7))));
        _mm512_storeu_si512(
            c->places + i,
            _mm512_or_si512(
                _mm512_and_si512(place, _mm512_set1_epi32((int)0xffff0000)),
                _mm512_srli_epi32(bit, 3)));
    }
}

/* The length or distance of a prepared part. */
AVX512_INLINE size_t prepared_value(const uint8_t *in, uint32_t part, uint32_t place)
{
    uint64_t word;
    memcpy(&word, in + (place & 0xffff), sizeof word);
    return (part >> 16) + (size_t)_bextr2_u64(word, part);
}

/* Copies literals and up to 31 bytes without meaning after them. */
AVX512_INLINE void copy_literals(uint8_t *out, const uint8_t *from, size_t count)
{
    _mm256_storeu_si256((__m256i *)out, _mm256_loadu_si256((const __m256i *)from));
    for (size_t i = 32; UNLIKELY(i < count); i += 32)
        _mm256_storeu_si256(
            (__m256i *)(out + i), _mm256_loadu_si256((const __m256i *)(from + i)));
}

/* Writes what has been divided and prepared. Returns the end of the output; NULL if it is damaged or needs more room. Then
 * some of it may have been written. */
AVX512 static uint8_t *write(
    const darkroom_chains *c, size_t literal_count, size_t part_count, const uint8_t *in,
    const span *p)
{
    uint8_t *out = p->out;
    const uint8_t *literals = c->literals, *const end = c->literals + literal_count;
    for (size_t i = 0; i + 2 <= part_count; i += 2) {
        const uint32_t place = c->places[i], away = c->places[i + 1];
        const size_t length = prepared_value(in, c->parts[i], place);
        const size_t distance = prepared_value(in, c->parts[i + 1], away);
        const size_t count = (size_t)(c->literals + (place >> 16) - literals);
        if (UNLIKELY((size_t)(p->out_end - out) < count + LONGEST_MATCH + 32))
            return NULL;
        copy_literals(out, literals, count);
        literals += count;
        out += count;
        if (UNLIKELY(distance > (size_t)(out - p->oldest)))
            return NULL;
        copy_quickly(out, distance, length);
        out += length;
    }
    const size_t count = (size_t)(end - literals);
    if ((size_t)(p->out_end - out) < count + 32)
        return NULL;
    copy_literals(out, literals, count);
    return out + count;
}

AVX512 uint8_t *darkroom_inflate_write_trace(
    darkroom_chains *c, const uint32_t *trace, size_t count, const uint8_t *in, uint32_t position,
    uint32_t *after, const span *p)
{
    size_t literals = 0;
    const size_t parts = divide(c, trace, count, &literals);
    /* A length whose distance has not been read is left to the next round. */
    if (parts % 2 != 0)
        *after = position + (c->places[parts - 1] & 0xffff);
    prepare(c, parts, position);
    return write(c, literals, parts, in, p);
}

#endif
