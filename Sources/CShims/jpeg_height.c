/* A height that the file gives behind the first scan, in a segment DNL (ITU-T T.81, B.2.5). */
#include "jpeg_markers.h"
#include "jpeg_source.h"

#include <unistd.h>

static bool go_to_start(darkroom_jpeg_file *file)
{
    struct jpeg_source_mgr *source = &file->manager;
    if (file->fd < 0) {
        source->next_input_byte = file->raw;
        source->bytes_in_buffer = file->whole_bytes;
        return true;
    }
    const off_t position = lseek(file->fd, 0, SEEK_CUR);
    if (position < 0 || lseek(file->fd, position - (off_t)file->total_bytes, SEEK_SET) < 0)
        return false;
    source->bytes_in_buffer = 0;
    file->total_bytes = 0;
    return true;
}

static bool take_number(darkroom_jpeg_file *file, unsigned *number)
{
    uint8_t high = 0, low = 0;
    const bool is_there = darkroom_jpeg_file_byte(file, &high) && darkroom_jpeg_file_byte(file, &low);
    *number = (unsigned)(high << 8 | low);
    return is_there;
}

/* The bytes that have been taken since the beginning of the file. */
static uint64_t place_of(const darkroom_jpeg_file *file)
{
    return (file->fd < 0 ? file->whole_bytes : file->total_bytes) - file->manager.bytes_in_buffer;
}

/* Goes on behind the next marker. Among the data of a scan, stuffed zeros and restart markers are none. */
static bool find_marker(darkroom_jpeg_file *file, bool is_in_scan, uint8_t *marker)
{
    uint8_t byte = 0, former = 0;
    while (darkroom_jpeg_file_byte(file, &byte)) {
        const bool is_one = former == 0xff && byte != 0 && byte != 0xff
            && !(is_in_scan && darkroom_jpeg_is_restart(byte));
        former = byte;
        *marker = byte;
        if (is_one)
            return true;
    }
    return false;
}

bool darkroom_jpeg_file_find_height(darkroom_jpeg_file *file)
{
    uint64_t place = 0;
    unsigned length = 0, height = 0;
    uint8_t marker = 0, byte = 0;
    if (file->height_place > 0 || !go_to_start(file))
        return false;
    for (bool is_in_scan = false; marker != MARKER_DNL; is_in_scan = marker == MARKER_SOS) {
        if (!find_marker(file, is_in_scan, &marker) || marker == JPEG_EOI || (is_in_scan && marker != MARKER_DNL))
            return false;
        if (marker == MARKER_SOI)
            continue;
        if (!take_number(file, &length) || length < 2)
            return false;
        if (darkroom_jpeg_is_frame(marker))
            place = place_of(file) + 1;
        for (unsigned i = 2; marker != MARKER_DNL && i < length; i++)
            if (!darkroom_jpeg_file_byte(file, &byte))
                return false;
    }
    if (place == 0 || length != 4 || !take_number(file, &height) || height == 0 || !go_to_start(file))
        return false;
    file->height_place = place;
    file->height = (uint16_t)height;
    if (file->fd < 0)
        darkroom_jpeg_file_set_height(file, file->raw, 0, file->whole_bytes);
    return true;
}
