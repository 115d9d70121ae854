/* For functions with simple loops, of which the compiler makes a version for each kind of processor. */
#ifndef DARKROOM_PROCESSOR_H
#define DARKROOM_PROCESSOR_H

/* The loader chooses the version. What such a function calls must be inlined.
 *
 * The choice is made by code that runs before anything else. A thread sanitizer has put its calls into that code and is
 * not ready for them, so such a program would crash at its start: it has the version for all processors. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DARKROOM_FOR_PROCESSOR
#endif
#endif
#if !defined(DARKROOM_FOR_PROCESSOR)
#if defined(__x86_64__)
#define DARKROOM_FOR_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define DARKROOM_FOR_PROCESSOR
#endif
#endif

#endif
