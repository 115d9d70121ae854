/*
 * The control signals are blocked as the first act of the process: with their default action, one that comes before
 * the daemon has its handlers would end it. A signal that is blocked stays pending, and acts when the handlers stand.
 *
 * The dynamic loader calls what is in .preinit_array when all libraries are mapped, and before it initializes any of
 * them: that is the earliest moment a program has. main() comes some milliseconds later, after those of Foundation,
 * OpenSSL and others. What remains is the loader's own time after execve(2), in which only whoever starts the program
 * could block signals, for a mask is inherited; service managers do not.
 *
 * So early no library may be relied on, nor what a sanitizer puts into functions: the kernel is asked directly, with
 * masks of its own kind.
 */
#define _GNU_SOURCE
#include "CDarkroomStart.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(number) ((uint64_t)1 << ((number) - 1))

static uint64_t inherited;

__attribute__((disable_sanitizer_instrumentation)) static void block(void)
{
    const uint64_t control = BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGHUP) | BIT(SIGTERM) | BIT(SIGINT);
    /* There is one thread yet, and each later one inherits its mask. */
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &control, &inherited, sizeof inherited);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = block;

void darkroom_start_unblock(void)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &inherited, NULL, sizeof inherited);
}
