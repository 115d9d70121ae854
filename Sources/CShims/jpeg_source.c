#include "jpeg_source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- libjpeg's callbacks ---- */

static void init_source(j_decompress_ptr info)
{
    (void)info;
}

/* Counts the bytes 00 and FF before each marker, from where it has stopped up to `end`. */
static void survey(darkroom_jpeg_file *file, const uint8_t *end)
{
    const uint8_t *start = file->surveyed;
    if (start == NULL || start >= end)
        return;
    /* A marker whose FF was the last byte. */
    if (file->last == 0xff && *start != 0 && *start != 0xff && file->open_run > 0)
        file->stuffing += file->open_run - 1;
    for (const uint8_t *at = start; (at = memchr(at, 0xff, (size_t)(end - at))) != NULL; at++) {
        if (at + 1 >= end || at[1] == 0 || at[1] == 0xff)
            continue;
        const uint8_t *from = at;
        while (from > start && (from[-1] == 0 || from[-1] == 0xff))
            from--;
        file->stuffing += (uint64_t)(at - from) + (from == start ? file->open_run : 0);
    }
    const uint8_t *from = end;
    while (from > start && (from[-1] == 0 || from[-1] == 0xff))
        from--;
    file->open_run = (size_t)(end - from) + (from == start ? file->open_run : 0);
    file->last = end[-1];
    file->surveyed = end;
}

void darkroom_jpeg_file_set_height(
    darkroom_jpeg_file *file, uint8_t *bytes, uint64_t first, size_t count)
{
    for (unsigned i = 0; i < 2 && file->height_place > 0; i++) {
        const uint64_t place = file->height_place + i;
        if (place >= first && place - first < count)
            bytes[place - first] = (uint8_t)(i == 0 ? file->height >> 8 : file->height);
    }
}

static ssize_t fill(darkroom_jpeg_file *file)
{
    if (file->fd < 0)
        return 0;
    /* libjpeg has used all bytes, though it has not always said so. */
    survey(file, file->raw + file->raw_count);
    ssize_t count;
    do
        count = read(file->fd, file->raw, DARKROOM_JPEG_RAW_BYTES);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        darkroom_jpeg_file_set_height(file, file->raw, file->total_bytes, (size_t)count);
        file->manager.next_input_byte = file->raw;
        file->manager.bytes_in_buffer = file->raw_count = (size_t)count;
        if (file->surveyed != NULL)
            file->surveyed = file->raw;
        file->total_bytes += (uint64_t)count;
    }
    return count;
}

static boolean fill_input_buffer(j_decompress_ptr info)
{
    darkroom_jpeg_file *file = (darkroom_jpeg_file *)info->src;
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    ssize_t count = fill(file);
    if (count < 0) {
        file->system_error = errno;
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_IO, "the file cannot be read");
    }
    if (count > 0)
        return TRUE;
    if (!file->may_end)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_TRUNCATED, SHORT_WORDS);
    static const uint8_t end[] = {0xff, JPEG_EOI};
    survey(file, file->raw + file->raw_count);
    file->surveyed = NULL;
    file->manager.next_input_byte = end;
    file->manager.bytes_in_buffer = sizeof end;
    trap->is_short = true;
    return TRUE;
}

static void skip_input_data(j_decompress_ptr info, long count)
{
    struct jpeg_source_mgr *source = info->src;
    while (count > 0) {
        if (source->bytes_in_buffer == 0)
            fill_input_buffer(info);
        size_t left = (size_t)count;
        size_t part = source->bytes_in_buffer < left ? source->bytes_in_buffer : left;
        source->next_input_byte += part;
        source->bytes_in_buffer -= part;
        count -= (long)part;
    }
}

static void term_source(j_decompress_ptr info)
{
    (void)info;
}

void darkroom_jpeg_file_survey(darkroom_jpeg_file *file)
{
    file->surveyed = file->manager.next_input_byte;
    file->open_run = 0;
    file->last = 0;
    file->stuffing = 0;
}

void darkroom_jpeg_file_start(darkroom_jpeg_file *file, int fd)
{
    struct jpeg_source_mgr *source = &file->manager;
    source->init_source = init_source;
    source->fill_input_buffer = fill_input_buffer;
    source->skip_input_data = skip_input_data;
    source->resync_to_restart = jpeg_resync_to_restart;
    source->term_source = term_source;
    file->fd = fd;
}

bool darkroom_jpeg_file_fill(darkroom_jpeg_file *file, const uint8_t *bytes, size_t count)
{
    if (count > sizeof file->raw)
        return false;
    if (count > 0)
        memcpy(file->raw, bytes, count);
    file->fd = -1;
    file->whole_bytes = file->raw_count = count;
    file->manager.next_input_byte = file->raw;
    file->manager.bytes_in_buffer = count;
    return true;
}

bool darkroom_jpeg_file_has_more(darkroom_jpeg_file *file)
{
    return file->manager.bytes_in_buffer > 0 || fill(file) > 0;
}

bool darkroom_jpeg_file_byte(darkroom_jpeg_file *file, uint8_t *byte)
{
    if (!darkroom_jpeg_file_has_more(file))
        return false;
    *byte = *file->manager.next_input_byte++;
    file->manager.bytes_in_buffer--;
    return true;
}

uint64_t darkroom_jpeg_file_stuffing(darkroom_jpeg_file *file)
{
    /* libjpeg stands before the marker that it tells of. */
    survey(file, file->manager.next_input_byte);
    const uint64_t result = file->stuffing + file->open_run;
    file->stuffing = 0;
    file->open_run = 0;
    return result;
}

bool darkroom_jpeg_file_is_text(const darkroom_jpeg_file *file, uint64_t count)
{
    const uint8_t *end = file->manager.next_input_byte;
    if (end < file->raw || end > file->raw + file->raw_count || count < DARKROOM_JPEG_LEAST_TEXT)
        return false;
    const size_t seen = (size_t)(end - file->raw);
    for (size_t i = 1; i <= count && i <= seen; i++)
        if (!darkroom_jpeg_is_text(end[-(ptrdiff_t)i]))
            return false;
    return true;
}

bool darkroom_jpeg_file_rewind(darkroom_jpeg_file *file)
{
    struct jpeg_source_mgr *source = &file->manager;
    file->surveyed = NULL;
    if (file->fd < 0) {
        source->next_input_byte = file->raw + file->scan_place;
        source->bytes_in_buffer = file->whole_bytes - file->scan_place;
        return true;
    }
    source->bytes_in_buffer = 0;
    file->total_bytes = file->scan_total;
    if (lseek(file->fd, file->scan_bytes, SEEK_SET) < 0 || fill(file) < 0) {
        file->system_error = errno;
        return false;
    }
    /* A file that has become shorter has no bytes left. */
    const size_t place =
        file->scan_place < source->bytes_in_buffer ? file->scan_place : source->bytes_in_buffer;
    source->next_input_byte += place;
    source->bytes_in_buffer -= place;
    return true;
}
