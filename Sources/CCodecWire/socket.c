#define _GNU_SOURCE
#include "darkroom_codec_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int darkroom_codec_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

int darkroom_codec_memory(size_t bytes)
{
    int memory = memfd_create("darkroom-codec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -1;
    /* The other side could make it smaller otherwise, and reading beyond its end would end this process. */
    if (ftruncate(memory, (off_t) bytes) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return memory;
    int cause = errno;
    close(memory);
    errno = cause;
    return -1;
}

bool darkroom_codec_send(int socket, const darkroom_codec_message *message, const int *descriptors, int count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(DARKROOM_CODEC_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {(void *) message, sizeof *message};
    struct msghdr parts = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0 && count <= DARKROOM_CODEC_DESCRIPTORS) {
        memset(&control, 0, sizeof control);
        parts.msg_control = &control;
        parts.msg_controllen = CMSG_SPACE((size_t) count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&parts);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t) count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, (size_t) count * sizeof(int));
    }
    ssize_t sent;
    /* A confined child has no sendmsg. */
    do sent = count > 0 ? sendmsg(socket, &parts, MSG_NOSIGNAL) : send(socket, message, sizeof *message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t) sizeof *message;
}

bool darkroom_codec_post(int socket, const darkroom_codec_message *message)
{
    ssize_t sent;
    do sent = send(socket, message, sizeof *message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t) sizeof *message;
}

darkroom_codec_heard darkroom_codec_hear(int socket, darkroom_codec_message *message, int milliseconds)
{
    struct pollfd wait = {socket, POLLIN, 0};
    int ready;
    do ready = poll(&wait, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) return DARKROOM_CODEC_SILENT;
    /* Without poll, recv would wait without end. */
    if (ready < 0) return DARKROOM_CODEC_REFUSED;
    ssize_t count;
    do count = recv(socket, message, sizeof *message, MSG_TRUNC);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno != ECONNRESET) return DARKROOM_CODEC_REFUSED;
    if (count <= 0) return DARKROOM_CODEC_GONE;
    if (count != (ssize_t) sizeof *message) return DARKROOM_CODEC_NONSENSE;
    message->text[sizeof message->text - 1] = 0;
    return DARKROOM_CODEC_HEARD;
}

/* The exit status after exec has failed. */
static int status_of(int error)
{
    switch (error) {
        case ENOMEM:
        case EAGAIN:
        case EMFILE:
        case ENFILE:
        /* It is being replaced. */
        case ETXTBSY: return DARKROOM_CODEC_NOT_BEGUN;
        default: return 127;
    }
}

/* Between fork and exec, only calls that are safe after the fork of a process with threads. */
_Noreturn static void become(const char *program, int control)
{
    sigset_t none;
    sigemptyset(&none);
    int null = open("/dev/null", O_RDWR);
    /* First out of the way of the numbers that they get. */
    int high = fcntl(control, F_DUPFD, 10);
    if (null < 0 || high < 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
    for (int standard = 0; standard < 3; standard++)
        if (dup2(null, standard) < 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
    if (dup2(high, DARKROOM_CODEC_CONTROL) < 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
    close_range(DARKROOM_CODEC_CONTROL + 1, ~0u, 0);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    char *const arguments[] = {(char *) program, NULL};
    char *const environment[] = {"LC_ALL=C.UTF-8", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", NULL};
    execve(program, arguments, environment);
    _exit(status_of(errno));
}

pid_t darkroom_codec_start(const char *program, int control)
{
    /* No handler of this process may run in the child. */
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pid_t process = fork();
    if (process == 0) become(program, control);
    int cause = errno;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    errno = cause;
    return process;
}
