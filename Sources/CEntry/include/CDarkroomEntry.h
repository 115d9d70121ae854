/* What both programs do before any library of theirs. It is in C, because Swift code cannot run so early. It is a
 * separate target, because no other program may contain it. */
#ifndef CDARKROOM_ENTRY_H
#define CDARKROOM_ENTRY_H

/* The arguments of main(): the name of the program and those after it. Swift reads them from /proc, which a
 * chroot may lack. */
char *const *darkroom_entry_arguments(int *count);

#endif
