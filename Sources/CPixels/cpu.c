#include "darkroom_cpu.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The level plus one; 0 before the first call. */
static atomic_int found;
static atomic_int limit = DARKROOM_CPU_AVX512;

static darkroom_cpu look(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("fma")) {
        const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
        return has_512 ? DARKROOM_CPU_AVX512 : DARKROOM_CPU_AVX2;
    }
#endif
    return DARKROOM_CPU_SCALAR;
}

darkroom_cpu darkroom_cpu_level(void)
{
    int level = atomic_load_explicit(&found, memory_order_relaxed) - 1;
    if (level < 0) {
        level = (int)look();
        atomic_store_explicit(&found, level + 1, memory_order_relaxed);
    }
    const int most = atomic_load_explicit(&limit, memory_order_relaxed);
    return (darkroom_cpu)(level < most ? level : most);
}

void darkroom_cpu_limit(darkroom_cpu level)
{
    atomic_store_explicit(&limit, (int)level, memory_order_relaxed);
}
