/* Starts a child that ends with its parent, which posix_spawn(3) cannot do: between fork and exec, only calls
 * that are safe after the fork of a process with threads may be made, and Swift makes others. */
#ifndef DARKROOM_SPAWN_H
#define DARKROOM_SPAWN_H

#include <sys/types.h>

/* Runs `program` with standard output and error going to `output` and without input. It has the signals
 * blocked that the calling thread has blocked, so signals that the program waits for cannot kill it before it
 * does. The kernel kills it when the calling thread ends. Returns its process ID, or -1 with errno set. A
 * program that cannot be run ends with 127. */
pid_t darkroom_spawn(
    const char *program, char *const arguments[], char *const environment[], int output);

/* From now on, processes whose parent has ended become children of this one, if that parent was below it. 0, or -1 with
 * errno set. */
int darkroom_adopt_orphans(void);

#endif
