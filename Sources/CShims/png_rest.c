/*
 * The chunks behind the pixels, where libpng has not read the pixels. They are only checked: nothing in them changes a
 * pixel, and metadata is taken from the chunks before.
 *
 * png_read_end() cannot do it. Since 1.6.45, libpng takes IEND for one out of place unless it has inflated the pixels
 * itself, and has no function that tells it of the end of the data.
 */
#include "png_reader.h"

#include "CDarkroomDeflate.h"

#include <stdio.h>
#include <string.h>

static bool is_letter(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static darkroom_png_result take(darkroom_png_reader *reader, uint8_t *bytes, size_t count)
{
    const darkroom_png_result result = darkroom_png_source_read(&reader->source, bytes, count);
    return result == DARKROOM_PNG_OK ? result
                                     : darkroom_png_note(&reader->trap, result, reader->source.message);
}

/* Checks a chunk's length and name, which PNG limits to 31 bits and four letters. */
static darkroom_png_result check_header(darkroom_png_reader *reader, const uint8_t *header)
{
    for (int i = 4; i < 8; i++)
        if (!is_letter(header[i]))
            return darkroom_png_note(&reader->trap, DARKROOM_PNG_INVALID, "a chunk's name has other bytes than letters");
    char words[DARKROOM_PNG_MESSAGE_BYTES];
    if (darkroom_png_big_endian(header) > 0x7fffffff) {
        snprintf(words, sizeof words, "%.4s: the length is out of range", (const char *)header + 4);
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_INVALID, words);
    }
    if (memcmp(header + 4, "IHDR", 4) == 0)
        return darkroom_png_note(&reader->trap, DARKROOM_PNG_HEADER, "IHDR: out of place");
    return DARKROOM_PNG_OK;
}

/* Reads the chunk's data and its checksum. The source compares those of critical chunks. */
static darkroom_png_result pass_over(darkroom_png_reader *reader, const uint8_t *header)
{
    uint8_t bytes[4096], checksum[4];
    uint32_t crc = darkroom_crc32(0, header + 4, 4);
    for (size_t left = darkroom_png_big_endian(header); left > 0;) {
        const size_t part = left < sizeof bytes ? left : sizeof bytes;
        if (take(reader, bytes, part) != DARKROOM_PNG_OK)
            return reader->trap.result;
        crc = darkroom_crc32(crc, bytes, part);
        left -= part;
    }
    if (take(reader, checksum, sizeof checksum) != DARKROOM_PNG_OK)
        return reader->trap.result;
    const bool is_ancillary = (header[4] & 0x20) != 0;
    if (is_ancillary && darkroom_png_big_endian(checksum) != crc) {
        char words[WARNING_BYTES];
        snprintf(words, sizeof words, "%.4s: CRC error", (const char *)header + 4);
        darkroom_png_remark(reader, words);
    }
    return DARKROOM_PNG_OK;
}

/* Consumes the IDATs after the compressed data, which are all empty. */
static darkroom_png_result skip_data(darkroom_png_reader *reader)
{
    size_t count = 0;
    const uint8_t *bytes = NULL;
    do {
        const darkroom_png_result result =
            darkroom_png_source_data(&reader->source, &bytes, &count);
        if (result != DARKROOM_PNG_OK)
            return darkroom_png_note(&reader->trap, result, reader->source.message);
    } while (count > 0);
    return DARKROOM_PNG_OK;
}

darkroom_png_result darkroom_png_read_rest(darkroom_png_reader *reader)
{
    uint8_t header[8];
    if (skip_data(reader) != DARKROOM_PNG_OK)
        return reader->trap.result;
    for (;;) {
        if (take(reader, header, sizeof header) != DARKROOM_PNG_OK || check_header(reader, header) != DARKROOM_PNG_OK
            || pass_over(reader, header) != DARKROOM_PNG_OK)
            return reader->trap.result;
        if (memcmp(header + 4, "IDAT", 4) == 0)
            darkroom_png_remark(reader, "IDAT: one without data, after other chunks");
        if (memcmp(header + 4, "IEND", 4) == 0) {
            if (darkroom_png_big_endian(header) > 0)
                darkroom_png_remark(reader, "IEND: it has data");
            return DARKROOM_PNG_OK;
        }
    }
}
