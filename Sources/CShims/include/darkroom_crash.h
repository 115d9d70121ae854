/*
 * Attributes crashes: when a signal ends the process, the name of the signal is written into the record of
 * the picture for which the crashing thread worked. See `Attempts`, which owns the file of the records.
 *
 * It is written in C, because a signal handler must not do what Swift's runtime might do: allocate, lock,
 * retain. The handler reads thread-local and atomic numbers and calls pwrite(2).
 */
#ifndef DARKROOM_CRASH_H
#define DARKROOM_CRASH_H

#include <stdint.h>

/* The length of a record in the file, and of the mark at its beginning: a word, padded with spaces. */
enum { DARKROOM_CRASH_RECORD = 512, DARKROOM_CRASH_MARK = 16 };

/* The maximum number of records that can be marked. */
enum { DARKROOM_CRASH_SLOTS = 4096 };

/* The watchdog's signal marks a picture that has taken no step for this time, in seconds. */
enum { DARKROOM_CRASH_STILL = 10 };

/*
 * From now on, writes crashes to `fd`, which must stay open. Installs handlers for SEGV, BUS, ILL, TRAP, FPE,
 * ABRT and SYS. Each calls the previous handler, for sanitizers and Swift's backtraces, and then has the
 * signal delivered again to end the process, so that core dumps are the same as without the handler.
 *
 * SIGABRT from another process is the service manager's watchdog: it marks, with `watchdog`, all records in
 * use whose picture has taken no step for DARKROOM_CRASH_STILL seconds. Other signals from other processes
 * mark nothing.
 *
 * With -1, crashes are not written any more, until the next call. The handlers stay.
 */
void darkroom_crash_watch(int fd);

/* From now on, this thread works for the picture of record `slot`, or for none if it is -1. Returns the
 * previous slot. The first call in a thread creates a stack for handlers, so that a stack overflow can be
 * recorded too. */
int darkroom_crash_enter(int slot);

/* The slot for which this thread works, or -1. */
int darkroom_crash_slot(void);

/* Reports that the whole process makes progress. It is called every `period` nanoseconds. After the first
 * call, a picture counts as still up to the last call and not up to the signal, and only from the last time
 * that a call came much too late: if nothing made progress, no picture is to blame. */
void darkroom_crash_turn(uint64_t period);

/* The picture of this record has taken a step. The first step puts the record into use. */
void darkroom_crash_step(int slot);

/* The record is not in use any more. */
void darkroom_crash_leave(int slot);

/* For tests: uses up this thread's stack; reads where nothing is. */
void darkroom_crash_overflow(void);
void darkroom_crash_fault(void);

#endif
