/* mutate COUNT SEED FROM TO: writes COUNT damaged copies of the files in folder FROM to folder TO, named 0, 1, … with the
 * ending of FROM's name. The same seed makes the same files. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_FILES = 4096 };

typedef struct {
    uint8_t *bytes;
    size_t count;
} file;

static uint64_t state;

/* xorshift64*. */
static uint32_t random_below(size_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t) ((state * UINT64_C(2685821657736338717) >> 32) % (limit ? limit : 1));
}

_Noreturn static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static file read_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "r");
    if (!stream) fail(path);
    file file = {malloc(MOST_BYTES), 0};
    if (!file.bytes) fail(path);
    file.count = fread(file.bytes, 1, MOST_BYTES / 2, stream);
    fclose(stream);
    return file;
}

/* Most places are in the head of the file, where it matters more. */
static size_t place_in(const file *file)
{
    return random_below(random_below(3) && file->count > 200 ? 200 : file->count);
}

static void put_extreme(file *file, size_t place)
{
    static const uint32_t extremes[] = {0, 1, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t value = extremes[random_below(sizeof extremes / sizeof *extremes)];
    unsigned bytes = 1u << random_below(3);
    bool is_big = random_below(2);
    for (unsigned index = 0; index < bytes && place + index < file->count; index++)
        file->bytes[place + index] = (uint8_t) (value >> 8 * (is_big ? bytes - 1 - index : index));
}

static void change(file *file)
{
    size_t place = place_in(file), some = random_below(16) + 1u;
    switch (random_below(8)) {
        case 0:
        case 1: file->bytes[place] ^= (uint8_t) (1u << random_below(8)); break;
        case 2: file->bytes[place] = (uint8_t) random_below(256); break;
        case 3:
        case 4: put_extreme(file, place); break;
        case 5: file->count = place + 1; break;
        case 6: /* A piece is gone. */
            if (file->count - place <= some) return;
            memmove(file->bytes + place, file->bytes + place + some, file->count - place - some);
            file->count -= some;
            break;
        default: /* One stands twice. */
            if (file->count - place < some || file->count + some > MOST_BYTES) return;
            memmove(file->bytes + place + some, file->bytes + place, file->count - place);
            file->count += some;
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) return fprintf(stderr, "usage: mutate COUNT SEED FROM TO\n"), 64;
    static file files[MOST_FILES];
    size_t file_count = 0;
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    struct dirent **names;
    int name_count = scandir(argv[3], &names, NULL, alphasort);
    if (name_count < 0) fail(argv[3]);
    for (int index = 0; index < name_count && file_count < MOST_FILES; index++)
        if (names[index]->d_name[0] != '.') files[file_count++] = read_file(argv[3], names[index]->d_name);
    const char *kind = strrchr(argv[3], '/') ? strrchr(argv[3], '/') + 1 : argv[3];
    static uint8_t room[MOST_BYTES];
    for (unsigned long number = 0; file_count > 0 && number < strtoul(argv[1], NULL, 10); number++) {
        const file *from = &files[random_below(file_count)];
        if (from->count == 0) continue;
        file copy = {room, from->count};
        memcpy(room, from->bytes, from->count);
        for (uint32_t turns = random_below(4) + 1; turns > 0; turns--) change(&copy);
        char path[4096];
        snprintf(path, sizeof path, "%s/%lu.%s", argv[4], number, kind);
        FILE *stream = fopen(path, "w");
        if (!stream || fwrite(room, 1, copy.count, stream) != copy.count || fclose(stream) != 0) fail(path);
    }
    return 0;
}
