#include "darkroom_poll.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { MOST_EVENTS = 256 };

int darkroom_poll_create(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

int darkroom_poll_watch(int poll, int file, uint32_t owner, uint32_t flags)
{
    struct epoll_event event;

    event.events = 0;
    if (flags & DARKROOM_POLL_IN)
        event.events |= EPOLLIN;
    if (flags & DARKROOM_POLL_OUT)
        event.events |= EPOLLOUT;
    event.data.u64 = (uint64_t)owner << 32 | (uint32_t)file;
    /* Most files are watched for the first time. The kernel knows the others. */
    if (epoll_ctl(poll, EPOLL_CTL_ADD, file, &event) == 0)
        return 0;
    return errno == EEXIST ? epoll_ctl(poll, EPOLL_CTL_MOD, file, &event) : -1;
}

void darkroom_poll_forget(int poll, int file)
{
    (void)epoll_ctl(poll, EPOLL_CTL_DEL, file, NULL);
}

int darkroom_poll_wait(int poll, struct darkroom_poll_event *events, int count, int milliseconds)
{
    struct epoll_event ready[MOST_EVENTS];
    int found = epoll_wait(poll, ready, count < MOST_EVENTS ? count : MOST_EVENTS, milliseconds);

    for (int i = 0; i < found; i++) {
        uint32_t flags = ready[i].events;

        events[i].owner = (uint32_t)(ready[i].data.u64 >> 32);
        events[i].file = (int32_t)(uint32_t)ready[i].data.u64;
        events[i].ready = 0;
        if (flags & EPOLLIN)
            events[i].ready |= DARKROOM_POLL_IN;
        if (flags & EPOLLOUT)
            events[i].ready |= DARKROOM_POLL_OUT;
        if (flags & (EPOLLERR | EPOLLHUP))
            events[i].ready |= DARKROOM_POLL_BROKEN;
    }
    return found;
}

int darkroom_poll_wakeup(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}
