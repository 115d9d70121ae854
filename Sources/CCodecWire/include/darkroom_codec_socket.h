/* Sockets of whole messages, with descriptors, and the start of a waiting process. Swift cannot call these. */
#ifndef DARKROOM_CODEC_SOCKET_H
#define DARKROOM_CODEC_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "darkroom_codec_wire.h"

enum { DARKROOM_CODEC_DESCRIPTORS = 3 };

/* Two ends of a socket, closed at exec. 0, or -1 with errno. */
int darkroom_codec_pair(int ends[2]);

/* Memory of this size that can be shared, and that nobody can make larger or smaller. -1 with errno if there is none. */
int darkroom_codec_memory(size_t bytes);

/* Sends a message with up to DARKROOM_CODEC_DESCRIPTORS descriptors. False with errno if it is not sent: EPIPE or
 * ECONNRESET if the other side is gone. */
bool darkroom_codec_send(int socket, const darkroom_codec_message *message, const int *descriptors, int count);

/* Sends a message without waiting. False with errno if it is not sent: the same, or EAGAIN if the other side has left so
 * many unread that there is no room. */
bool darkroom_codec_post(int socket, const darkroom_codec_message *message);

typedef enum {
    DARKROOM_CODEC_HEARD = 1,
    /* Nothing has come within the time. */
    DARKROOM_CODEC_SILENT = 2,
    /* The other side is gone. */
    DARKROOM_CODEC_GONE = 3,
    /* What came has the size of no message. */
    DARKROOM_CODEC_NONSENSE = 4,
    /* The system could not look or take it; errno says why. The other side may be there. */
    DARKROOM_CODEC_REFUSED = 5,
} darkroom_codec_heard;

/* Waits for a message for at most `milliseconds`, or without end if they are negative. */
darkroom_codec_heard darkroom_codec_hear(int socket, darkroom_codec_message *message, int milliseconds);

/* Starts the program with `control` as DARKROOM_CODEC_CONTROL and no other descriptor but /dev/null as its standard
 * streams. Returns its process ID, or -1 with errno. A program that cannot be run ends with 127; one for which the system
 * lacks memory or files ends with DARKROOM_CODEC_NOT_BEGUN. */
pid_t darkroom_codec_start(const char *program, int control);

#endif
