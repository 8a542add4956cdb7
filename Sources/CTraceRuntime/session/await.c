// What the process asks the recorder for. Long calls lie behind the slots' words, the newest in place of the oldest.

#include "await.h"
#include "../host/runtime.h"
#include "../host/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

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

// Waiting for the recorder to give a slot back. Where threads keep all processors busy, the recorder gets too little
// processor time to give buffers back as fast as they are filled. Then ever more fresh pages are touched, which takes
// more processor time than the hooks do. So a thread that finds no buffer waits for one, and gives up the processor
// that the recorder lacks. A thread waits long only for a recorder that says that it gets no processor. A recorder that
// is late and says nothing may be stopped, or may be waiting for the disk. For such a recorder, a thread waits briefly;
// after that, no thread waits until the recorder announces itself.

#define READY_SLOTS 32u  // are used before anybody waits
#define LATE 2           // ms: a recorder that is this late may be waiting for a processor
#define LOOK 10000000u   // ns after which a thread that nobody wakes looks for itself
// How long a thread waits at most, in ms.
#define PATIENCE 1000u  // for a recorder that says that it waits for a processor
#define DOUBT 50u       // for a recorder that is late and says nothing

static uint32_t milliseconds(void) { return (uint32_t)(system_monotonic_ns() / 1000000u); }

void await_expect_recorder(void) {
    fathom_store32(&runtime.buffers->recorder_due, (milliseconds() + 1) << FATHOM_DUE_SHIFT);
}

// How long to wait for the recorder, in ms: 0 if it seems to be well, or says nothing of when it will look again.
static uint32_t patience(uint32_t due, uint32_t now) {
    if (!due || fathom_load32(&runtime.buffers->recorder_waits)) return 0;
    if (due & FATHOM_DUE_STARVING) return PATIENCE;
    return (int32_t)((now << FATHOM_DUE_SHIFT) - due) >= LATE << FATHOM_DUE_SHIFT ? DOUBT : 0;
}

// The recorder that this process can see in /proc; 0: none, because there is no /proc, or it is another container's.
static uint32_t seen;

// Whether the recorder is known to have ended, perhaps without having said so. An ended process has no program, even
// while its parent has not asked for its end.
static int is_gone(void) {
    uint32_t recorder = fathom_load32(&runtime.buffers->recorder_pid);
    char path[sizeof "/proc//exe" + 10] = "/proc/", program;
    if (!recorder) return 1;
    __builtin_memcpy(text_append_number(path + sizeof "/proc/" - 1, recorder), "/exe", sizeof "/exe");
    if (system_read_link(path, &program, sizeof program) == -ENOENT) return seen == recorder;
    seen = recorder;
    return 0;
}

void await_see_recorder(void) { is_gone(); }

static int has_free_slot(uint32_t high) {
    for (uint32_t slot = 0; slot < high; slot++)
        // Relaxed: the thread that takes the slot looks again.
        if (__atomic_load_n(&runtime.words[slot], __ATOMIC_RELAXED) == FATHOM_SLOT_FREE) return 1;
    return 0;
}

static int is_realtime(void) {
    long policy = system_scheduler();
    return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

void await_slot(const uint32_t *events, uint32_t enough) {
    struct fathom_buffers *buffers = runtime.buffers;
    uint32_t high = fathom_load32(&buffers->slot_high);
    if (runtime.head.ring_slots) return;  // the recorder empties nothing
    if (high < READY_SLOTS || high > runtime.slot_limit || has_free_slot(high)) return;
    uint32_t first = fathom_load32(&buffers->recorder_due), due = first, begin = milliseconds();
    uint32_t most = patience(first, begin);
    if (!most || is_realtime()) return;
    while (!is_gone()) {
        system_await(&buffers->recorder_due, due, LOOK);
        // Relaxed: only handlers of the same thread raise it, and they have returned.
        if (has_free_slot(high) || __atomic_load_n(events, __ATOMIC_RELAXED) >= enough) return;
        due = fathom_load32(&buffers->recorder_due);
        if (due & FATHOM_DUE_STARVING) most = PATIENCE;
        if (milliseconds() - begin >= most) break;
    }
    // The recorder is stopped, killed, or held up by a disk. No thread waits any more until it announces itself again.
    if (due == first) fathom_swap32(&buffers->recorder_due, due, 0);
}

FATHOM_WITHOUT_HOOKS_END
