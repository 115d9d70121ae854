/*
 * Keeps the arguments of main(), and which of its two names the program has. Opens what takes the place of closed
 * standard streams, so that no other file gets their numbers: a library that opens a file, or the program's own lock,
 * would become the standard output, and what is printed would go into it.
 *
 * The dynamic loader calls the functions in .preinit_array when all libraries are mapped, before it
 * initializes any of them. So early, no library may be used, nor code that a sanitizer adds to functions: the
 * code calls the kernel directly.
 */
#define _GNU_SOURCE
#include "CDarkroomEntry.h"

#include "start.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int argument_count;
static char **arguments;
static bool is_daemon;

/* To use the stream still fails, as it would if it were closed: it is open for the other direction. */
__attribute__((disable_sanitizer_instrumentation)) static void fill(int number, int mode)
{
    if (syscall(SYS_fcntl, number, F_GETFD) >= 0)
        return;
    /* It gets the lowest free number: those below are open. A chroot may lack the device; then any folder
     * does, in a way that permits no use. */
    if (syscall(SYS_openat, AT_FDCWD, "/dev/null", mode, 0) < 0)
        syscall(SYS_openat, AT_FDCWD, "/", O_PATH, 0);
}

/* Whether the last component of a path is the daemon's name. */
__attribute__((disable_sanitizer_instrumentation)) static bool names_daemon(const char *path)
{
    static const char daemon[] = "darkroomd";
    const char *name = path;
    size_t length = 0;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    while (name[length] && name[length] == daemon[length])
        length++;
    return length == sizeof daemon - 1 && !name[length];
}

__attribute__((disable_sanitizer_instrumentation)) static void begin(int count, char **values)
{
    argument_count = count;
    arguments = values;
    is_daemon = count > 0 && names_daemon(values[0]);
    if (is_daemon)
        darkroom_start_block();
    fill(STDIN_FILENO, O_WRONLY);
    fill(STDOUT_FILENO, O_RDONLY);
    fill(STDERR_FILENO, O_RDONLY);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **) = begin;

char *const *darkroom_entry_arguments(int *count)
{
    *count = argument_count;
    return arguments;
}

bool darkroom_entry_is_daemon(void)
{
    return is_daemon;
}
