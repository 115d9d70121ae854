/*
 * Blocks the control signals as the first action of a daemon. With their default action, a signal before
 * the daemon's handlers would end it. A blocked signal stays pending, and takes effect when the handlers
 * exist.
 *
 * The dynamic loader calls the functions in .preinit_array when all libraries are mapped, before it
 * initializes any of them: this is the earliest moment for a program. main() begins some milliseconds later,
 * after the initializers of Foundation, OpenSSL and others. The loader's own time after execve(2) remains: it
 * maps and relocates forty libraries, for five to fifteen milliseconds, before any instruction of the program.
 * During it, only the process that starts the program could block signals, because a mask is inherited;
 * service managers do not do this. A signal then ends a process that has opened and locked nothing, and has
 * taken nothing from the spool, as if it had not been started. systemd counts the end by SIGTERM as a clean
 * one (SuccessExitStatus= in systemd.service(5)), so that a stop at this moment is no failure of the unit.
 *
 * So early, no library may be used, nor code that a sanitizer adds to functions: the code calls the kernel
 * directly, with the kernel's own type of masks.
 */
#define _GNU_SOURCE
#include "start.h"

#include "CDarkroomEntry.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(number) ((uint64_t)1 << ((number) - 1))

__attribute__((disable_sanitizer_instrumentation)) void darkroom_start_block(void)
{
    const uint64_t control = BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGHUP) | BIT(SIGTERM) | BIT(SIGINT);
    /* There is only one thread now, and each later one inherits its mask. What the parent has blocked is not
     * blocked any more: a program with many threads may start others from one that blocks all signals. */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &control, NULL, sizeof control);
}

void darkroom_start_unblock(void)
{
    const uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}
