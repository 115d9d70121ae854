#include <string.h>

#include "picture.h"

static uint32_t number(TIFF *tiff, uint32_t tag)
{
    uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff, tag, &value);
    return value;
}

/* Goes to the page, and counts all. Smaller copies and masks are no pages. */
static void find_page(picture *picture)
{
    uint32_t wanted = codec_page(picture->call), count = 0;
    picture->header.page = wanted;
    uint64_t place;
    if (picture_find_in_chain(picture, wanted, &place, &picture->header.pages)) {
        if (!TIFFSetSubDirectory(picture->tiff, place)) picture_fail(picture);
        return;
    }
    tdir_t found = 0;
    bool is_found = false, is_last;
    do {
        is_last = TIFFLastDirectory(picture->tiff);
        uint32_t kind = 0;
        TIFFGetField(picture->tiff, TIFFTAG_SUBFILETYPE, &kind);
        if (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) continue;
        count++;
        if (count != wanted) continue;
        found = TIFFCurrentDirectory(picture->tiff);
        is_found = true;
    } while (TIFFReadDirectory(picture->tiff));
    /* A file whose only picture says it is a smaller copy has that one. */
    if (count == 0) {
        count = 1;
        is_found = wanted == 1;
    }
    /* The file says that there is one more, and it is not there. */
    static const char lost[] = "page %u cannot be read: the file is cut off or damaged there";
    if (!is_found && !is_last && wanted == count + 1) codec_fail(picture->call, DARKROOM_CODEC_TRUNCATED, lost, wanted);
    if (!is_found)
        codec_fail(picture->call, DARKROOM_CODEC_NO_PAGE, "the file has %u %s, and no page %u", count,
            count == 1 ? "page" : "pages", wanted);
    if (!is_last) codec_warn(picture->call, DARKROOM_CODEC_TRUNCATED, lost, count + 1);
    if (!TIFFSetDirectory(picture->tiff, found)) picture_fail(picture);
    picture->header.pages = count;
}

static void refuse(const picture *picture, const char *what, unsigned value)
{
    codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has %s %u, which is not read", what, value);
}

/* Raw files of cameras look like TIFF: DNG has a version, others have a small copy of the picture first and the sensor's
 * data beneath it. */
static void refuse_raw(picture *picture)
{
    uint8_t *version = NULL;
    uint16_t count = 0;
    uint64_t *beneath = NULL;
    uint32_t kind = 0;
    const char *maker = NULL;
    bool is_raw = TIFFGetField(picture->tiff, TIFFTAG_DNGVERSION, &version) != 0;
    TIFFGetField(picture->tiff, TIFFTAG_SUBFILETYPE, &kind);
    if (TIFFGetField(picture->tiff, TIFFTAG_MAKE, &maker) && kind & FILETYPE_REDUCEDIMAGE)
        is_raw |= TIFFGetField(picture->tiff, TIFFTAG_SUBIFD, &count, &beneath) && count > 0;
    if (is_raw)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED,
            "this is a raw file of a camera, which is not read; develop it to TIFF or JPEG, for example with darktable-cli");
}

static void read_tags(picture *picture)
{
    TIFF *tiff = picture->tiff;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &picture->width)
        || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &picture->height))
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "the TIFF file does not say how large its picture is");
    picture->bits = (uint16_t) number(tiff, TIFFTAG_BITSPERSAMPLE);
    picture->samples = (uint16_t) number(tiff, TIFFTAG_SAMPLESPERPIXEL);
    picture->planar = (uint16_t) number(tiff, TIFFTAG_PLANARCONFIG);
    picture->compression = (uint16_t) number(tiff, TIFFTAG_COMPRESSION);
    uint16_t photometric;
    /* A file without it is gray or, with three samples, coloured. */
    picture->photometric = TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) ? photometric
        : picture->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    uint32_t format = number(tiff, TIFFTAG_SAMPLEFORMAT);
    if (format == SAMPLEFORMAT_IEEEFP || format == SAMPLEFORMAT_COMPLEXIEEEFP)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has floating-point samples, which are not read");
    if (format == SAMPLEFORMAT_INT || format == SAMPLEFORMAT_COMPLEXINT)
        codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has signed samples, which are not read");
    if (picture->bits == 0 || picture->bits > 16) refuse(picture, "bits per sample:", picture->bits);
    if (!TIFFIsCODECConfigured(picture->compression)) refuse(picture, "the compression", picture->compression);
}

static void read_palette(picture *picture)
{
    uint16_t **palette = picture->palette;
    if (picture->bits > 8 || !TIFFGetField(picture->tiff, TIFFTAG_COLORMAP, &palette[0], &palette[1], &palette[2]))
        codec_fail(picture->call, DARKROOM_CODEC_DAMAGED, "the TIFF file has no colours for its numbers");
    /* Some writers give colours of 8 bits. */
    picture->palette_divisor = 1;
    for (unsigned index = 0; index < 1u << picture->bits; index++)
        for (unsigned channel = 0; channel < 3; channel++)
            if (palette[channel][index] > 255) picture->palette_divisor = 256;
}

static void read_alpha(picture *picture)
{
    uint16_t count = 0, *kinds = NULL;
    picture->alpha = NO_ALPHA;
    if (picture->samples <= picture->colours) return;
    bool is_told = TIFFGetField(picture->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0;
    /* Some writers do not say what a fourth sample is. */
    if (!is_told && picture->photometric == PHOTOMETRIC_RGB && picture->samples == 4) picture->alpha = EXTRASAMPLE_UNASSALPHA;
    if (!is_told) return;
    if (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA) picture->alpha = kinds[0];
}

/* The colours of the rows, from the tags. */
static void choose_colours(picture *picture)
{
    darkroom_codec_header *header = &picture->header;
    header->colour = DARKROOM_CODEC_RGB;
    picture->colours = 3;
    switch (picture->photometric) {
        case PHOTOMETRIC_MINISWHITE:
        case PHOTOMETRIC_MINISBLACK:
            header->colour = DARKROOM_CODEC_GRAY;
            picture->colours = 1;
            break;
        case PHOTOMETRIC_PALETTE:
            picture->colours = 1;
            read_palette(picture);
            break;
        case PHOTOMETRIC_RGB: break;
        case PHOTOMETRIC_SEPARATED:
            if (number(picture->tiff, TIFFTAG_INKSET) != INKSET_CMYK)
                codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "the TIFF file has inks other than CMYK");
            header->colour = DARKROOM_CODEC_CMYK;
            picture->colours = 4;
            break;
        case PHOTOMETRIC_YCBCR:
            if (picture->compression == COMPRESSION_JPEG && picture->planar == PLANARCONFIG_CONTIG)
                TIFFSetField(picture->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
            else picture->is_converted = true;
            break;
        case PHOTOMETRIC_CIELAB:
        case PHOTOMETRIC_ICCLAB:
            /* libtiff's own conversion leaves white yellow: it does not adapt D50 to the white of sRGB. */
            if ((picture->bits == 8 || picture->bits == 16) && picture->samples >= 3) lab_prepare();
            else picture->is_converted = true;
            break;
        case PHOTOMETRIC_ITULAB: picture->is_converted = true; break;
        default: refuse(picture, "the photometric interpretation", picture->photometric);
    }
    if (picture->compression == COMPRESSION_OJPEG) picture->is_converted = true;
    if (picture->is_converted) {
        char words[1024] = "";
        if (!TIFFRGBAImageOK(picture->tiff, words))
            codec_fail(picture->call, DARKROOM_CODEC_UNSUPPORTED, "libtiff: %s", words);
        header->colour = DARKROOM_CODEC_RGB;
    } else if (picture->samples < picture->colours) refuse(picture, "samples per pixel:", picture->samples);
    read_alpha(picture);
}

static void read_resolution(picture *picture)
{
    float x = 0, y = 0;
    double unit = number(picture->tiff, TIFFTAG_RESOLUTIONUNIT) == RESUNIT_CENTIMETER ? 100 : 1 / 0.0254;
    if (number(picture->tiff, TIFFTAG_RESOLUTIONUNIT) == RESUNIT_NONE) return;
    if (!TIFFGetField(picture->tiff, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(picture->tiff, TIFFTAG_YRESOLUTION, &y))
        return;
    double pixels_x = x * unit + 0.5, pixels_y = y * unit + 0.5;
    if (!(pixels_x >= 1 && pixels_x < UINT32_MAX && pixels_y >= 1 && pixels_y < UINT32_MAX)) return;
    picture->header.pixels_x = (uint32_t) pixels_x;
    picture->header.pixels_y = (uint32_t) pixels_y;
}

static codec_blob blob(TIFF *tiff, uint32_t tag)
{
    uint32_t count = 0;
    void *bytes = NULL;
    if (!TIFFGetField(tiff, tag, &count, &bytes)) return (codec_blob) {NULL, 0};
    return (codec_blob) {bytes, count};
}

codec_metadata picture_metadata(const picture *picture)
{
    codec_metadata metadata = {
        .icc = blob(picture->tiff, TIFFTAG_ICCPROFILE), .xmp = blob(picture->tiff, TIFFTAG_XMLPACKET)};
    picture_read_exif(picture, &metadata);
    return metadata;
}

void picture_read_tags(picture *picture)
{
    find_page(picture);
    refuse_raw(picture);
    read_tags(picture);
    choose_colours(picture);
    darkroom_codec_header *header = &picture->header;
    header->width = picture->width;
    header->height = picture->height;
    header->channels = header->colour + (picture->alpha != NO_ALPHA && !picture->is_converted ? 1 : 0);
    header->depth = picture->bits > 8 && !picture->is_converted ? 16 : 8;
    header->source_depth = picture->bits;
    header->orientation = number(picture->tiff, TIFFTAG_ORIENTATION);
    if (header->orientation < 1 || header->orientation > 8) header->orientation = 1;
    for (unsigned index = 0; index < 3; index++) header->cicp[index] = 2;
    read_resolution(picture);
}
