/*
 * Makes a local folder one of a share or of another weak file system, for tests: loaded with LD_PRELOAD, it refuses what
 * they refuse, and is slow where a server has to be asked.
 *
 *   SHARE_SHIM          a file that gets one letter for each refusal: r for a rename that must not replace, t for a file
 *                       without a name, l for the lock of a folder, i for inotify, h for a hard link, n for the removal
 *                       of a file that is still open (.nfs...)
 *   SHARE_SHIM_REFUSES  the letters of what is refused; rtlin without it, as NFS does it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int notes = -1;
static const char *refused = "rtlin";

__attribute__((constructor)) static void begin(void)
{
    const char *letters = getenv("SHARE_SHIM_REFUSES");
    if (letters)
        refused = letters;
    const char *path = getenv("SHARE_SHIM");
    if (path)
        notes = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static int refuses(char letter) { return strchr(refused, letter) != NULL; }

static int refuse(char letter, int cause)
{
    if (notes >= 0 && write(notes, &letter, 1) != 1)
        abort();
    errno = cause;
    return -1;
}

int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned flags)
{
    if (flags != 0 && refuses('r'))
        return refuse('r', EINVAL);
    return (int)syscall(SYS_renameat2, old_folder, old_name, new_folder, new_name, flags);
}

int linkat(int old_folder, const char *old_name, int new_folder, const char *new_name, int flags)
{
    if (refuses('h'))
        return refuse('h', EPERM);
    return (int)syscall(SYS_linkat, old_folder, old_name, new_folder, new_name, flags);
}

int unlinkat(int folder, const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    if (refuses('n') && strncmp(slash ? slash + 1 : path, ".nfs", 4) == 0)
        return refuse('n', EBUSY);
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

/* The server is asked, which takes a while. A lock of all bytes needs a file that is open for writing. */
int flock(int file, int operation)
{
    struct stat information;
    if (!refuses('l'))
        return (int)syscall(SYS_flock, file, operation);
    if (fstat(file, &information) != 0)
        return -1;
    usleep(100000);
    if (S_ISDIR(information.st_mode))
        return refuse('l', EBADF);
    return (int)syscall(SYS_flock, file, operation);
}

int inotify_init1(int flags)
{
    return refuses('i') ? refuse('i', ENOSYS) : (int)syscall(SYS_inotify_init1, flags);
}

static int open_in(int folder, const char *path, int flags, mode_t mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE && refuses('t'))
        return refuse('t', EOPNOTSUPP);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int file = open_in(folder, path, flags, mode_of(flags, arguments));
    va_end(arguments);
    return file;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int file = open_in(AT_FDCWD, path, flags, mode_of(flags, arguments));
    va_end(arguments);
    return file;
}
