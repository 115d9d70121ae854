#include "conversation.h"

#include <errno.h>

/* The allocation of memory, as the C library has it, for the libraries, too: a child that gets none says so and ends.
 * Otherwise a library may say that the picture is damaged, or end by a signal. */

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
/* The sanitizers have an allocation of their own. */
#define IS_SANITIZED
#endif
#endif

#ifndef IS_SANITIZED

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static void *checked(void *memory, size_t bytes)
{
    if (!memory && bytes > 0) conversation_without_memory(bytes);
    return memory;
}

void *malloc(size_t bytes) { return checked(__libc_malloc(bytes), bytes); }

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) all = SIZE_MAX;
    return checked(__libc_calloc(count, bytes), all);
}

void *realloc(void *memory, size_t bytes) { return checked(__libc_realloc(memory, bytes), bytes); }

void *memalign(size_t alignment, size_t bytes) { return checked(__libc_memalign(alignment, bytes), bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) { return checked(__libc_memalign(alignment, bytes), bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes)
{
    bool is_power = alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0;
    if (!is_power) return EINVAL;
    int former = errno;
    void *memory = checked(__libc_memalign(alignment, bytes), bytes);
    errno = former;
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

#endif
