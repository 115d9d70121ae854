/* epoll(7) and eventfd(2), which Swift's Glibc module does not contain. Each call returns the system's result
 * and leaves its errno. */
#ifndef DARKROOM_POLL_H
#define DARKROOM_POLL_H

#include <stdint.h>

/* What a socket is ready for, or is watched for: EPOLLIN, EPOLLOUT, and EPOLLERR or EPOLLHUP, which are
 * always reported. */
enum { DARKROOM_POLL_IN = 1, DARKROOM_POLL_OUT = 2, DARKROOM_POLL_BROKEN = 4 };

/* A file that is ready, with the number that its owner gave when it was watched. */
struct darkroom_poll_event {
    uint32_t owner;
    int32_t file;
    uint32_t ready;
};

/* epoll_create1(2), close-on-exec. */
int darkroom_poll_create(void);

/* Watches `file` from now on, instead of what it was watched for before. */
int darkroom_poll_watch(int poll, int file, uint32_t owner, uint32_t flags);

/* This must precede the closing of the file, because another file may soon have its number. */
void darkroom_poll_forget(int poll, int file);

/* Waits until something is ready, for at most `milliseconds`, or without limit if this is negative. Returns
 * the number of written events, at most `count`. Further ones follow with the next call. */
int darkroom_poll_wait(int poll, struct darkroom_poll_event *events, int count, int milliseconds);

/* eventfd(2), non-blocking and close-on-exec: a counter that is ready for reading while it is not 0. */
int darkroom_poll_wakeup(void);

#endif
