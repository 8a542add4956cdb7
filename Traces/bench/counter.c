// What any tracer with times has to do: two readings of the CPU's counter a call.
#include <stdint.h>

static __thread uint64_t last __attribute__((tls_model("initial-exec")));

static inline void read_counter(void) {
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    last = (uint64_t)high << 32 | low;
#else
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(last));
#endif
}

void __cyg_profile_func_enter(void *function, void *call_site) {
    (void)function, (void)call_site;
    read_counter();
}

void __cyg_profile_func_exit(void *function, void *call_site) {
    (void)function, (void)call_site;
    read_counter();
}
