/* Code that runs before any library of the program. It is in C, because Swift code cannot run so early. It is
 * a separate target, because only darkroomd may contain it. */
#ifndef CDARKROOM_START_H
#define CDARKROOM_START_H

/* Unblocks all signals, if the command line does not start a daemon. Signals sent in the meantime take effect
 * now. */
void darkroom_start_unblock(void);

#endif
