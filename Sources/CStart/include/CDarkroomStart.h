/* What the program does before any library that it uses has begun. In C, for Swift has no place so early; a target of its
 * own, for it is to be in darkroomd and in no other program. */
#ifndef CDARKROOM_START_H
#define CDARKROOM_START_H

/* Restores the mask of signals that the program was started with, where its command line asks for no daemon: what was
 * sent meanwhile acts now. */
void darkroom_start_unblock(void);

#endif
