#define _GNU_SOURCE
#include "darkroom_loaded.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *const *names;
    uint64_t sum;
} search;

/* FNV-1a (RFC 9923). */
static uint64_t hash(const void *bytes, size_t count)
{
    const uint8_t *next = bytes;
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t index = 0; index < count; index++) value = (value ^ next[index]) * UINT64_C(0x100000001b3);
    return value;
}

static size_t rounded_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The hash of the build ID in a segment of notes (elf(5)). False if it has none. */
static bool add_notes(const uint8_t *notes, size_t bytes, size_t alignment, uint64_t *value)
{
    size_t unit = alignment == 8 ? 8 : 4;
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, content = rounded_up(name + note.n_namesz, unit);
        if (content + note.n_descsz > bytes) return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU
            && memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            *value = hash(notes + content, note.n_descsz);
            return true;
        }
        at = rounded_up(content + note.n_descsz, unit);
    }
    return false;
}

static uint64_t of_file(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0) return hash(path, strlen(path));
    const int64_t facts[] = {file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
    return hash(facts, sizeof facts);
}

static bool counts(const char *path, const char *const *names)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return false;
    if (!names) return true;
    for (; *names; names++)
        if (strncmp(slash + 1, *names, strlen(*names)) == 0) return true;
    return false;
}

static int add(struct dl_phdr_info *info, size_t size, void *context)
{
    (void) size;
    search *search = context;
    bool is_program = info->dlpi_name[0] == 0;
    if (!is_program && !counts(info->dlpi_name, search->names)) return 0;
    uint64_t value = 0;
    bool has_build_id = false;
    for (int index = 0; index < info->dlpi_phnum && !has_build_id; index++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
        if (segment->p_type != PT_NOTE) continue;
        const uint8_t *notes = (const uint8_t *) (info->dlpi_addr + segment->p_vaddr);
        has_build_id = add_notes(notes, segment->p_memsz, segment->p_align, &value);
    }
    /* The order in which a library loads others may differ from start to start. */
    search->sum += has_build_id ? value : of_file(is_program ? "/proc/self/exe" : info->dlpi_name);
    return 0;
}

uint64_t darkroom_loaded_identity(const char *const *names)
{
    search search = {.names = names};
    dl_iterate_phdr(add, &search);
    return search.sum;
}
