#ifndef CDARKROOM_START_H
#define CDARKROOM_START_H

/* Blocks the control signals of a daemon. Calls only the kernel. */
void darkroom_start_block(void);

#endif
