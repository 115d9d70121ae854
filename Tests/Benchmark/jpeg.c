/*
 * Darkroom's decoder for JPEG beside libjpeg-turbo: reading a whole file on one thread, at each scale.
 *
 *   jpeg PICTURE.jpg...
 *
 * Each round has both read a picture in turn, in bands of 16 rows. Prints a line for each picture, of the best
 * rounds: libjpeg-turbo's milliseconds and how many times as fast Darkroom is, with AVX-512, AVX2 and plain C.
 */
#include "darkroom_cpu.h"
#include "darkroom_jpeg.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, ROWS = 16, LEVELS = 3 };

static void die(const char *words)
{
    fprintf(stderr, "jpeg: %s\n", words);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void require(darkroom_jpeg_result result)
{
    if (result != DARKROOM_JPEG_OK)
        die("a picture cannot be read");
}

/* How long reading a file takes. */
static double read_file(int fd, darkroom_jpeg_decoder decoder, unsigned divisor, uint8_t *rows)
{
    lseek(fd, 0, SEEK_SET);
    const double start = seconds();
    darkroom_jpeg_reader *reader = darkroom_jpeg_reader_new(fd, 1 << 20);
    if (reader == NULL)
        die("no memory");
    darkroom_jpeg_header header;
    uint32_t width = 0, height = 0;
    require(darkroom_jpeg_reader_open(reader, &header));
    require(darkroom_jpeg_reader_start(reader, decoder, divisor, &width, &height));
    for (int is_complete = 0; !is_complete;)
        require(darkroom_jpeg_reader_absorb(reader, &is_complete));
    for (uint32_t left = height; left > 0;) {
        const uint32_t part = left < ROWS ? left : ROWS;
        require(darkroom_jpeg_reader_rows(reader, rows, (size_t)width * header.channels, part));
        left -= part;
    }
    require(darkroom_jpeg_reader_finish(reader));
    const double time = seconds() - start;
    if (decoder == DARKROOM_JPEG_AUTOMATIC && darkroom_jpeg_reader_is_reference(reader))
        die("libjpeg decodes this picture anyway");
    darkroom_jpeg_reader_free(reader);
    return time;
}

static void measure(const char *path, uint8_t *rows)
{
    const char *name = strrchr(path, '/');
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("a file cannot be opened");
    printf("%-24s", name == NULL ? path : name + 1);
    for (unsigned divisor = 1; divisor <= 8; divisor *= 2) {
        double library = 1e9, own[LEVELS] = {1e9, 1e9, 1e9};
        for (int round = 0; round < ROUNDS; round++) {
            double time = read_file(fd, DARKROOM_JPEG_REFERENCE, divisor, rows);
            library = time < library ? time : library;
            for (int level = 0; level < LEVELS; level++) {
                darkroom_cpu_limit((darkroom_cpu)level);
                time = read_file(fd, DARKROOM_JPEG_AUTOMATIC, divisor, rows);
                own[level] = time < own[level] ? time : own[level];
            }
        }
        printf(
            "  1/%u: %6.2f ms, %.2f %.2f %.2f", divisor, library * 1e3, library / own[2],
            library / own[1], library / own[0]);
    }
    putchar('\n');
    close(fd);
}

int main(int count, char **arguments)
{
    uint8_t *rows = malloc((size_t)ROWS * 65536 * 3);
    if (rows == NULL)
        die("no memory");
    if (count < 2)
        die("give JPEG files");
    for (int i = 1; i < count; i++)
        measure(arguments[i], rows);
    free(rows);
    return 0;
}
