// What the process asks the recorder for. Long calls lie behind the slots' words, the newest in place of the oldest.

#include "requests.h"

#include "await_slot.h"

FATHOM_WITHOUT_HOOKS

void requests_wake(void) {
    struct fathom_buffers *buffers = runtime.buffers;
    if (!fathom_load32(&buffers->recorder_waits)) return;
    await_expect_recorder();
    if (fathom_swap32(&buffers->recorder_waits, 1, 0)) system_wake(&buffers->recorder_waits);
}

void requests_save(void) {
    if (!runtime.head.ring_slots) return;
    fathom_add32(&runtime.buffers->save_count, 1);
    requests_wake();
}

void requests_tell(uint32_t thread, const struct fathom_long_call *call, uint32_t conditions) {
    struct fathom_buffers *buffers = runtime.buffers;
    if (!runtime.head.ring_slots) return;
    uint32_t number = fathom_add32(&buffers->request_count, 1);
    // The recorder gave these pages their memory.
    struct fathom_ring_request *requests = (void *)((char *)buffers + runtime.requests_offset);
    struct fathom_ring_request *request = &requests[number % FATHOM_RING_REQUEST_LIMIT];
    // The number tells the recorder that the rest is whole. Two threads that write into one place, because as many
    // requests as there are places came in between, leave a request with a wrong call at worst.
    fathom_store32(&request->number, 0);
    // Release: a recorder that finds a word of the new request finds, when it looks again, that the number is another.
    __atomic_thread_fence(__ATOMIC_RELEASE);
    request->process = runtime.process;
    request->thread = thread;
    request->conditions = conditions;
    request->call = *call;
    // What led to the call is not written over until the recorder has looked: programs use other slots meanwhile.
    fathom_store32(&buffers->ring_held, 1);
    fathom_store32(&request->number, number + 1);
    requests_wake();
}

FATHOM_WITHOUT_HOOKS_END
