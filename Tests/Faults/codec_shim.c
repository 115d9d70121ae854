/*
 * Stands before the C library's own functions, for Tests/Faults, loaded with LD_PRELOAD into darkroomd or into a codec
 * program. It makes one call of their conversation fail: it counts the calls of a group, in all processes of a run, and
 * fails the one asked for.
 *
 *   SHIM_CALL   a group of calls, by the name of the function; see below
 *   SHIM_NTH    which call of the group fails, from 1
 *   SHIM_ERRNO  with which errno, a number
 *   SHIM_PAGE   a file of a page that these processes share: the count, then what has failed
 *   SHIM_SIDE   daemon or codec: where it is loaded
 *
 * A daemon makes such calls for other purposes, too. Its conversations are those on sockets of SOCK_SEQPACKET, in files in
 * memory, and what a thread does after a fork. A child of a codec program may make no call but some: so this makes none
 * besides those it stands for, after it has been loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, KERNEL_SIGNALS = 64 };

typedef struct {
    atomic_long count;
    char failed[64];
} page;

static const char *group;
static long nth;
static int error;
static bool is_codec;
static page *shared;
static pid_t (*real_fork)(void);
static int (*real_thread)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
/* Whether this thread has forked, and has made no thread since. */
static __thread bool has_forked;

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) static void begin(void)
{
    group = setting("SHIM_CALL");
    nth = strtol(setting("SHIM_NTH"), NULL, 10);
    error = (int) strtol(setting("SHIM_ERRNO"), NULL, 10);
    is_codec = strcmp(setting("SHIM_SIDE"), "codec") == 0;
    real_fork = (pid_t (*)(void)) dlsym(RTLD_NEXT, "fork");
    real_thread = (int (*)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *)) dlsym(RTLD_NEXT, "pthread_create");
    int file = (int) syscall(SYS_openat, AT_FDCWD, setting("SHIM_PAGE"), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *memory = (void *) syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t) 0);
    if (memory != MAP_FAILED) shared = memory;
    syscall(SYS_close, file);
}

/* Whether this call is the one that fails; errno is set then. */
static bool fails(const char *call)
{
    if (!shared || strcmp(group, call) != 0 || atomic_fetch_add(&shared->count, 1) + 1 != nth) return false;
    strncpy(shared->failed, call, sizeof shared->failed - 1);
    errno = error;
    return true;
}

/* The same for a call on a socket. When the other side is gone, nothing more comes, and it hears nothing more. */
static bool fails_on(int fd, const char *call)
{
    if (!fails(call)) return false;
    if (!is_codec && error == EPIPE) syscall(SYS_shutdown, fd, SHUT_RDWR);
    errno = error;
    return true;
}

/* Errno stays as it is. */
static bool is_conversation(int fd)
{
    if (is_codec) return true;
    int type = 0, former = errno;
    socklen_t size = sizeof type;
    bool is_one = syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
    errno = former;
    return is_one;
}

static bool is_memory(int fd)
{
    int former = errno;
    bool is_one = fd >= 0 && syscall(SYS_fcntl, fd, F_GET_SEALS) >= 0;
    errno = former;
    return is_one;
}

/* Sockets. */

int socketpair(int domain, int type, int protocol, int ends[2])
{
    if ((type & SOCK_SEQPACKET) == SOCK_SEQPACKET && fails("socketpair")) return -1;
    return (int) syscall(SYS_socketpair, domain, type, protocol, ends);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags)
{
    if (is_conversation(fd) && fails_on(fd, "send")) return -1;
    return syscall(SYS_sendto, fd, bytes, count, flags, NULL, (size_t) 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (is_conversation(fd) && fails_on(fd, "sendmsg")) return -1;
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recv(int fd, void *bytes, size_t count, int flags)
{
    if (is_conversation(fd) && fails_on(fd, "recv")) return -1;
    return syscall(SYS_recvfrom, fd, bytes, count, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (is_conversation(fd) && fails_on(fd, "recvmsg")) return -1;
    return syscall(SYS_recvmsg, fd, message, flags);
}

int poll(struct pollfd *sockets, nfds_t count, int milliseconds)
{
    if (count > 0 && is_conversation(sockets[0].fd) && fails("poll")) return -1;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int) syscall(SYS_ppoll, sockets, count, milliseconds < 0 ? NULL : &time, NULL, (size_t) 0);
}

/* Memory. */

int memfd_create(const char *name, unsigned flags)
{
    bool is_ours = is_codec || strcmp(name, "darkroom-codec") == 0;
    return is_ours && fails("memfd_create") ? -1 : (int) syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t length)
{
    return is_memory(fd) && fails("ftruncate") ? -1 : (int) syscall(SYS_ftruncate, fd, length);
}

int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return command == F_ADD_SEALS && fails("fcntl") ? -1 : (int) syscall(SYS_fcntl, fd, command, argument);
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

int ftruncate64(int fd, off64_t length) __attribute__((alias("ftruncate")));



void *mmap(void *at, size_t bytes, int access, int flags, int fd, off_t offset)
{
    bool is_ours = is_codec ? fd >= 0 || flags & MAP_SHARED : is_memory(fd);
    if (is_ours && fails("mmap")) return MAP_FAILED;
    return (void *) syscall(SYS_mmap, at, bytes, access, flags, fd, offset);
}

void *mmap64(void *at, size_t bytes, int access, int flags, int fd, off64_t offset) __attribute__((alias("mmap")));

/* Processes. */

pid_t fork(void)
{
    if (fails("fork")) return -1;
    pid_t process = real_fork();
    has_forked = process > 0;
    return process;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    bool is_ours = has_forked;
    has_forked = false;
    return is_ours && fails("pthread_create") ? error : real_thread(thread, attributes, body, argument);
}

int execve(const char *program, char *const arguments[], char *const environment[])
{
    return fails("execve") ? -1 : (int) syscall(SYS_execve, program, arguments, environment);
}

int dup2(int from, int to)
{
    if (is_codec && fails("dup2")) return -1;
    return from == to ? to : (int) syscall(SYS_dup3, from, to, 0);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    return is_codec && fails("signalfd") ? -1 : (int) syscall(SYS_signalfd4, fd, mask, KERNEL_SIGNALS / 8, flags);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *value)
{
    return is_codec && fails("setrlimit") ? -1 : (int) syscall(SYS_prlimit64, 0, resource, value, NULL);
}

int prlimit(pid_t process, enum __rlimit_resource resource, const struct rlimit *value, struct rlimit *former)
{
    return fails("prlimit") ? -1 : (int) syscall(SYS_prlimit64, process, resource, value, former);
}

int prctl(int option, ...)
{
    unsigned long arguments[4];
    va_list rest;
    va_start(rest, option);
    for (int index = 0; index < 4; index++) arguments[index] = va_arg(rest, unsigned long);
    va_end(rest);
    if (is_codec && option == PR_SET_SECCOMP && fails("prctl")) return -1;
    return (int) syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
