#define _GNU_SOURCE
#include "darkroom_linux.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

int darkroom_rename_noreplace(int old_dir, const char *old_name, int new_dir, const char *new_name)
{
    return renameat2(old_dir, old_name, new_dir, new_name, RENAME_NOREPLACE);
}

static struct timespec time_of(const struct statx_timestamp *time)
{
    return (struct timespec){ .tv_sec = time->tv_sec, .tv_nsec = time->tv_nsec };
}

int darkroom_examine(int dir, const char *name, struct stat *status, struct timespec *birth)
{
    struct statx found;
    const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if (statx(dir, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) {
        /* The kernel or the sandbox has no statx(2). */
        if (errno == ENOSYS || errno == EPERM || errno == EINVAL)
            return fstatat(dir, name, status, flags);
        return -1;
    }
    *status = (struct stat){
        .st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
        .st_ino = found.stx_ino,
        .st_mode = found.stx_mode,
        .st_nlink = found.stx_nlink,
        .st_uid = found.stx_uid,
        .st_gid = found.stx_gid,
        .st_size = (off_t)found.stx_size,
        .st_mtim = time_of(&found.stx_mtime),
        .st_ctim = time_of(&found.stx_ctime),
    };
    if (!(found.stx_mask & STATX_BTIME))
        return 0;
    *birth = time_of(&found.stx_btime);
    return 1;
}

const char *darkroom_thread_folder(void)
{
    static _Thread_local char folder[64];
    if (!folder[0]) {
        ssize_t length = readlink("/proc/thread-self", folder, sizeof folder - 1);
        folder[length > 0 ? length : 0] = 0;
    }
    return folder;
}

int darkroom_open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int darkroom_socket(int family, int kind, int protocol)
{
    return (int)syscall(SYS_socket, (long)family, (long)kind | SOCK_CLOEXEC, (long)protocol);
}

int darkroom_share(int fd, unsigned uid, unsigned permissions)
{
    /* The form of the attribute, from linux/posix_acl_xattr.h: little-endian, ordered by tag. */
    enum { OWNER = 0x01, USER = 0x02, GROUP = 0x04, MASK = 0x10, OTHER = 0x20 };
    struct {
        uint32_t version;
        struct {
            uint16_t tag, permissions;
            uint32_t id;
        } entries[5];
    } list = {
        htole32(2),
        {
            {htole16(OWNER), htole16((uint16_t)permissions), 0xFFFFFFFF},
            {htole16(USER), htole16((uint16_t)permissions), htole32(uid)},
            {htole16(GROUP), 0, 0xFFFFFFFF},
            {htole16(MASK), htole16((uint16_t)permissions), 0xFFFFFFFF},
            {htole16(OTHER), 0, 0xFFFFFFFF},
        },
    };
    return fsetxattr(fd, "system.posix_acl_access", &list, sizeof list, 0);
}

int darkroom_start_writing(int fd)
{
    return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int darkroom_sync_file_system(int fd)
{
    return syncfs(fd);
}

int darkroom_keep_room(int fd, int64_t bytes)
{
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

int64_t darkroom_copy_range(int in, int64_t in_place, int out, int64_t out_place, int64_t count)
{
    off_t from = (off_t)in_place, to = (off_t)out_place;
    return (int64_t)copy_file_range(in, &from, out, &to, (size_t)count, 0);
}

int64_t darkroom_filesystem_type(int fd)
{
    struct statfs s;
    if (fstatfs(fd, &s) != 0)
        return -1;
    return (int64_t)s.f_type;
}

uint64_t darkroom_filesystem_id(int fd)
{
    struct statfs s;
    if (fstatfs(fd, &s) != 0)
        return 0;
    return (uint64_t)(uint32_t)s.f_fsid.__val[0] << 32 | (uint32_t)s.f_fsid.__val[1];
}

bool darkroom_is_on_device(uint64_t st_dev)
{
    return major((dev_t)st_dev) != 0;
}

int darkroom_unnamed_file(int dir, unsigned mode)
{
    return openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
}

int darkroom_memory_file(void)
{
    return memfd_create("darkroom", MFD_CLOEXEC);
}

int darkroom_name_file(int fd, int dir, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW);
}

int darkroom_open_process(int pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

int darkroom_signal_process(int process, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0);
}

int darkroom_allowed_cores(void)
{
    /* Room for 16,384 cores. With less than it needs, the kernel refuses. */
    cpu_set_t sets[16];
    if (sched_getaffinity(0, sizeof sets, sets) != 0)
        return 0;
    return CPU_COUNT_S(sizeof sets, sets);
}
