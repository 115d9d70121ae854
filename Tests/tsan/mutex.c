/* Shows Swift's Mutex to the thread sanitizer. Preloaded into the programs that it watches.
 *
 * Synchronization.Mutex takes an uncontended lock by an atomic exchange that is compiled into its
 * user, where the sanitizer sees it. A contended one goes through these two functions of
 * libswiftSynchronization, which is not instrumented and waits in the kernel: the sanitizer misses
 * that the lock changed hands and reports races in what it guards. Here both are called as ever,
 * and the sanitizer is told what they did, which hides nothing: a suppression that matches
 * withLock would hide every race of which one side holds a lock.
 *
 * Where a later Swift names them otherwise, the false reports are back, and the test fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

/* sanitizer/tsan_interface.h; absent from programs that are preloaded by the way. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef SWIFT void lock_function(uint32_t thread, SELF void *handle);
typedef SWIFT void unlock_function(SELF void *handle);

SWIFT void lock_slow(uint32_t thread, SELF void *handle) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *handle) __asm__(UNLOCK_SLOW);

static lock_function *next_lock;
static unlock_function *next_unlock;

__attribute__((constructor)) static void find_next(void)
{
    next_lock = (lock_function *)dlsym(RTLD_NEXT, LOCK_SLOW);
    next_unlock = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

SWIFT void lock_slow(uint32_t thread, SELF void *handle)
{
    next_lock(thread, handle);
    if (__tsan_acquire)
        __tsan_acquire(handle);
}

SWIFT void unlock_slow(SELF void *handle)
{
    if (__tsan_release)
        __tsan_release(handle);
    next_unlock(handle);
}
