#define _GNU_SOURCE
#include "darkroom_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "conversation.h"
#include "darkroom_loaded.h"

/* Without a picture for so long, in milliseconds, the process ends. */
enum { IDLE = 60000 };

/* The size of a mapping with one number. */
enum { PAGE = 4096 };

/* A picture in work. */
typedef struct {
    uint64_t number;
    pid_t process;
    uint64_t most_memory;
    /* Shared with the child: 1 when it may use the memory for its picture. A page. */
    uint32_t *is_permitted;
} child;

static struct {
    const darkroom_codec *codec;
    confine_filter filter;
    /* What a child has mapped at its start. */
    uint64_t base;
    int signals;
    child *children;
    size_t count, room;
} server;

/* The descriptors of an order. */
typedef struct {
    int fds[3];
    int count;
} descriptors;

static void close_all(const descriptors *given)
{
    for (int index = 0; index < given->count; index++) close(given->fds[index]);
}

/* ---- Children ---- */

/* Closes this descriptor and all after it. Kernels before 5.9 have no call for this, and some containers refuse it. */
static void close_from(int first)
{
    if (close_range((unsigned) first, ~0u, 0) == 0) return;
    /* This process has few. */
    for (int descriptor = first; descriptor < 1024; descriptor++) close(descriptor);
}

/* Gives the descriptors the numbers of a child, and closes all others: the control socket, too. */
static bool take(const descriptors *given)
{
    /* Beyond those that this process has. */
    const int high = 64;
    for (int index = 0; index < given->count; index++)
        if (dup2(given->fds[index], high + index) < 0) return false;
    for (int index = 0; index < given->count; index++)
        if (dup2(high + index, CHILD_SOCKET + index) < 0) return false;
    close_from(CHILD_SOCKET + given->count);
    return true;
}

_Noreturn static void work(
    const darkroom_codec_message *order, const descriptors *given, pid_t parent, const uint32_t *is_permitted)
{
    bool decodes = order->kind == DARKROOM_CODEC_DECODE;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || !take(given)) _exit(DARKROOM_CODEC_NOT_BEGUN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* A library that this program is linked with may have handlers for crashes, which call what a child may not. */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS, SIGXCPU};
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) signal(fatal[index], SIG_DFL);
    darkroom_codec_call *call = conversation_new(order, decodes, is_permitted);
    if (!call) _exit(DARKROOM_CODEC_NOT_BEGUN);
    close(CHILD_MEMORY);
    if (decodes && !server.codec->reads_source) close(CHILD_SOURCE);
    uint64_t shared = (uint64_t) order->slots * order->slot_bytes * (decodes ? 1 : 2);
    size_t source = 0;
    if (decodes) codec_source(call, &source);
    confine_child(&server.filter, server.base + shared + source, order->limits.memory_at_first,
        order->limits.memory_at_most, order->limits.seconds);
    if (decodes) server.codec->decode(call);
    else server.codec->encode(call);
    conversation_end(call);
}

static bool is_order(const darkroom_codec_message *message, const descriptors *given)
{
    bool decodes = message->kind == DARKROOM_CODEC_DECODE;
    return given->count == (decodes ? 3 : 2) && (decodes ? server.codec->decode : server.codec->encode) != NULL
        && message->slots > 0 && message->slots <= DARKROOM_CODEC_SLOTS && message->slot_bytes > 0;
}

_Noreturn static void leave(int status)
{
    for (size_t index = 0; index < server.count; index++) kill(server.children[index].process, SIGKILL);
    exit(status);
}

/* The daemon would wait for a word that is lost. */
static void say_ended(uint64_t number, darkroom_codec_ended ended)
{
    darkroom_codec_message message = {.kind = DARKROOM_CODEC_ENDED, .number = number, .ended = ended};
    if (!darkroom_codec_send(DARKROOM_CODEC_CONTROL, &message, NULL, 0)) leave(DARKROOM_CODEC_CUT_OFF);
}

static bool has_room(void)
{
    if (server.count < server.room) return true;
    size_t room = server.room ? server.room * 2 : 16;
    child *children = realloc(server.children, room * sizeof *children);
    if (!children) return false;
    server.children = children;
    server.room = room;
    return true;
}

static void begin(const darkroom_codec_message *order, const descriptors *given)
{
    /* As if it had ended by itself. */
    const darkroom_codec_ended not_begun = {.status = DARKROOM_CODEC_NOT_BEGUN << 8};
    if (!is_order(order, given) || !has_room()) return say_ended(order->number, not_begun);
    uint32_t *is_permitted = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (is_permitted == MAP_FAILED) return say_ended(order->number, not_begun);
    pid_t parent = getpid(), process = fork();
    if (process == 0) work(order, given, parent, is_permitted);
    if (process < 0) {
        munmap(is_permitted, PAGE);
        return say_ended(order->number, not_begun);
    }
    /* It is no other child's. */
    madvise(is_permitted, PAGE, MADV_DONTFORK);
    server.children[server.count++] = (child) {order->number, process, order->limits.memory_at_most, is_permitted};
    darkroom_codec_message message = {
        .kind = DARKROOM_CODEC_STARTED, .number = order->number, .count = (uint32_t) process};
    darkroom_codec_send(DARKROOM_CODEC_CONTROL, &message, NULL, 0);
}

static child *find(uint64_t number)
{
    for (size_t index = 0; index < server.count; index++)
        if (server.children[index].number == number) return &server.children[index];
    return NULL;
}

static void stop(uint64_t number)
{
    child *child = find(number);
    if (child) kill(child->process, SIGKILL);
}

/* The child's own limit stays as it is: it may not change limits. The most it may get is its hard limit. */
static void permit(const darkroom_codec_message *message)
{
    child *child = find(message->number);
    struct rlimit now;
    if (!child) return;
    /* It waits for this, so without it there is no use for it. */
    if (prlimit(child->process, RLIMIT_AS, NULL, &now) != 0) return stop(message->number);
    rlim_t start = now.rlim_max - child->most_memory;
    rlim_t wanted = message->bytes < child->most_memory ? start + message->bytes : now.rlim_max;
    struct rlimit next = {wanted, now.rlim_max};
    if (prlimit(child->process, RLIMIT_AS, &next, NULL) != 0) return stop(message->number);
    __atomic_store_n(child->is_permitted, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, child->is_permitted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void reap(void)
{
    struct signalfd_siginfo infos[16];
    while (read(server.signals, infos, sizeof infos) > 0) {}
    int status;
    struct rusage usage;
    for (pid_t process; (process = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
        for (size_t index = 0; index < server.count; index++) {
            if (server.children[index].process != process) continue;
            uint64_t number = server.children[index].number;
            munmap(server.children[index].is_permitted, PAGE);
            server.children[index] = server.children[--server.count];
            say_ended(number, (darkroom_codec_ended) {
                .status = status,
                .processor_microseconds =
                    (uint64_t) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000
                    + (uint64_t) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
                .peak_bytes = (uint64_t) usage.ru_maxrss * 1024,
            });
            break;
        }
    }
}

/* ---- The control socket ---- */

/* Receives a message with its descriptors. False at the end of the daemon. */
static bool receive(darkroom_codec_message *message, descriptors *given)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof given->fds)];
    } control;
    struct iovec part = {message, sizeof *message};
    struct msghdr parts = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count;
    do count = recvmsg(DARKROOM_CODEC_CONTROL, &parts, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    given->count = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&parts);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        given->count = (int) ((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(given->fds, CMSG_DATA(header), (size_t) given->count * sizeof(int));
    }
    return count == (ssize_t) sizeof *message;
}

static void obey(const darkroom_codec_message *message, const descriptors *given)
{
    switch (message->kind) {
        case DARKROOM_CODEC_DECODE:
        case DARKROOM_CODEC_ENCODE: return begin(message, given);
        case DARKROOM_CODEC_LIMIT: return permit(message);
        case DARKROOM_CODEC_KILL: return stop(message->number);
        default: return;
    }
}

static void say_ready(void)
{
    darkroom_codec_message message = {
        .kind = DARKROOM_CODEC_READY,
        .count = DARKROOM_CODEC_VERSION,
        .bits = (server.codec->decode ? 1u : 0u) | (server.codec->encode ? 2u : 0u),
        .number = darkroom_loaded_identity(NULL),
    };
    snprintf(message.text, sizeof message.text, "%s", server.codec->library());
    if (!darkroom_codec_send(DARKROOM_CODEC_CONTROL, &message, NULL, 0)) exit(DARKROOM_CODEC_CUT_OFF);
}

/* Signals that a terminal or a service manager sends to a whole group are for the daemon. This process ends when the
 * daemon closes the control socket. */
static void ignore_signals(void)
{
    static const int ignored[] = {
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) signal(ignored[index], SIG_IGN);
}

int darkroom_codec_main(const darkroom_codec *codec, int argc, char **argv)
{
    server.codec = codec;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) return puts(codec->library()) < 0 ? 74 : 0;
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(DARKROOM_CODEC_CONTROL, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
        fprintf(stderr, "%s: Darkroom starts this program; it has no use by itself\n", argv[0]);
        return 64;
    }
    ignore_signals();
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    server.signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (codec->prepare) codec->prepare();
    if (server.signals < 0 || !confine_prepare(&server.filter, codec->has_threads, codec->reads_source)) return DARKROOM_CODEC_NOT_BEGUN;
    server.base = confine_mapped();
    confine_waiting();
    say_ready();
    for (;;) {
        struct pollfd both[2] = {{DARKROOM_CODEC_CONTROL, POLLIN, 0}, {server.signals, POLLIN, 0}};
        int ready = poll(both, 2, server.count > 0 ? -1 : IDLE);
        if (ready < 0 && errno != EINTR) leave(DARKROOM_CODEC_NOT_BEGUN);
        /* The daemon starts another one when it needs it. */
        if (ready == 0) leave(0);
        if (both[1].revents) reap();
        if (!both[0].revents) continue;
        darkroom_codec_message message;
        descriptors given;
        if (!receive(&message, &given)) leave(0);
        obey(&message, &given);
        close_all(&given);
    }
}
