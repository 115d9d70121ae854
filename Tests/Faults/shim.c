/*
 * Stands before the C library's own functions, for Tests/Faults, loaded with LD_PRELOAD. It makes one system call of
 * darkroomd fail: it counts the calls on files beneath a folder, and fails the one asked for. Or it changes the numbers
 * that a file system says of files, or sends a signal while the program is being loaded.
 *
 *   SHIM_ROOT   the folder
 *   SHIM_CALL   a group of calls: open, write, fsync, rename, mkdir, truncate, unlink, read or stat
 *   SHIM_NTH    which call of the group fails, from 1
 *   SHIM_ERRNO  with which errno, a number
 *   SHIM_LOG    a file that is told which call failed, on which path
 *   SHIM_STAT   which numbers are extreme: size, negative, past, future or links
 *   SHIM_SIGNAL a signal's number, which comes as soon as this library is initialized: before any of the program's own,
 *               and before main()
 *
 * A disk that fills takes the first half of a write before it refuses the rest, and so does this.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static const char *root, *group, *log_path, *extreme;
static long nth;
static int error;
static atomic_long count;
/* The descriptor whose next write is refused, or -1. */
static atomic_int refused = -1;

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) static void begin(void)
{
    root = setting("SHIM_ROOT");
    group = setting("SHIM_CALL");
    log_path = setting("SHIM_LOG");
    nth = strtol(setting("SHIM_NTH"), NULL, 10);
    error = (int)strtol(setting("SHIM_ERRNO"), NULL, 10);
    extreme = setting("SHIM_STAT");
    int number = (int)strtol(setting("SHIM_SIGNAL"), NULL, 10);
    /* To the process, as another one would: raise(3) is for the calling thread. */
    if (number)
        kill(getpid(), number);
}

/* The path of an open file, "" if it has none. */
static void path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

/* The path of `name` as a call with a folder's descriptor means it. */
static void path_at(int folder, const char *name, char path[PATH_MAX])
{
    size_t length = 0;
    if (*name != '/') {
        path_of(folder, path);
        length = strlen(path);
        if (length < PATH_MAX - 1)
            path[length++] = '/';
    }
    snprintf(path + length, PATH_MAX - length, "%s", name);
}

static int is_beneath(const char *path)
{
    size_t length = strlen(root);
    return length && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static void tell(const char *call, const char *path)
{
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_write, fd, line, (size_t)length) < 0)
        abort();
    close(fd);
}

/* Whether this call is the one that fails; errno is set then. */
static int fails(const char *of, const char *call, const char *path)
{
    if (strcmp(group, of) || !is_beneath(path) || atomic_fetch_add(&count, 1) + 1 != nth)
        return 0;
    tell(call, path);
    errno = error;
    return 1;
}

static int fails_at(const char *of, const char *call, int folder, const char *name)
{
    char path[PATH_MAX];
    int saved = errno;
    path_at(folder, name, path);
    errno = saved;
    return fails(of, call, path);
}

static int fails_on(const char *of, const char *call, int fd)
{
    char path[PATH_MAX];
    int saved = errno;
    path_of(fd, path);
    errno = saved;
    return fails(of, call, path);
}

/* Opening. */

static int do_open(const char *call, int folder, const char *name, int flags, va_list rest)
{
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
    if (fails_at("open", call, folder, name))
        return -1;
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

#define OPENING(declaration, folder)                                                                      \
    declaration                                                                                           \
    {                                                                                                     \
        va_list rest;                                                                                     \
        va_start(rest, flags);                                                                            \
        int result = do_open(__func__, folder, name, flags, rest);                                        \
        va_end(rest);                                                                                     \
        return result;                                                                                    \
    }

OPENING(int open(const char *name, int flags, ...), AT_FDCWD)
OPENING(int open64(const char *name, int flags, ...), AT_FDCWD)
OPENING(int openat(int folder, const char *name, int flags, ...), folder)
OPENING(int openat64(int folder, const char *name, int flags, ...), folder)

/* Writing. */

/* How many bytes of a write to let through; -1 if it fails, with errno set. */
static ssize_t allowed(const char *call, int fd, size_t size)
{
    int full = error == ENOSPC || error == EDQUOT;
    if (atomic_load(&refused) == fd) {
        atomic_store(&refused, -1);
        errno = error;
        return -1;
    }
    if (!fails_on("write", call, fd))
        return (ssize_t)size;
    if (!full || size < 2)
        return -1;
    atomic_store(&refused, fd);
    return (ssize_t)(size / 2);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t part = allowed(__func__, fd, size);
    return part < 0 ? -1 : syscall(SYS_write, fd, bytes, (size_t)part);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t part = allowed(__func__, fd, size);
    return part < 0 ? -1 : syscall(SYS_pwrite64, fd, bytes, (size_t)part, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    ssize_t part = allowed(__func__, fd, size);
    return part < 0 ? -1 : syscall(SYS_pwrite64, fd, bytes, (size_t)part, offset);
}

int fsync(int fd)
{
    return fails_on("fsync", __func__, fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails_on("fsync", __func__, fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int syncfs(int fd)
{
    return fails_on("fsync", __func__, fd) ? -1 : (int)syscall(SYS_syncfs, fd);
}

static int do_truncate(const char *call, int fd, off64_t length)
{
    return fails_on("truncate", call, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate(int fd, off_t length) { return do_truncate(__func__, fd, length); }
int ftruncate64(int fd, off64_t length) { return do_truncate(__func__, fd, length); }

/* Names. */

static int do_rename(const char *call, int from, const char *old, int to, const char *new, unsigned flags)
{
    if (fails_at("rename", call, from, old))
        return -1;
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

int rename(const char *old, const char *new)
{
    return do_rename(__func__, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int renameat(int from, const char *old, int to, const char *new)
{
    return do_rename(__func__, from, old, to, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    return do_rename(__func__, from, old, to, new, flags);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    return fails_at("mkdir", __func__, folder, name) ? -1
                                                     : (int)syscall(SYS_mkdirat, folder, name, mode);
}

int mkdir(const char *name, mode_t mode)
{
    return fails_at("mkdir", __func__, AT_FDCWD, name) ? -1
                                                       : (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
}

int unlinkat(int folder, const char *name, int flags)
{
    return fails_at("unlink", __func__, folder, name) ? -1
                                                      : (int)syscall(SYS_unlinkat, folder, name, flags);
}

int unlink(const char *name)
{
    return fails_at("unlink", __func__, AT_FDCWD, name) ? -1
                                                        : (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

/* Reading. */

ssize_t read(int fd, void *bytes, size_t size)
{
    return fails_on("read", __func__, fd) ? -1 : syscall(SYS_read, fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    return fails_on("read", __func__, fd) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    return fails_on("read", __func__, fd) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}

/* What is said of files. */

/* Makes extreme what a file system says of a regular file, as far as it was asked for. */
static void exaggerate(struct stat *found)
{
    if (!S_ISREG(found->st_mode))
        return;
    if (!strcmp(extreme, "size")) {
        found->st_size = INT64_MAX;
        found->st_blocks = INT64_MAX;
        found->st_blksize = INT64_MAX;
    } else if (!strcmp(extreme, "negative")) {
        found->st_size = INT64_MIN;
        found->st_blocks = INT64_MIN;
        found->st_blksize = INT64_MIN;
    } else if (!strcmp(extreme, "past")) {
        found->st_mtim = found->st_ctim = found->st_atim = (struct timespec) {INT64_MIN, INT64_MIN};
    } else if (!strcmp(extreme, "future")) {
        found->st_mtim = found->st_ctim = found->st_atim = (struct timespec) {INT64_MAX, INT64_MAX};
    } else if (!strcmp(extreme, "links")) {
        found->st_ino = UINT64_MAX;
        found->st_dev = UINT64_MAX;
        found->st_rdev = UINT64_MAX;
    }
}

int fstatat(int folder, const char *name, struct stat *result, int flags)
{
    if (fails_at("stat", __func__, folder, name))
        return -1;
    int status = (int)syscall(SYS_newfstatat, folder, name, result, flags);
    char path[PATH_MAX];
    int saved = errno;
    path_at(folder, name, path);
    errno = saved;
    if (!status && *extreme && is_beneath(path))
        exaggerate(result);
    return status;
}

int fstat(int fd, struct stat *result)
{
    int status = (int)syscall(SYS_fstat, fd, result);
    char path[PATH_MAX];
    int saved = errno;
    path_of(fd, path);
    errno = saved;
    if (!status && *extreme && is_beneath(path))
        exaggerate(result);
    return status;
}
