#include <string.h>

#include "tiff.h"

/* The daemon wrote the structure, and each directory of it with its values at places from its own begin on. So the whole is
 * put behind the pixels, with its places counted from the file's begin. */

enum { ENTRY = 12, TAG_EXIF = 0x8769, TAG_GPS = 0x8825 };

static uint32_t number(const uint8_t *bytes, unsigned size)
{
    uint32_t value = 0;
    for (unsigned index = size; index-- > 0;) value = value << 8 | bytes[index];
    return value;
}

static void set_number(uint8_t *bytes, uint32_t value)
{
    for (unsigned index = 0; index < 4; index++, value >>= 8) bytes[index] = (uint8_t) value;
}

static bool needs_place(const uint8_t *entry)
{
    static const unsigned bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    uint32_t type = number(entry + 2, 2);
    unsigned size = type < sizeof bytes / sizeof *bytes ? bytes[type] : 1;
    return (uint64_t) size * number(entry + 4, 4) > 4;
}

/* The entries of the directory at this place; NULL if it is not whole. */
static uint8_t *entries_at(uint8_t *bytes, size_t size, uint32_t place, unsigned *count)
{
    if (place < 8 || size < 6 || place > size - 6) return NULL;
    *count = number(bytes + place, 2);
    return *count <= (size - place - 6) / ENTRY ? bytes + place + 2 : NULL;
}

/* Texts are the same tags in both. */
static void set_text(TIFF *tiff, const uint8_t *entry, const uint8_t *bytes, size_t size)
{
    static const uint32_t tags[] = {
        TIFFTAG_DOCUMENTNAME, TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE, TIFFTAG_MODEL, TIFFTAG_PAGENAME, TIFFTAG_SOFTWARE,
        TIFFTAG_DATETIME, TIFFTAG_ARTIST, TIFFTAG_HOSTCOMPUTER, TIFFTAG_COPYRIGHT};
    uint32_t tag = number(entry, 2), count = number(entry + 4, 4), from = number(entry + 8, 4);
    const uint8_t *text = count <= 4 ? entry + 8 : from < size && count <= size - from ? bytes + from : NULL;
    if (!text || number(entry + 2, 2) != TIFF_ASCII || count == 0 || text[count - 1] != 0) return;
    for (unsigned index = 0; index < sizeof tags / sizeof *tags; index++)
        if (tag == tags[index]) TIFFSetField(tiff, tag, (const char *) text);
}

/* The resolution must be there. */
static void set_resolution(TIFF *tiff, const uint8_t *entry, const uint8_t *bytes, size_t size)
{
    uint32_t tag = number(entry, 2), type = number(entry + 2, 2), from = number(entry + 8, 4);
    if (number(entry + 4, 4) != 1) return;
    if (tag == TIFFTAG_RESOLUTIONUNIT && type == TIFF_SHORT) TIFFSetField(tiff, tag, (uint16_t) number(entry + 8, 2));
    bool is_ratio = type == TIFF_RATIONAL && size >= 8 && from <= size - 8 && number(bytes + from + 4, 4) > 0;
    if (tag != TIFFTAG_XRESOLUTION || !is_ratio) return;
    double resolution = (double) number(bytes + from, 4) / number(bytes + from + 4, 4);
    /* Both directions have the same. */
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, resolution);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, resolution);
}

void tiff_write_exif(TIFF *tiff, tiff_file *file, codec_blob exif)
{
    uint8_t *bytes = codec_allocate(file->call, exif.count, 1);
    memcpy(bytes, exif.bytes, exif.count);
    uint32_t base = (uint32_t) (file->count + file->count % 2);
    unsigned count = 0;
    uint8_t *entry = exif.count < 8 ? NULL : entries_at(bytes, exif.count, number(bytes + 4, 4), &count);
    float resolution;
    bool has_directory = false, has_resolution = TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &resolution);
    for (; entry && count > 0; count--, entry += ENTRY) {
        uint32_t tag = number(entry, 2), place = number(entry + 8, 4);
        if (tag != TAG_EXIF && tag != TAG_GPS) {
            set_text(tiff, entry, bytes, exif.count);
            if (!has_resolution) set_resolution(tiff, entry, bytes, exif.count);
            continue;
        }
        unsigned below = 0;
        uint8_t *inner = entries_at(bytes, exif.count, place, &below);
        if (!inner) continue;
        for (; below > 0; below--, inner += ENTRY)
            if (needs_place(inner)) set_number(inner + 8, number(inner + 8, 4) + base);
        has_directory = true;
        TIFFSetField(tiff, tag, (uint64_t) base + place);
    }
    if (!has_directory) return;
    TIFFSeekProc seek = TIFFGetSeekProc(tiff);
    TIFFReadWriteProc write = TIFFGetWriteProc(tiff);
    seek(TIFFClientdata(tiff), base, SEEK_SET);
    write(TIFFClientdata(tiff), bytes, (tmsize_t) exif.count);
}
