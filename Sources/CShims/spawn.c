#define _GNU_SOURCE
#include "darkroom_spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int darkroom_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

pid_t darkroom_spawn(
    const char *program, char *const arguments[], char *const environment[], int output)
{
    pid_t parent = getpid();
    pid_t child = fork();
    if (child != 0)
        return child;
    int input = open("/dev/null", O_RDONLY);
    /* The parent may have ended before this call. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || input < 0
        || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0
        || dup2(output, STDERR_FILENO) < 0)
        _exit(127);
    execve(program, arguments, environment);
    _exit(127);
}
