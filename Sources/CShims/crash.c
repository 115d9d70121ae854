#define _GNU_SOURCE
#include "darkroom_crash.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int number;
    /* Padded, as in the file. */
    char mark[DARKROOM_CRASH_MARK + 1];
} signals[] = {
    { SIGSEGV, "SIGSEGV         " }, { SIGBUS, "SIGBUS          " },
    { SIGILL, "SIGILL          " },  { SIGTRAP, "SIGTRAP         " },
    { SIGFPE, "SIGFPE          " },  { SIGABRT, "SIGABRT         " },
    { SIGSYS, "SIGSYS          " },
};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static const char watchdog[DARKROOM_CRASH_MARK + 1] = "watchdog        ";

static atomic_int records = -1;
static struct sigaction former[SIGNALS];
/* For each record in use, the time of its picture's last step, in nanoseconds; 0 if it is not in use. */
static _Atomic uint64_t steps[DARKROOM_CRASH_SLOTS];
/* The time since which the whole process is known to make progress, and the time of the last report, in
 * nanoseconds; 0 without reports. */
static _Atomic uint64_t turns_since;
static _Atomic uint64_t turned;

/* Initial-exec, so that the handler can read it without a call that might allocate memory. It is the slot
 * plus one, because threads begin with 0. */
static _Thread_local int current __attribute__((tls_model("initial-exec")));

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int in_use(int slot)
{
    return slot >= 0 && slot < DARKROOM_CRASH_SLOTS
        && atomic_load_explicit(&steps[slot], memory_order_relaxed) != 0;
}

static void write_mark(int slot, const char *mark)
{
    /* A failure here cannot be reported anywhere. Without a file, it fails. */
    ssize_t written = pwrite(
        atomic_load(&records), mark, DARKROOM_CRASH_MARK, (off_t)slot * DARKROOM_CRASH_RECORD);
    (void)written;
}

static void mark_still(void)
{
    const uint64_t still = (uint64_t)DARKROOM_CRASH_STILL * 1000000000u;
    const uint64_t turn = atomic_load_explicit(&turned, memory_order_relaxed);
    const uint64_t end = turn != 0 ? turn : now();
    const uint64_t begin = atomic_load_explicit(&turns_since, memory_order_relaxed);
    for (int slot = 0; slot < DARKROOM_CRASH_SLOTS; slot++) {
        const uint64_t step = atomic_load_explicit(&steps[slot], memory_order_relaxed);
        const uint64_t last = step > begin ? step : begin;
        if (step != 0 && end > last && end - last >= still)
            write_mark(slot, watchdog);
    }
}

/* Whether another process has sent the signal, and not the kernel or this process itself, for example by
 * abort(3). */
static int is_foreign(const siginfo_t *info)
{
    return info->si_code <= 0 && info->si_pid != getpid();
}

/* Does what would have happened without this file. The previous handler may return and expect the fault to
 * happen again. A signal of another process does not happen again, so the default action follows in each
 * case. */
static void hand_on(int number, siginfo_t *info, void *context, const struct sigaction *before)
{
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigemptyset(&standard.sa_mask);
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    }
    sigaction(number, &standard, NULL);
    /* The signal is blocked until the handler returns, and then delivered before the next instruction, with
     * all its information, for the core dump. */
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info) != 0)
        raise(number);
}

static void crashed(int number, siginfo_t *info, void *context)
{
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i].number != number)
            continue;
        if (!is_foreign(info)) {
            if (in_use(current - 1))
                write_mark(current - 1, signals[i].mark);
        } else if (number == SIGABRT) {
            mark_still();
        }
        hand_on(number, info, context, &former[i]);
        return;
    }
}

void darkroom_crash_watch(int fd)
{
    static atomic_flag installed = ATOMIC_FLAG_INIT;
    atomic_store(&records, fd);
    /* The handlers stay. With their own address in `former`, they would call themselves. */
    if (fd < 0 || atomic_flag_test_and_set(&installed))
        return;
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = crashed;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i].number, &action, &former[i]);
    }
}

/* The handlers' stacks of threads */

enum { STACK = 64 << 10 };

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static int has_key;

static void free_stack(void *memory)
{
    stack_t none;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, NULL);
    munmap(memory, STACK);
}

static void make_key(void)
{
    has_key = pthread_key_create(&stack_key, free_stack) == 0;
}

/* If there is no memory for a stack, only a stack overflow of this thread cannot be attributed. */
static void give_stack(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE))
        return;
    pthread_once(&stack_once, make_key);
    if (!has_key)
        return;
    void *memory = mmap(
        NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = memory;
    stack.ss_size = STACK;
    if (pthread_setspecific(stack_key, memory) != 0) {
        munmap(memory, STACK);
    } else if (sigaltstack(&stack, NULL) != 0) {
        pthread_setspecific(stack_key, NULL);
        munmap(memory, STACK);
    }
}

int darkroom_crash_enter(int slot)
{
    static _Thread_local int has_asked;
    if (!has_asked) {
        has_asked = 1;
        give_stack();
    }
    const int before = current - 1;
    current = slot + 1;
    return before;
}

int darkroom_crash_slot(void)
{
    return current - 1;
}

void darkroom_crash_turn(uint64_t period)
{
    const uint64_t time = now();
    const uint64_t last = atomic_load_explicit(&turned, memory_order_relaxed);
    if (last == 0 || time - last > 2 * period)
        atomic_store_explicit(&turns_since, time, memory_order_relaxed);
    atomic_store_explicit(&turned, time, memory_order_relaxed);
}

void darkroom_crash_step(int slot)
{
    if (slot >= 0 && slot < DARKROOM_CRASH_SLOTS)
        atomic_store_explicit(&steps[slot], now(), memory_order_relaxed);
}

void darkroom_crash_leave(int slot)
{
    if (slot >= 0 && slot < DARKROOM_CRASH_SLOTS)
        atomic_store_explicit(&steps[slot], 0, memory_order_relaxed);
}

/* The recursion never ends by itself. The compiler must not know this. */
static atomic_int depth_limit = INT32_MAX;

static int descend(int depth)
{
    volatile char page[4096];
    page[0] = (char)depth;
    if (depth >= atomic_load(&depth_limit))
        return page[0];
    return descend(depth + 1) + page[0];
}

void darkroom_crash_overflow(void)
{
    volatile int depth = descend(0);
    (void)depth;
}

/* The kernel refuses the access. With a null pointer, a compiler might draw conclusions. */
void darkroom_crash_fault(void)
{
    const long size = sysconf(_SC_PAGESIZE);
    volatile const char *page
        = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        (void)*page;
    raise(SIGSEGV);
}
