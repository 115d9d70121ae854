#define _GNU_SOURCE
#include "darkroom_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
    LOOKING = O_PATH | O_CLOEXEC,
    PASSING = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
    /* The same limit as in path_resolution(7). */
    MOST_LINKS = 40,
    MOST_FOLDERS = 128
};

static int open_beneath(int dir, const char *path, int flags, int follow)
{
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (unsigned)flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follow ? 0 : RESOLVE_NO_SYMLINKS);
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/* Whether the file that a descriptor of LOOKING has found may be opened. Closes the descriptor if it may. */
static int is_regular(int found)
{
    struct stat status;
    if (fstat(found, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    close(found);
    return 1;
}

/* Whether a path is the name of a regular file in the folder itself. Such a file needs no descriptor to be looked
 * at. */
static int is_regular_here(int dir, const char *path)
{
    struct stat status;
    return strchr(path, '/') == NULL && fstatat(dir, path, &status, AT_SYMLINK_NOFOLLOW) == 0
        && S_ISREG(status.st_mode);
}

int darkroom_open_beneath(int dir, const char *path, int follow)
{
    if (is_regular_here(dir, path))
        return open_beneath(dir, path, READING, follow);
    int found = open_beneath(dir, path, LOOKING, follow);
    return found >= 0 && is_regular(found) ? open_beneath(dir, path, READING, follow) : found;
}

int darkroom_open_regular(const char *path)
{
    int found = open(path, LOOKING);
    return found >= 0 && is_regular(found) ? open(path, READING) : found;
}

/* The remaining path, and the folders up to here. The first one is not ours. */
struct walk {
    char rest[PATH_MAX];
    int folders[MOST_FOLDERS];
    int depth;
    int links_left;
};

static int failure(int error)
{
    errno = error;
    return -1;
}

/* Replaces the path by `path`, followed by the remaining part. */
static int put_before(struct walk *walk, const char *path, const char *left)
{
    char joined[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s%s%s", path, *left ? "/" : "", left);
    if (length < 0 || length >= (int)sizeof joined)
        return failure(ENAMETOOLONG);
    memcpy(walk->rest, joined, (size_t)length + 1);
    return 0;
}

/* Takes the next name from the path, with the slashes around it. "" means the end of the path. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1], const char **left)
{
    char *begin = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(begin, "/");
    if (length > NAME_MAX)
        return failure(ENAMETOOLONG);
    memcpy(name, begin, length);
    name[length] = 0;
    *left = begin + length;
    return 0;
}

static int follow(struct walk *walk, char *target, ssize_t length, const char *left)
{
    if (length >= PATH_MAX)
        return failure(ENAMETOOLONG);
    target[length] = 0;
    if (walk->links_left-- == 0)
        return failure(ELOOP);
    if (*target == '/')
        return failure(EXDEV);
    return put_before(walk, target, left);
}

static int enter(struct walk *walk, const char *name, const char *left)
{
    if (walk->depth + 1 == MOST_FOLDERS)
        return failure(ENAMETOOLONG);
    int folder = openat(walk->folders[walk->depth], name, PASSING);
    if (folder < 0)
        return -1;
    walk->folders[++walk->depth] = folder;
    return put_before(walk, left, "");
}

static int leave(struct walk *walk, const char *left)
{
    if (walk->depth == 0)
        return failure(EXDEV);
    close(walk->folders[walk->depth--]);
    return put_before(walk, left, "");
}

static int open_last(int folder, const char *name)
{
    int found = openat(folder, name, LOOKING | O_NOFOLLOW);
    return found >= 0 && is_regular(found) ? openat(folder, name, READING | O_NOFOLLOW) : found;
}

/* Goes to the end of the path and opens the file there. */
static int go(struct walk *walk)
{
    for (;;) {
        char name[NAME_MAX + 1], target[PATH_MAX];
        const char *left;
        int folder = walk->folders[walk->depth], result;
        if (take_name(walk, name, &left) < 0)
            return -1;
        if (!*name)
            return openat(folder, ".", LOOKING);
        ssize_t length = strcmp(name, ".") && strcmp(name, "..")
            ? readlinkat(folder, name, target, sizeof target)
            : failure(EINVAL);
        if (length < 0 && errno != EINVAL)
            return -1;
        if (length >= 0)
            result = follow(walk, target, length, left);
        else if (!strcmp(name, "."))
            result = put_before(walk, left, "");
        else if (!strcmp(name, ".."))
            result = leave(walk, left);
        else if (*left)
            result = enter(walk, name, left);
        else
            return open_last(folder, name);
        if (result < 0)
            return -1;
    }
}

int darkroom_walk_beneath(int dir, const char *path, int follow)
{
    struct walk walk = {.folders = {dir}, .links_left = follow ? MOST_LINKS : 0};
    int result = *path == '/' ? failure(EXDEV) : put_before(&walk, path, "");
    if (result == 0)
        result = *path ? go(&walk) : failure(ENOENT);
    int error = errno;
    while (walk.depth > 0)
        close(walk.folders[walk.depth--]);
    errno = error;
    return result;
}
