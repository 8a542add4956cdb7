// What the process asks the recorder for. Requests lie in the head of the buffers, the newest in place of the oldest.

#include "requests.h"

#include "await.h"

FATHOM_WITHOUT_HOOKS

void requests_wake(void) {
    struct fathom_buffers *buffers = runtime.buffers;
    if (!fathom_load32(&buffers->recorder_waits)) return;
    await_expect_recorder();
    if (fathom_swap32(&buffers->recorder_waits, 1, 0)) system_wake(&buffers->recorder_waits);
}

void requests_save(uint32_t thread, const struct fathom_long_call *call) {
    struct fathom_buffers *buffers = runtime.buffers;
    if (!buffers->ring_slots) return;
    uint32_t number = fathom_add32(&buffers->request_count, 1);
    struct fathom_ring_request *request = &buffers->requests[number % FATHOM_RING_REQUEST_LIMIT];
    // The number tells the recorder that the rest is whole. Two threads that write into one place, because as many
    // requests as there are places came in between, leave a request with a wrong call at worst.
    fathom_store32(&request->number, 0);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    request->process = runtime.process;
    request->thread = thread;
    request->call = call ? *call : (struct fathom_long_call){0, now_ticks(), 0};
    fathom_store32(&request->number, number + 1);
    requests_wake();
}

FATHOM_WITHOUT_HOOKS_END
