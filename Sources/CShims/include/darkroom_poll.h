/* epoll(7) and eventfd(2), which Swift's Glibc module leaves out. Each call returns what the system's
 * returns and leaves errno as it was set. */
#ifndef DARKROOM_POLL_H
#define DARKROOM_POLL_H

#include <stdint.h>

/* What a socket is ready for, or is to be watched for: EPOLLIN, EPOLLOUT, and EPOLLERR or EPOLLHUP, which
 * are told of whatever is watched for. */
enum { DARKROOM_POLL_IN = 1, DARKROOM_POLL_OUT = 2, DARKROOM_POLL_BROKEN = 4 };

/* A file that is ready, with the number its owner gave when it was watched. */
struct darkroom_poll_event {
    uint32_t owner;
    int32_t file;
    uint32_t ready;
};

/* epoll_create1(2), close-on-exec. */
int darkroom_poll_create(void);

/* Tells of `file` from now on, in place of what it was watched for before. */
int darkroom_poll_watch(int poll, int file, uint32_t owner, uint32_t flags);

/* Must come before the file is closed, whose number may soon be that of another. */
void darkroom_poll_forget(int poll, int file);

/* Waits until something is ready, at most so many milliseconds, for ever if that is negative. Returns how
 * many events it has written, `count` at most; further ones come with the next call. */
int darkroom_poll_wait(int poll, struct darkroom_poll_event *events, int count, int milliseconds);

/* eventfd(2), non-blocking and close-on-exec: a counter that is ready for reading while it is not 0. */
int darkroom_poll_wakeup(void);

#endif
