#ifndef DARKROOM_CODEC_CONFINE_H
#define DARKROOM_CODEC_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>

/* The list of permitted system calls, as the kernel takes it. */
typedef struct {
    struct sock_filter *program;
    unsigned short length;
} confine_filter;

/* Prepares the list for children. False if the system has none. */
bool confine_prepare(confine_filter *filter, bool has_threads, bool reads_source);
/* The waiting process: no new privileges, no files. It still forks, and receives descriptors. */
void confine_waiting(void);
/* A child, before the first byte of a picture: ends the process if something is refused. It has `base` bytes, and may have
 * so many more `at_first` and `at_most`. */
void confine_child(const confine_filter *filter, uint64_t base, uint64_t at_first, uint64_t at_most, uint32_t seconds);
/* What this process has mapped, in bytes. */
uint64_t confine_mapped(void);

#endif
