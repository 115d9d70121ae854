#define _GNU_SOURCE
#include "darkroom_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int darkroom_rename_noreplace(int old_dir, const char *old_name, int new_dir, const char *new_name)
{
    return renameat2(old_dir, old_name, new_dir, new_name, RENAME_NOREPLACE);
}

int darkroom_open_beneath(int dir, const char *path)
{
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

int darkroom_open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int64_t darkroom_filesystem_type(int fd)
{
    struct statfs s;
    if (fstatfs(fd, &s) != 0)
        return -1;
    return (int64_t)s.f_type;
}
