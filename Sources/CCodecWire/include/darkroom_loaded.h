/* What tells a program and its libraries from others of the same version. */
#ifndef DARKROOM_LOADED_H
#define DARKROOM_LOADED_H

#include <stdint.h>

/* A number of the files that are loaded into this process: their build IDs, or the size and the time of a file without one.
 * A library that is replaced by one of the same version, as a security update does, has another number. What is on the disk
 * in its place does not matter: a process keeps what it has loaded.
 *
 * Of the libraries, those count whose file names begin with one of `names`, which ends with NULL; all of them if `names` is
 * NULL. The program counts always, and the kernel's part never. */
uint64_t darkroom_loaded_identity(const char *const *names);

#endif
