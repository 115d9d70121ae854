/* The chain of a TIFF's directories (TIFF 6.0, section 2; BigTIFF has longer numbers). libtiff reads each directory that it
 * goes past, which takes minutes for the pages of a file with thousands; only places and kinds are read here. */
#include "picture.h"

typedef struct {
    const uint8_t *bytes;
    size_t count;
    bool is_little, is_big;
    /* Whether a directory has its kind in a form that only libtiff reads. */
    bool has_unusual_kind;
} chain;

/* A number of `size` bytes; 0 outside of the file. */
static uint64_t number_at(const chain *chain, uint64_t place, unsigned size)
{
    if (place > chain->count || size > chain->count - place) return 0;
    uint64_t value = 0;
    for (unsigned index = 0; index < size; index++) {
        uint64_t byte = chain->bytes[place + index];
        value |= byte << 8 * (chain->is_little ? index : size - 1 - index);
    }
    return value;
}

/* Whether a directory is a smaller copy or a mask, by NewSubfileType or the former SubfileType. The tags are sorted. */
static bool is_copy(chain *chain, uint64_t entries, uint64_t count)
{
    enum { NEW_KIND = 254, FORMER_KIND = 255, BYTE = 1, SHORT = 3, LONG = 4 };
    unsigned size = chain->is_big ? 20 : 12, content = chain->is_big ? 12 : 8;
    for (uint64_t index = 0; index < count; index++) {
        uint64_t entry = entries + index * size;
        uint64_t tag = number_at(chain, entry, 2), type = number_at(chain, entry + 2, 2);
        if (tag > FORMER_KIND) return false;
        if (tag != NEW_KIND && tag != FORMER_KIND) continue;
        if (type != BYTE && type != SHORT && type != LONG) chain->has_unusual_kind = true;
        uint64_t value = number_at(chain, entry + content, type == SHORT ? 2 : type == LONG ? 4 : 1);
        return tag == NEW_KIND ? value & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK) : value == OFILETYPE_REDUCEDIMAGE;
    }
    return false;
}

bool picture_find_in_chain(const picture *picture, uint32_t wanted, uint64_t *place, uint32_t *pages)
{
    /* Those of all pages, and as many copies. */
    enum { MOST = 2 * 65535 };
    chain chain = {0};
    chain.bytes = codec_source(picture->call, &chain.count);
    if (chain.count < 8) return false;
    chain.is_little = chain.bytes[0] == 'I';
    chain.is_big = number_at(&chain, 2, 2) == 43;
    unsigned head = chain.is_big ? 8 : 2, entry = chain.is_big ? 20 : 12, link = chain.is_big ? 8 : 4;
    uint64_t next = number_at(&chain, chain.is_big ? 8 : 4, link);
    bool is_found = false;
    *pages = 0;
    for (unsigned step = 0; step < MOST; step++) {
        uint64_t count = number_at(&chain, next, head);
        /* libtiff says what is wrong with a chain that breaks off, and with a directory of unusual length. */
        if (count == 0 || count > 4096 || next > chain.count - head) return false;
        uint64_t entries = next + head, end = entries + count * entry;
        if (end > chain.count || chain.count - end < link) return false;
        if (!is_copy(&chain, entries, count) && ++*pages == wanted) {
            *place = next;
            is_found = true;
        }
        if (chain.has_unusual_kind) return false;
        next = number_at(&chain, end, link);
        if (next == 0) return is_found;
    }
    return false;
}
