/*
 * Who crashed: when a signal ends the process, the name of the signal is written into the record of the
 * picture that the crashing thread worked for. See `Attempts`, which owns the file of the records.
 *
 * In C, for a signal handler may do nothing that Swift's runtime might do: allocate, lock, retain. The
 * handler reads thread-local and atomic numbers and calls pwrite(2).
 */
#ifndef DARKROOM_CRASH_H
#define DARKROOM_CRASH_H

#include <stdint.h>

/* A record's length in the file, and that of the mark it begins with: a word, padded with spaces. */
enum { DARKROOM_CRASH_RECORD = 512, DARKROOM_CRASH_MARK = 16 };

/* The most records that can be marked. */
enum { DARKROOM_CRASH_SLOTS = 4096 };

/* How long a picture must have taken no step, in seconds, for the watchdog's signal to mark it. */
enum { DARKROOM_CRASH_STILL = 10 };

/* Lets crashes be written into `fd`, which must stay open, from now on. Handlers for SEGV, BUS, ILL, TRAP,
 * FPE, ABRT and SYS are installed; each calls the handler it found, for sanitizers and Swift's backtraces,
 * and then has the signal delivered again to end the process, so that core dumps show what they would
 * have shown.
 *
 * SIGABRT of another process is the service manager's watchdog: it marks, with `watchdog`, all records in
 * use whose picture has taken no step for DARKROOM_CRASH_STILL seconds. Another signal sent by another
 * process marks nothing. */
void darkroom_crash_watch(int fd);

/* This thread works for the picture of record `slot` from now on, or for none where it is -1. Returns
 * whom it worked for before. The first call of a thread gives it a stack for handlers, so that a stack
 * overflow can be written down too. */
int darkroom_crash_enter(int slot);

/* Whom this thread works for, or -1. */
int darkroom_crash_slot(void);

/* The process as a whole turns, as it does every `period` nanoseconds. Once this has been called, a picture counts as
 * still up to the last call and not up to the signal, and from the last time that a call came much too late: where
 * nothing turned, no picture is to blame. */
void darkroom_crash_turn(uint64_t period);

/* The picture of this record has taken a step; the first one takes the record into use. */
void darkroom_crash_step(int slot);

/* The record is not in use any more. */
void darkroom_crash_leave(int slot);

/* For tests: uses up this thread's stack; reads where nothing is. */
void darkroom_crash_overflow(void);
void darkroom_crash_fault(void);

#endif
