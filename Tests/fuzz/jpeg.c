/* Fuzzes the JPEG reader, and with what it has read the JPEG writer: libFuzzer's target.
 *
 * Every input is read as a whole file. What is read without an error is written with settings that
 * follow from the input, and must be readable again, with the same size and at full quality with
 * nearly the same pixels. Seeds are made here and put into the first folder of the command line. */
#define _GNU_SOURCE
#include "darkroom_jpeg.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_PIXELS = 1 << 18, /* larger ones take time and find nothing new */
    MOST_WHOLE_BYTES = 8 << 20,
    ROWS_AT_A_TIME = 7,
};

typedef struct {
    darkroom_jpeg_result result;
    uint32_t width, height;
    unsigned channels;
    uint8_t *pixels; /* NULL where `result` is a failure, or the picture was not to be read */
} picture;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "failed: %s\n", what);
    abort();
}

static int open_bytes(const uint8_t *bytes, size_t count)
{
    int fd = memfd_create("picture", MFD_CLOEXEC);
    require(fd >= 0, "memfd_create");
    require(count == 0 || write(fd, bytes, count) == (ssize_t)count, "write");
    require(lseek(fd, 0, SEEK_SET) == 0, "lseek");
    return fd;
}

/* ---- Reading ---- */

static darkroom_jpeg_result read_pixels(darkroom_jpeg_reader *reader, picture *picture)
{
    int is_complete = 0;
    while (!is_complete) {
        darkroom_jpeg_result result = darkroom_jpeg_reader_absorb(reader, &is_complete);
        if (result != DARKROOM_JPEG_OK)
            return result;
    }
    size_t row_bytes = (size_t)picture->width * picture->channels;
    picture->pixels = malloc(row_bytes * picture->height);
    for (uint32_t row = 0; row < picture->height; row += ROWS_AT_A_TIME) {
        uint32_t left = picture->height - row;
        darkroom_jpeg_result result = darkroom_jpeg_reader_rows(
            reader, picture->pixels + row * row_bytes, row_bytes,
            left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME);
        if (result != DARKROOM_JPEG_OK)
            return result;
    }
    return darkroom_jpeg_reader_finish(reader);
}

static void ask_everything(darkroom_jpeg_reader *reader)
{
    size_t count = 0;
    volatile unsigned sum = 0; /* so that every byte is read */
    const uint8_t *bytes = darkroom_jpeg_reader_exif(reader, 0, &count);
    for (size_t i = 0; bytes != NULL && i < count; i++)
        sum += bytes[i];
    bytes = darkroom_jpeg_reader_profile(reader, &count);
    for (size_t i = 0; bytes != NULL && i < count; i++)
        sum += bytes[i];
    for (size_t i = 0; darkroom_jpeg_reader_warning(reader, i) != NULL; i++)
        sum += (unsigned)strlen(darkroom_jpeg_reader_warning(reader, i));
    for (size_t i = 0; darkroom_jpeg_reader_segment(reader, i) != NULL; i++)
        sum += (unsigned)strlen(darkroom_jpeg_reader_segment(reader, i));
}

static picture read_picture(const uint8_t *bytes, size_t count, unsigned divisor)
{
    picture picture = {0};
    int fd = open_bytes(bytes, count);
    darkroom_jpeg_reader *reader = darkroom_jpeg_reader_new(fd, 1 << 16);
    darkroom_jpeg_header header;
    picture.result = darkroom_jpeg_reader_open(reader, &header);
    bool is_wanted = picture.result == DARKROOM_JPEG_OK
        && (uint64_t)header.width * header.height <= MOST_PIXELS
        && (!header.is_whole || header.whole_bytes <= MOST_WHOLE_BYTES);
    if (is_wanted) {
        picture.channels = header.channels;
        picture.result = darkroom_jpeg_reader_start(
                reader, DARKROOM_JPEG_AUTOMATIC, divisor, &picture.width, &picture.height);
        if (picture.result == DARKROOM_JPEG_OK) {
            require(picture.width == (header.width + divisor - 1) / divisor, "the width");
            require(picture.height == (header.height + divisor - 1) / divisor, "the height");
            picture.result = read_pixels(reader, &picture);
        }
    }
    ask_everything(reader);
    bool has_words = darkroom_jpeg_reader_message(reader)[0] != 0;
    require(has_words == (picture.result != DARKROOM_JPEG_OK), "a message with each failure");
    require(picture.result != DARKROOM_JPEG_MISUSE, "the order of calls");
    if (picture.result != DARKROOM_JPEG_OK) {
        /* A failure stays. */
        int is_complete = 0;
        require(darkroom_jpeg_reader_absorb(reader, &is_complete) == picture.result, "absorb");
        require(darkroom_jpeg_reader_rows(reader, NULL, 0, 1) == picture.result, "rows");
        require(darkroom_jpeg_reader_finish(reader) == picture.result, "finish");
        free(picture.pixels);
        picture.pixels = NULL;
    }
    darkroom_jpeg_reader_free(reader);
    close(fd);
    return picture;
}

/* ---- Writing ---- */

/* `choice` is any number, of which the settings are made. */
static darkroom_jpeg_settings settings_of(const picture *picture, unsigned choice)
{
    static const uint8_t profile[200] = {1, 2, 3};
    darkroom_jpeg_settings settings = {
        .width = picture->width,
        .height = picture->height,
        .channels = (uint8_t)picture->channels,
        .depth = 8,
        .quality = (choice & 1) != 0 ? 100 : (uint8_t)(choice % 100 + 1),
        .full_chroma = (choice & 1) != 0,
        .progressive = (choice >> 1) & 1,
        .density = {.unit = 1, .x = 72, .y = 300},
    };
    if ((choice >> 2) & 1) {
        settings.profile = profile;
        settings.profile_length = sizeof profile;
    }
    if ((choice >> 3) & 1) {
        settings.exif = profile;
        settings.exif_length = choice % 2 == 0 ? sizeof profile : 1;
    }
    return settings;
}

/* The file, in memory of its own. With `depth` 16 or more channels the rows are those of `picture`
 * widened, which must make the same file. */
static uint8_t *write_picture(
    const picture *picture, darkroom_jpeg_settings settings, bool is_widened, size_t *count)
{
    unsigned channels = picture->channels;
    if (is_widened) {
        settings.depth = 16;
        settings.channels++;
    }
    size_t row_bytes = (size_t)picture->width * settings.channels * (settings.depth / 8U);
    uint8_t *row = malloc(row_bytes);
    darkroom_jpeg_writer *writer = darkroom_jpeg_writer_new();
    require(darkroom_jpeg_writer_start(writer, &settings) == DARKROOM_JPEG_OK, "writer start");
    FILE *file = NULL;
    char *bytes = NULL;
    file = open_memstream(&bytes, count);
    for (uint32_t y = 0; y <= picture->height; y++) {
        if (y < picture->height) {
            const uint8_t *from = picture->pixels + (size_t)y * picture->width * channels;
            if (!is_widened) {
                memcpy(row, from, row_bytes);
            } else {
                uint16_t *to = (uint16_t *)row;
                for (size_t x = 0; x < picture->width; x++) {
                    for (unsigned i = 0; i < channels; i++)
                        *to++ = (uint16_t)(*from++ * 257);
                    *to++ = 65535;
                }
            }
            require(
                darkroom_jpeg_writer_rows(writer, row, row_bytes, 1) == DARKROOM_JPEG_OK, "rows");
        } else {
            require(darkroom_jpeg_writer_finish(writer) == DARKROOM_JPEG_OK, "writer finish");
        }
        size_t produced = 0;
        const uint8_t *output = darkroom_jpeg_writer_output(writer, &produced);
        require(fwrite(output, 1, produced, file) == produced, "fwrite");
        darkroom_jpeg_writer_drain(writer);
    }
    darkroom_jpeg_writer_free(writer);
    fclose(file);
    free(row);
    return (uint8_t *)bytes;
}

static void check_writer(const picture *original, unsigned choice)
{
    darkroom_jpeg_settings settings = settings_of(original, choice);
    size_t count = 0, widened_count = 0;
    uint8_t *file = write_picture(original, settings, false, &count);
    uint8_t *widened = write_picture(original, settings, true, &widened_count);
    require(
        count == widened_count && memcmp(file, widened, count) == 0,
        "16 bits and opaque alpha make the same file");
    picture again = read_picture(file, count, 1);
    require(again.result == DARKROOM_JPEG_OK, "what is written can be read");
    if (again.pixels != NULL) {
        require(
            again.width == original->width && again.height == original->height
                && again.channels == original->channels,
            "the size");
        size_t samples = (size_t)again.width * again.height * again.channels;
        int tolerance = again.channels == 1 ? 3 : 6;
        for (size_t i = 0; settings.quality == 100 && i < samples; i++)
            require(
                abs(again.pixels[i] - original->pixels[i]) <= tolerance,
                "pixels at full quality");
    }
    free(again.pixels);
    free(widened);
    free(file);
}

/* ---- Seeds ---- */

static void make_seeds(const char *folder)
{
    static const unsigned sizes[][2] = {{1, 1}, {17, 9}, {40, 33}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0] * 16; i++) {
        picture picture = {.width = sizes[i / 16][0], .height = sizes[i / 16][1]};
        picture.channels = (i & 8) != 0 ? 3 : 1;
        size_t samples = (size_t)picture.width * picture.height * picture.channels;
        picture.pixels = malloc(samples);
        for (size_t k = 0; k < samples; k++)
            picture.pixels[k] = (uint8_t)(k * k / 7 + i * 31);
        size_t count = 0;
        uint8_t *file = write_picture(&picture, settings_of(&picture, i & 7), false, &count);
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%u.jpg", folder, i);
        FILE *seed = fopen(path, "wb");
        if (seed != NULL) {
            /* An Exif segment after the start of the image, as a camera writes it. */
            static const char exif[] =
                "\xFF\xE1\0\x22" "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
                "\0\0\0\0";
            fwrite(file, 1, 2, seed);
            if ((i & 1) != 0)
                fwrite(exif, 1, 36, seed);
            fwrite(file + 2, 1, count - 2, seed);
            fclose(seed);
        }
        free(file);
        free(picture.pixels);
    }
}

/* ---- libFuzzer ---- */

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    for (int i = 1; i < *count; i++) {
        struct stat status;
        const char *path = (*arguments)[i];
        if (path[0] != '-' && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            make_seeds(path);
            break;
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    unsigned choice = (unsigned)count;
    for (size_t i = 0; i < count && i < 256; i++)
        choice = choice * 31 + bytes[i];
    choice ^= choice >> 16;
    picture whole = read_picture(bytes, count, 1);
    if (whole.pixels != NULL) {
        picture reduced = read_picture(bytes, count, 2U << (choice >> 4) % 3);
        require(reduced.result == whole.result, "the same result at every size");
        free(reduced.pixels);
        check_writer(&whole, choice);
    }
    free(whole.pixels);
    return 0;
}
