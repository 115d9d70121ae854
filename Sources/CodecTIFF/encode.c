#include "tiff.h"

_Noreturn static void fail(darkroom_codec_call *call)
{
    codec_fail(call, DARKROOM_CODEC_IO, "libtiff: %s", tiff_words[0] ? tiff_words : "it cannot write the picture");
}

/* Strips of about this size, as the specification recommends ten times as much as in its time. */
enum { STRIP = 64 << 10 };

static void set_tags(TIFF *tiff, const darkroom_codec_header *header, const darkroom_codec_options *options)
{
    static const uint16_t photometrics[5] = {
        [DARKROOM_CODEC_GRAY] = PHOTOMETRIC_MINISBLACK, [DARKROOM_CODEC_RGB] = PHOTOMETRIC_RGB,
        [DARKROOM_CODEC_CMYK] = PHOTOMETRIC_SEPARATED};
    static const uint16_t compressions[3] = {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW};
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, header->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, header->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, header->depth);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, header->channels);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometrics[header->colour]);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, header->orientation ? header->orientation : ORIENTATION_TOPLEFT);
    if (header->channels > header->colour) {
        const uint16_t straight = EXTRASAMPLE_UNASSALPHA;
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &straight);
    }
    uint32_t compression = options->compression < 3 ? options->compression : 1;
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compressions[compression]);
    if (compression > 0) TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    if (compression == 1) TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, (int) (options->effort > 9 ? 9 : options->effort < 1 ? 1 : options->effort));
    size_t lines = STRIP / codec_row_bytes(header);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t) (lines ? lines : 1));
    if (header->pixels_x && header->pixels_y) {
        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, header->pixels_x / 100.0);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, header->pixels_y / 100.0);
    }
}

static void set_metadata(TIFF *tiff, const codec_metadata *metadata)
{
    if (metadata->icc.count) TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t) metadata->icc.count, metadata->icc.bytes);
    if (metadata->xmp.count) TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t) metadata->xmp.count, metadata->xmp.bytes);
    if (metadata->iptc.count) TIFFSetField(tiff, TIFFTAG_RICHTIFFIPTC, (uint32_t) metadata->iptc.count, metadata->iptc.bytes);
}

void tiff_encode(darkroom_codec_call *call)
{
    darkroom_codec_options options;
    codec_metadata metadata;
    const darkroom_codec_header *header = codec_picture(call, &options, &metadata);
    size_t row = codec_row_bytes(header);
    /* A file of usual kind has offsets of 32 bits. Compression may make rows a little larger. */
    bool is_big = (uint64_t) row * header->height > UINT64_C(3900) << 20;
    tiff_file to = {.call = call};
    TIFF *tiff = tiff_open(&to, is_big ? "w8" : "w");
    if (!tiff) fail(call);
    set_tags(tiff, header, &options);
    set_metadata(tiff, &metadata);
    uint32_t count, y = 0;
    for (const uint8_t *rows; (rows = codec_next_rows(call, &count));)
        for (uint32_t line = 0; line < count; line++, y++)
            /* libtiff's predictor changes the row; it is in memory that the daemon has given away. */
            if (TIFFWriteScanline(tiff, (void *) (rows + row * line), y, 0) < 0) fail(call);
    /* Directories of Exif lie behind the pixels and before the one of the picture. BigTIFF has other ones. */
    if (metadata.exif.count && is_big) codec_warn(call, DARKROOM_CODEC_METADATA, "Exif is dropped: the file is larger than 4 GB");
    else if (metadata.exif.count && TIFFFlushData(tiff)) tiff_write_exif(tiff, &to, metadata.exif);
    if (!TIFFFlush(tiff)) fail(call);
    TIFFClose(tiff);
}
