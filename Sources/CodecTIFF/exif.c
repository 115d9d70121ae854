/* Exif and IPTC of a TIFF file, whose directories are those of Exif: the tags that both have, and the directories of Exif and GPS.
 *
 * libtiff keeps of a file only one directory at a time, so they are read here, from the bytes of the file. Only a file of the
 * classic kind is; BigTIFF has entries of another size. (TIFF 6.0, section 2.) */
#include <string.h>

#include "picture.h"

enum {
    MAIN, EXIF, GPS, PARTS,
    MOST_ENTRIES = 512,
    MOST_VALUE = 64 << 10, /* of an entry, which is left out if it is larger */
    TAG_EXIF = 0x8769, TAG_GPS = 0x8825, TAG_IPTC = 0x83bb,
};

typedef struct {
    uint16_t tag, type;
    uint32_t count;
    const uint8_t *data;
    size_t length;
} entry;

typedef struct {
    const uint8_t *bytes;
    size_t count;
    bool is_big_endian;
    entry entries[PARTS][MOST_ENTRIES];
    unsigned counts[PARTS];
    codec_blob iptc;
} directories;

static uint32_t number(const directories *file, const uint8_t *bytes, unsigned size)
{
    uint32_t value = 0;
    for (unsigned index = 0; index < size; index++) value = value << 8 | bytes[file->is_big_endian ? index : size - 1 - index];
    return value;
}

static void set_number(const directories *file, uint8_t *bytes, unsigned size, uint32_t value)
{
    for (unsigned index = 0; index < size; index++, value >>= 8)
        bytes[file->is_big_endian ? size - 1 - index : index] = (uint8_t) value;
}

static unsigned type_bytes(unsigned type)
{
    static const unsigned bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    return type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

/* The tags of the picture that are also of Exif. The orientation is told otherwise. */
static bool is_of_exif(uint16_t tag)
{
    static const uint16_t tags[] = {
        0x010d, 0x010e, 0x010f, 0x0110, 0x011a, 0x011b, 0x0128, 0x0131, 0x0132, 0x013b, 0x013c, 0x8298, TAG_EXIF, TAG_GPS};
    for (unsigned index = 0; index < sizeof tags / sizeof *tags; index++)
        if (tag == tags[index]) return true;
    return false;
}

static bool read_entry(const directories *file, size_t place, entry *entry)
{
    const uint8_t *bytes = file->bytes + place;
    unsigned size = type_bytes(number(file, bytes + 2, 2));
    entry->tag = (uint16_t) number(file, bytes, 2);
    entry->type = (uint16_t) number(file, bytes + 2, 2);
    entry->count = number(file, bytes + 4, 4);
    if (size == 0 || entry->count == 0 || entry->count > MOST_VALUE / size) return false;
    entry->length = (size_t) entry->count * size;
    size_t from = entry->length <= 4 ? place + 8 : number(file, bytes + 8, 4);
    if (from > file->count || entry->length > file->count - from) return false;
    entry->data = file->bytes + from;
    return true;
}

static void read_part(directories *file, unsigned part, uint64_t place)
{
    if (file->count < 2 || place > file->count - 2) return;
    unsigned count = number(file, file->bytes + place, 2);
    if (count > (file->count - place - 2) / 12) return;
    for (unsigned index = 0; index < count && file->counts[part] < MOST_ENTRIES; index++) {
        entry found;
        if (!read_entry(file, place + 2 + index * 12u, &found)) continue;
        /* Programs write it as bytes, or as numbers of 32 bits whose bytes keep their order. */
        if (part == MAIN && found.tag == TAG_IPTC) file->iptc = (codec_blob) {found.data, found.length};
        if (part == MAIN && !is_of_exif(found.tag)) continue;
        file->entries[part][file->counts[part]++] = found;
    }
}

/* Reads the directory to which an entry of the main one points. */
static void read_below(directories *file, unsigned part, uint16_t tag)
{
    for (unsigned index = 0; index < file->counts[MAIN]; index++) {
        const entry *entry = &file->entries[MAIN][index];
        if (entry->tag == tag && entry->length == 4) read_part(file, part, number(file, entry->data, 4));
    }
}

/* The bytes of a directory with its values. */
static size_t part_bytes(const directories *file, unsigned part)
{
    size_t bytes = file->counts[part] ? 6 + 12 * (size_t) file->counts[part] : 0;
    for (unsigned index = 0; index < file->counts[part]; index++) {
        size_t length = file->entries[part][index].length;
        if (length > 4) bytes += length + length % 2;
    }
    return bytes;
}

static void write_part(const directories *file, unsigned part, uint8_t *to, const size_t starts[PARTS])
{
    size_t next = starts[part] + 6 + 12 * (size_t) file->counts[part];
    uint8_t *place = to + starts[part];
    set_number(file, place, 2, file->counts[part]);
    place += 2;
    for (unsigned index = 0; index < file->counts[part]; index++, place += 12) {
        const entry *entry = &file->entries[part][index];
        set_number(file, place, 2, entry->tag);
        set_number(file, place + 2, 2, entry->type);
        set_number(file, place + 4, 4, entry->count);
        if (part == MAIN && (entry->tag == TAG_EXIF || entry->tag == TAG_GPS))
            set_number(file, place + 8, 4, (uint32_t) starts[entry->tag == TAG_EXIF ? EXIF : GPS]);
        else if (entry->length <= 4) memcpy(place + 8, entry->data, entry->length);
        else {
            set_number(file, place + 8, 4, (uint32_t) next);
            memcpy(to + next, entry->data, entry->length);
            next += entry->length + entry->length % 2;
        }
    }
}

/* Whether there is more than the resolution. */
static bool has_content(const directories *file)
{
    for (unsigned index = 0; index < file->counts[MAIN]; index++) {
        uint16_t tag = file->entries[MAIN][index].tag;
        if (tag != TIFFTAG_XRESOLUTION && tag != TIFFTAG_YRESOLUTION && tag != TIFFTAG_RESOLUTIONUNIT) return true;
    }
    return false;
}

/* A pointer to a directory that could not be read is left out. */
static void drop_pointers(directories *file)
{
    unsigned kept = 0;
    for (unsigned index = 0; index < file->counts[MAIN]; index++) {
        entry entry = file->entries[MAIN][index];
        bool is_lost = (entry.tag == TAG_EXIF && !file->counts[EXIF]) || (entry.tag == TAG_GPS && !file->counts[GPS]);
        if (!is_lost) file->entries[MAIN][kept++] = entry;
    }
    file->counts[MAIN] = kept;
}

/* A TIFF structure with nothing else. */
static codec_blob block_of(darkroom_codec_call *call, directories *file)
{
    size_t starts[PARTS] = {8}, end = 8 + part_bytes(file, MAIN);
    for (unsigned part = EXIF; part < PARTS; part++) {
        starts[part] = end;
        end += part_bytes(file, part);
    }
    uint32_t most = codec_limits(call)->most_metadata;
    if (end > most) {
        codec_warn(call, DARKROOM_CODEC_METADATA, "the Exif data of %zu bytes is left out: at most %u are read", end, most);
        return (codec_blob) {NULL, 0};
    }
    uint8_t *block = codec_allocate(call, end, 1);
    memset(block, 0, end);
    memcpy(block, file->bytes, 4);
    set_number(file, block + 4, 4, 8);
    for (unsigned part = 0; part < PARTS; part++)
        if (file->counts[part]) write_part(file, part, block, starts);
    return (codec_blob) {block, end};
}

void picture_read_exif(const picture *picture, codec_metadata *metadata)
{
    size_t count;
    const uint8_t *bytes = codec_source(picture->call, &count);
    bool is_classic = count >= 8 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0);
    if (!is_classic) return;
    directories *file = codec_allocate(picture->call, 1, sizeof *file);
    memset(file, 0, sizeof *file);
    file->bytes = bytes;
    file->count = count;
    file->is_big_endian = bytes[0] == 'M';
    read_part(file, MAIN, TIFFCurrentDirOffset(picture->tiff));
    read_below(file, EXIF, TAG_EXIF);
    read_below(file, GPS, TAG_GPS);
    drop_pointers(file);
    metadata->iptc = file->iptc;
    if (has_content(file)) metadata->exif = block_of(picture->call, file);
}
