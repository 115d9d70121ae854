/* What the program does before any library of it. It is in C, because Swift code cannot run so early. It is a
 * separate target, because no other program may contain it. */
#ifndef CDARKROOM_ENTRY_H
#define CDARKROOM_ENTRY_H

#include <stdbool.h>

/* The arguments of main(): the name of the program and those after it. Swift reads them from /proc, which a
 * chroot may lack. */
char *const *darkroom_entry_arguments(int *count);

/* Whether the program was started under the name darkroomd, in whatever folder. */
bool darkroom_entry_is_daemon(void);

/* Unblocks all signals, if the command line does not start a daemon. Signals sent in the meantime take effect
 * now. */
void darkroom_start_unblock(void);

#endif
