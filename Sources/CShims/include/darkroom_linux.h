/* Linux calls that Swift's Glibc module leaves out, because glibc declares them only under
 * _GNU_SOURCE or not at all. Each returns what the call returns and leaves errno as it was set. */
#ifndef DARKROOM_LINUX_H
#define DARKROOM_LINUX_H

#include <stdint.h>

/* renameat2(2) with RENAME_NOREPLACE: fails with EEXIST rather than replace. */
int darkroom_rename_noreplace(int old_dir, const char *old_name, int new_dir, const char *new_name);

/* statx(2) for the moment at which a file was made, in seconds and nanoseconds since 1970; a link is not followed.
 * Returns 1, 0 where the file system does not know it, or -1. */
int darkroom_birth(int dir, const char *name, int64_t *seconds, int64_t *nanoseconds);

/* openat2(2), read-only and close-on-exec, with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: never
 * resolves to anything outside `dir`, by "..", an absolute link or /proc. What is no regular file is
 * looked at and not opened, for opening a device may do something: its descriptor is an O_PATH one.
 * O_NONBLOCK is set lest a fifo that has just taken the file's place hold the caller. */
int darkroom_open_beneath(int dir, const char *path);

/* The same, walked folder by folder with openat(2), for where openat2 is not to be had: kernels before
 * 5.6, and systemd's RestrictSUIDSGID=, which cannot see the mode in its structure and answers
 * ENOSYS. No link is followed by the kernel, and ".." goes back to a folder that is still open. */
int darkroom_walk_beneath(int dir, const char *path);

/* open(2) of a folder with O_PATH, close-on-exec: a place to resolve from, which needs no permission
 * to list it. */
int darkroom_open_folder(const char *path);

/* sync_file_range(2) with SYNC_FILE_RANGE_WRITE over the whole file. */
int darkroom_start_writing(int fd);

/* syncfs(2): waits until the file system of an open descriptor has all on the disk that it was given. */
int darkroom_sync_file_system(int fd);

/* fallocate(2) with FALLOC_FL_KEEP_SIZE: gives the file blocks for its first `bytes` and leaves its size
 * as it is. */
int darkroom_keep_room(int fd, int64_t bytes);

/* copy_file_range(2): copies up to `count` bytes between two files at these places, within the kernel and,
 * where the file system can, by sharing blocks. Returns how many, 0 at the end of `in`, or -1. */
int64_t darkroom_copy_range(int in, int64_t in_place, int out, int64_t out_place, int64_t count);

/* statfs(2)'s f_type of an open descriptor, or -1. */
int64_t darkroom_filesystem_type(int fd);

#endif
