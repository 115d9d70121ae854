#include <string.h>

#include "tiff.h"

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count)
{
    tiff_file *file = handle;
    /* A result is not read again. */
    if (!file->bytes) return -1;
    uint64_t left = file->place < file->count ? file->count - file->place : 0;
    uint64_t some = (uint64_t) count < left ? (uint64_t) count : left;
    memcpy(to, file->bytes + file->place, some);
    file->place += some;
    return (tmsize_t) some;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count)
{
    tiff_file *file = handle;
    /* A source is not written. */
    if (file->bytes) return -1;
    /* libtiff begins a directory at an even place, and leaves out a byte. */
    for (const uint8_t zero = 0; file->count < file->place; file->count++)
        codec_bytes(file->call, file->count, &zero, 1);
    codec_bytes(file->call, file->place, from, (size_t) count);
    file->place += (uint64_t) count;
    if (file->place > file->count) file->count = file->place;
    return count;
}

static toff_t seek(thandle_t handle, toff_t offset, int from)
{
    tiff_file *file = handle;
    uint64_t start = from == SEEK_CUR ? file->place : from == SEEK_END ? file->count : 0;
    return file->place = start + offset;
}

static int close_file(thandle_t handle)
{
    (void) handle;
    return 0;
}

static toff_t size(thandle_t handle) { return ((tiff_file *) handle)->count; }

static int map(thandle_t handle, void **bytes, toff_t *count)
{
    tiff_file *file = handle;
    *bytes = (void *) file->bytes;
    *count = file->count;
    return file->bytes != NULL;
}

static void unmap(thandle_t handle, void *bytes, toff_t count) { (void) handle, (void) bytes, (void) count; }

TIFF *tiff_open(tiff_file *file, const char *mode)
{
    return TIFFClientOpen("the picture", mode, file, read_bytes, write_bytes, seek, close_file, size, map, unmap);
}
