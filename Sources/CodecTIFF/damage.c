#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

/* libtiff reports much of what is wrong with the data of a picture only in words, and returns that all is well: it reads on
 * for people who want to see what is left. */

char tiff_words[DARKROOM_CODEC_TEXT];

/* What was wrong first with the data of the picture since the last row that was read. */
static struct {
    char words[DARKROOM_CODEC_TEXT];
    /* A row that ends before it is whole, where nothing else is wrong. */
    bool is_short_row;
} damage;

static void note(const char *words, bool is_short_row)
{
    if (!damage.words[0]) memcpy(damage.words, words, sizeof damage.words);
    /* An error after a warning is of the same row, and says more. */
    else if (damage.is_short_row && !is_short_row) memcpy(damage.words, words, sizeof damage.words);
    else return;
    damage.is_short_row = is_short_row;
}

static void keep_error(const char *module, const char *format, va_list arguments)
{
    (void) module;
    vsnprintf(tiff_words, sizeof tiff_words, format, arguments);
    note(tiff_words, false);
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Warnings that mean that rows are wrong or missing, by what reports them. What other parts of libtiff warn of is in the
 * tags, or harmless, as an end that is not marked after all rows are there. */
static bool is_damage(const char *module, const char *words)
{
    /* A row of a fax that is too short or too long, or that ends with the data. */
    if (begins(module, "Fax")) return true;
    /* Bytes that are left over or missing. */
    if (begins(module, "PackBits")) return true;
    /* What libjpeg makes of codes that do not exist, and of data left over or missing. */
    return strcmp(module, "JPEGLib") == 0 && (begins(words, "Corrupt JPEG") || begins(words, "Inconsistent progression"));
}

static void keep_warning(const char *module, const char *format, va_list arguments)
{
    char words[DARKROOM_CODEC_TEXT];
    vsnprintf(words, sizeof words, format, arguments);
    if (module && is_damage(module, words)) note(words, begins(words, "Premature"));
}

void tiff_listen(void)
{
    TIFFSetErrorHandler(keep_error);
    TIFFSetWarningHandler(keep_warning);
}

void picture_begin_rows(void) { tiff_words[0] = damage.words[0] = 0; }

void picture_check(const picture *picture, bool is_read, uint32_t y, uint32_t count)
{
    if (!is_read) picture_fail(picture);
    if (!damage.words[0]) return;
    if (count > 1)
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "libtiff: %s, in rows %u to %u of the picture", damage.words,
            y + 1, y + count);
    /* Some scanners say that there is a row more than they send. */
    if (!damage.is_short_row || y + 1 < picture->height)
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "libtiff: %s, in row %u of the picture", damage.words, y + 1);
    codec_warn(picture->call, DARKROOM_CODEC_TRUNCATED, "the last row is not whole: libtiff: %s", damage.words);
    damage.words[0] = 0;
}

/* Whether a strip or tile of the page ends behind the file. */
static bool lacks_data(const picture *picture)
{
    uint32_t count = TIFFIsTiled(picture->tiff) ? TIFFNumberOfTiles(picture->tiff) : TIFFNumberOfStrips(picture->tiff);
    for (uint32_t piece = 0; piece < count; piece++) {
        uint64_t offset = TIFFGetStrileOffset(picture->tiff, piece), bytes = TIFFGetStrileByteCount(picture->tiff, piece);
        if (offset > picture->file->count || bytes > picture->file->count - offset) return true;
    }
    return false;
}

_Noreturn void picture_fail(const picture *picture)
{
    char words[DARKROOM_CODEC_TEXT] = "the file is damaged";
    if (tiff_words[0]) memcpy(words, tiff_words, sizeof words);
    const char *directory = strstr(words, "directory at offset ");
    bool is_short = strstr(words, "Read error") || strstr(words, "past end") || strstr(words, "got 0 bytes")
        || (directory && strtoull(directory + strlen("directory at offset "), NULL, 10) >= picture->file->count)
        || (picture->width > 0 && lacks_data(picture));
    darkroom_codec_result result = strstr(words, "emory") ? DARKROOM_CODEC_MEMORY
        : is_short ? DARKROOM_CODEC_TRUNCATED : DARKROOM_CODEC_DAMAGED;
    codec_fail(picture->call, result, "libtiff: %s", words);
}
