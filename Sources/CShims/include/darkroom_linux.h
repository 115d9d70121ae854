/* Linux calls that Swift's Glibc module does not contain, because glibc declares them only under _GNU_SOURCE
 * or not at all. Each returns the result of the call and leaves its errno. */
#ifndef DARKROOM_LINUX_H
#define DARKROOM_LINUX_H

#include <stdbool.h>
#include <stdint.h>

/* Of <sys/stat.h>, whose constants would be ambiguous in Swift with those of its Glibc module. */
struct stat;
struct timespec;

/* renameat2(2) with RENAME_NOREPLACE: fails with EEXIST if the target exists. */
int darkroom_rename_noreplace(int old_dir, const char *old_name, int new_dir, const char *new_name);

/* statx(2): what fstatat(2) tells of a file, except its blocks and its last access, and the time of its creation.
 * Does not follow a link. An empty name means `dir` itself. Returns 1, 0 if that time is not known, or -1. */
int darkroom_examine(int dir, const char *name, struct stat *status, struct timespec *birth);

/* openat2(2), read-only and close-on-exec, with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: never resolves to a
 * file outside `dir`, by "..", an absolute link or /proc. A file that is not a regular one is only examined,
 * because opening a device may have effects: its descriptor is an O_PATH one. O_NONBLOCK is set so that a
 * fifo that has just replaced the file cannot block the caller. Without `follow`, a symbolic link anywhere in
 * the path is an error, ELOOP. */
int darkroom_open_beneath(int dir, const char *path, int follow);

/* The same, but it walks folder by folder with openat(2), for systems without openat2: kernels before 5.6,
 * and systemd's RestrictSUIDSGID=, which cannot see the mode in its structure and answers ENOSYS. The kernel
 * follows no link, and ".." returns to a folder that is still open. */
int darkroom_walk_beneath(int dir, const char *path, int follow);

/* The calling thread's folder beneath /proc, PID/task/TID, which is read once for each thread; "" without /proc. */
const char *darkroom_thread_folder(void);

/* open(2) of a folder with O_PATH, close-on-exec: a starting point for paths, which does not need the
 * permission to list the folder. */
int darkroom_open_folder(const char *path);

/* Opens a file for reading, wherever it is. One that is not a regular file is only examined (O_PATH), because opening
 * a device may have an effect. Returns -1 and sets errno on failure. */
int darkroom_open_regular(const char *path);

/* Gives the owner of a file or folder and the user `uid` the permissions (4 read, 2 write, 1 enter), and all
 * others none, as an access control list (acl(5)). -1 with EOPNOTSUPP if the file system has no such lists. */
int darkroom_share(int fd, unsigned uid, unsigned permissions);

/* socket(2), close-on-exec, with arguments that fill their registers. A compiler may leave other bits in the upper half of
 * a register with an int, and glibc's wrapper passes them on. The kernel ignores them, but filters of system calls compare
 * whole registers: systemd's RestrictAddressFamilies= then refuses a family that it allows. */
int darkroom_socket(int family, int kind, int protocol);

/* sync_file_range(2) with SYNC_FILE_RANGE_WRITE over the whole file. */
int darkroom_start_writing(int fd);

/* syncfs(2): waits until all written data of an open descriptor's file system is on the disk. */
int darkroom_sync_file_system(int fd);

/* fallocate(2) with FALLOC_FL_KEEP_SIZE: allocates blocks for the file's first `bytes` and does not change
 * its size. */
int darkroom_keep_room(int fd, int64_t bytes);

/* copy_file_range(2): copies up to `count` bytes between two files at these offsets, within the kernel and,
 * if the file system can, by sharing blocks. Returns the number, 0 at the end of `in`, or -1. */
int64_t darkroom_copy_range(int in, int64_t in_place, int out, int64_t out_place, int64_t count);

/* statfs(2)'s f_type of an open descriptor, or -1. */
int64_t darkroom_filesystem_type(int fd);

/* statfs(2)'s f_fsid of an open descriptor; 0 where the file system has none, or if the call fails. */
uint64_t darkroom_filesystem_id(int fd);

/* Whether files with this st_dev are on a device. Those of /proc and /sys never are: the kernel numbers such
 * file systems itself, with the major number 0. Neither are those of a network or of tmpfs. */
bool darkroom_is_on_device(uint64_t st_dev);

/* Opens a new file without a name in the folder, for reading and writing. It vanishes when it is closed, unless it gets
 * a name before. Fails with EOPNOTSUPP, EISDIR or EINVAL where the file system or the kernel has no such files. */
int darkroom_unnamed_file(int dir, unsigned mode);

/* memfd_create(2): a file without a name in memory, for reading and writing, which vanishes when it is closed. */
int darkroom_memory_file(void);

/* Gives the file a name. Fails with EEXIST if the name is taken. Needs /proc. */
int darkroom_name_file(int fd, int dir, const char *name);

/* sched_getaffinity(2): the number of cores on which the calling thread may run, or 0 if the kernel does not tell. */
int darkroom_allowed_cores(void);

/* pidfd_open(2): a descriptor of a process, which never means another process, or -1. */
int darkroom_open_process(int pid);

/* pidfd_send_signal(2) with that descriptor. */
int darkroom_signal_process(int process, int signal);

#endif
