/* What a reader tells of itself and of what it has read. */
#include "jpeg_reader.h"

uint32_t darkroom_jpeg_reader_last_count(const darkroom_jpeg_reader *reader)
{
    return reader->last_count;
}

int darkroom_jpeg_reader_is_reference(const darkroom_jpeg_reader *reader)
{
    return reader->is_started && reader->scan == NULL;
}

const char *darkroom_jpeg_reader_message(const darkroom_jpeg_reader *reader)
{
    return reader->trap.message;
}

int darkroom_jpeg_reader_errno(const darkroom_jpeg_reader *reader)
{
    return reader->source.system_error;
}

const char *darkroom_jpeg_reader_warning(const darkroom_jpeg_reader *reader, size_t index)
{
    return index < reader->trap.warning_count ? reader->trap.warnings[index] : NULL;
}

const char *darkroom_jpeg_reader_segment(const darkroom_jpeg_reader *reader, size_t index)
{
    return index < reader->segments.name_count ? reader->segments.names[index] : NULL;
}

const uint8_t *darkroom_jpeg_reader_exif(
    const darkroom_jpeg_reader *reader, size_t index, size_t *count)
{
    if (index >= reader->segments.exif_total)
        return NULL;
    *count = reader->segments.exif_counts[index];
    return reader->segments.exifs[index];
}

const uint8_t *darkroom_jpeg_reader_profile(const darkroom_jpeg_reader *reader, size_t *count)
{
    *count = reader->segments.profile_count;
    return reader->segments.profile;
}
