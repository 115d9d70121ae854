#include "CDarkroomDeflate.h"

#include <libdeflate.h>

uint32_t darkroom_adler32(uint32_t adler, const uint8_t *bytes, size_t count)
{
    return libdeflate_adler32(adler, bytes, count);
}

uint32_t darkroom_crc32(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return libdeflate_crc32(crc, bytes, count);
}

uint32_t darkroom_adler32_combine(uint32_t first, uint32_t second, uint64_t second_count)
{
    /* The sum a of the bytes, and the sum b of these sums, modulo the largest prime below 65536. Both parts
     * began with a = 1, and the second part's b does not contain the first one's a, once for each byte. */
    const uint64_t modulus = 65521;
    const uint64_t a1 = first & 0xffff, b1 = first >> 16;
    const uint64_t a2 = second & 0xffff, b2 = second >> 16;
    const uint64_t a = (a1 + a2 + modulus - 1) % modulus;
    const uint64_t b = (b1 + b2 + (second_count % modulus) * (a1 + modulus - 1)) % modulus;
    return (uint32_t)(b << 16 | a);
}
