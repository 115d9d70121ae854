#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "darkroom_codec_wire.h"

/* What a decoder needs after its first byte: memory, the conversation, and time. No call opens, makes or names anything.
 * recvmsg is not there, so no descriptor can be handed in. */
static const int calls[] = {
    SCMP_SYS(read),          SCMP_SYS(write),        SCMP_SYS(recvfrom),  SCMP_SYS(sendto),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),       SCMP_SYS(brk),       SCMP_SYS(madvise),
    SCMP_SYS(futex),         SCMP_SYS(exit),         SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(getrandom),     SCMP_SYS(sched_yield),  SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),        SCMP_SYS(gettid),       SCMP_SYS(restart_syscall),
    /* qsort of the C library asks how much memory there is. */
    SCMP_SYS(sysinfo),
};

/* What a library with threads needs besides. */
static const int thread_calls[] = {
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
};

/* What a program needs besides that reads its source by the descriptor: its position. */
static const int source_calls[] = {SCMP_SYS(lseek)};

static bool permit(scmp_filter_ctx context, const int *list, size_t count)
{
    for (size_t index = 0; index < count; index++)
        if (seccomp_rule_add(context, SCMP_ACT_ALLOW, list[index], 0) != 0) return false;
    return true;
}

static bool permit_some(scmp_filter_ctx context, bool has_threads)
{
    /* Memory, but none that is executed. */
    if (seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) != 0) return false;
    if (seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) != 0) return false;
    /* The C library's abort and its streams ask these first. The answer is no; the process ends anyway or goes on. */
    if (seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 0) != 0) return false;
    if (seccomp_rule_add(context, SCMP_ACT_ERRNO(EBADF), SCMP_SYS(newfstatat), 0) != 0) return false;
    if (!has_threads) return true;
    /* Threads, but no processes. clone3 has its flags in memory, where no filter sees them: clone comes instead. */
    if (seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)) != 0) return false;
    if (seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) != 0) return false;
    /* dav1d makes a thread for each processor of which this tells, and none if it fails. A picture has one processor, and
     * each thread would take memory from it. */
    if (seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sched_getaffinity), 0) != 0) return false;
    /* Threads get names. */
    if (seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)) != 0)
        return false;
    return permit(context, thread_calls, sizeof thread_calls / sizeof *thread_calls);
}

/* Reads what the library writes into a file in memory. */
static bool export(scmp_filter_ctx context, confine_filter *filter)
{
    int file = memfd_create("seccomp", MFD_CLOEXEC);
    if (file < 0) return false;
    off_t bytes = seccomp_export_bpf(context, file) == 0 ? lseek(file, 0, SEEK_END) : -1;
    filter->length = bytes > 0 ? (unsigned short) (bytes / (off_t) sizeof *filter->program) : 0;
    filter->program = bytes > 0 ? malloc((size_t) bytes) : NULL;
    bool is_read = filter->program && pread(file, filter->program, (size_t) bytes, 0) == bytes;
    close(file);
    return is_read;
}

bool confine_prepare(confine_filter *filter, bool has_threads, bool reads_source)
{
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!context) return false;
    /* The most frequent calls are compared first. */
    seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    bool is_ready = permit(context, calls, sizeof calls / sizeof *calls) && permit_some(context, has_threads)
        && (!reads_source || permit(context, source_calls, sizeof source_calls / sizeof *source_calls)) && export(context, filter);
    seccomp_release(context);
    return is_ready;
}

/* Forbids every use of a file by its name, and connections and signals to others where the kernel can. A kernel without
 * Landlock leaves this to the list of calls. */
static void restrict_names(void)
{
    int version = (int) syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return;
    /* All rights of the first version, and those of later versions that this kernel knows: one bit each. */
    uint64_t rights = (UINT64_C(1) << 13) - 1;
    if (version >= 2) rights |= UINT64_C(1) << 13; /* refer */
    if (version >= 3) rights |= UINT64_C(1) << 14; /* truncate */
    if (version >= 5) rights |= UINT64_C(1) << 15; /* ioctl of devices */
    struct {
        uint64_t files, net, scoped;
    } rules = {rights, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int set = (int) syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (set < 0) return;
    syscall(SYS_landlock_restrict_self, set, 0);
    close(set);
}

/* When memory is short, the kernel ends a child before the daemon, whose other pictures then go on. */
static void go_first(void)
{
    const long more = 300, most = 1000;
    char text[16] = "";
    int file = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    if (read(file, text, sizeof text - 1) > 0) {
        long score = strtol(text, NULL, 10) + more;
        int length = snprintf(text, sizeof text, "%ld", score < most ? score : most);
        /* Without it, the kernel decides by size. */
        if (pwrite(file, text, (size_t) length, 0) < 0) errno = 0;
    }
    close(file);
}

void confine_waiting(void)
{
    go_first();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    restrict_names();
    /* One heap for all threads: each other one would count 64 MiB of addresses as memory. */
    mallopt(M_ARENA_MAX, 1);
}

uint64_t confine_mapped(void)
{
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count > 0 ? strtoull(text, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE) : 0;
}

static void limit(int resource, uint64_t now, uint64_t most)
{
    struct rlimit value = {now, most};
    if (setrlimit(resource, &value) != 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
}

void confine_child(const confine_filter *filter, uint64_t base, uint64_t at_first, uint64_t at_most, uint32_t seconds)
{
    limit(RLIMIT_AS, base + at_first, base + at_most);
    /* SIGXCPU ends the process, a second later SIGKILL. */
    limit(RLIMIT_CPU, seconds, seconds + 1);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_NOFILE, 0, 0);
    struct sock_fprog program = {filter->length, filter->program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(DARKROOM_CODEC_NOT_BEGUN);
}
