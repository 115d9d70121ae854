/* What a reader of a PNG tells of itself. */
#include "png_reader.h"

uint32_t darkroom_png_reader_last_count(const darkroom_png_reader *reader)
{
    return reader->last_count;
}

const char *darkroom_png_reader_message(const darkroom_png_reader *reader)
{
    return reader->trap.message;
}

int darkroom_png_reader_errno(const darkroom_png_reader *reader)
{
    return reader->source.system_error;
}

const char *darkroom_png_reader_warning(const darkroom_png_reader *reader, size_t index)
{
    return index < reader->warning_count ? reader->warnings[index] : NULL;
}

const char *darkroom_png_reader_chunk(const darkroom_png_reader *reader, size_t index)
{
    return index < reader->source.name_count ? reader->source.names[index] : NULL;
}
