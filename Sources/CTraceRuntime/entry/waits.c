// Calls that wait, and what ends waits, as the functions that stand before those of the C library report them.
//
// A wait is recorded as a call when it is over. Both records of the call are written then, with the times at which the
// wait began and ended. So a thread that waits has no call open that a cancellation, a jump or a fork would have to
// end.

#include "../follow/process.h"
#include "../host/runtime.h"
#include "../record/away.h"
#include "../record/chunk.h"
#include "../record/put.h"
#include "../session/metadata.h"
#include "CTraceRuntime.h"
#include "busy.h"
#include "flows.h"

#include <sys/socket.h>

FATHOM_WITHOUT_HOOKS

// Room for the records of a wait and for what a handler may record meanwhile, in bytes. A change of chunks at the
// wait's end would cut off its beginning.
#define ROOM 1024u
// A part of a second: without a record for so long before a wait, the thread may have been away.
#define UNTOLD 5000u

static int is_recording(const struct thread *t) {
    return t->state == THREAD_ATTACHED && t->idle && control_mode() != MODE_UNKNOWN && control_mode() != MODE_OFF &&
           control_mode() != MODE_PAUSED;
}

static uint64_t flow_at(int descriptor, int is_out) {
    struct descriptor found = descriptor_look(descriptor);
    return flow_through(&found, is_out);
}

// What a writer waits for: room in a flow. A reader waits for the data of the flow, which has the flow's own number.
static uint64_t room_in(uint64_t flow) { return flow ? flow | FATHOM_WAIT_ROOM : 0; }

// How long the thread has held the locks that others have waited for, the newest last.
#define HELD_LIMIT 8u
static __thread struct {
    struct {
        uint64_t lock, ticks;
        uint32_t times;  // how often it is taken: a recursive lock may be taken again
    } locks[HELD_LIMIT];
    uint32_t count;
} held __attribute__((tls_model("initial-exec")));

// Who waits is counted before the wait, in sequentially consistent order, which costs little beside a wait: nobody
// sleeps uncounted. Who ends waits only looks whether a count is 0, and reads nothing else because of it, so that is
// relaxed. A wait that begins just after that look has no end that is told of.
static void count_flows(uint32_t flows, uint32_t change) {
    if (flows & FATHOM_FLOW_DATA) __atomic_fetch_add(&runtime.buffers->data_waiters, change, __ATOMIC_SEQ_CST);
    if (flows & FATHOM_FLOW_ROOM) __atomic_fetch_add(&runtime.buffers->room_waiters, change, __ATOMIC_SEQ_CST);
}

struct fathom_wait_begin fathom_wait_may_begin(void) {
    return (struct fathom_wait_begin){.ticks = is_recording(&current) ? now_ticks() : 0};
}

struct fathom_wait_begin fathom_wait_begins(uint32_t kind, uint64_t object, uint32_t flows) {
    struct fathom_wait_begin begin = {0, 0, flows, object != 0};
    struct thread *t = &current;
    if (!is_recording(t)) return begin;
    struct writer *w = writer_of(t);
    // What the thread was away before is to be told before the wait is.
    int is_full = w->limit && w->cursor + ROOM >= w->limit;
    if (is_full || (away_is_asked_for() && now_ticks() - t->last >= runtime.ticks_per_second / UNTOLD)) {
        t = begin_note();
        if (!t) return begin;
        uint64_t now = now_ticks();
        w = writer_of(t);
        if (is_full && w->chunk && !w->wanted_limit) chunk_finish(t, now);
        put_room(t, &now);
        end_note(t);
    }
    if (object) {
        uint32_t *waiters = fathom_waiters_of(object);
        // Relaxed: whoever finds the count in the word, which is raised next, finds this bit, too.
        if (kind == FATHOM_WAIT_MUTEX || kind == FATHOM_WAIT_RWLOCK)
            __atomic_fetch_or(waiters, FATHOM_CONTENDED, __ATOMIC_RELAXED);
        __atomic_fetch_add(waiters, 1, __ATOMIC_SEQ_CST);
    }
    count_flows(flows, 1);
    if (away_is_asked_for() && !confine_unnoted()) begin.processor_ns = system_processor_ns();
    begin.ticks = now_ticks();
    return begin;
}

// Whether the call is open already, because it came by a slot (library_calls.c). The function that stands before the C
// library's has saved the frame pointer below its return address.
static int is_open(const struct thread *t, struct fathom_place place) {
#if defined(__x86_64__)
    return is_function(t->top) && t->top->function == place.function &&
           frame_sp(t->top) == place.stack_pointer + sizeof(uintptr_t);
#else
    (void)t, (void)place;
    return 0;
#endif
}

// Records a call from `begin` to `end`, and within it a wait, or what ends a wait of another thread.
static void tell_call(uint64_t begin, uint64_t end, struct told wait, struct fathom_place place) {
    // A child of vfork has its parent's memory, but none of its waits is the parent's.
    if (!runtime_records()) return;
    struct thread *t = begin_note();
    if (!t) return;
    struct writer *w = writer_of(t);
    w->away.is_told = 1;
    struct event enter = {place.stack_pointer, {{place.function, place.call_site, 0, NULL}}, HOOK_ENTER, 0};
    struct event told = {.stack_pointer = place.stack_pointer, .told = wait, .hook = HOOK_TOLD};
    struct event exit = {place.stack_pointer, {{place.function, place.call_site, 0, NULL}}, HOOK_EXIT, 0};
    if (is_open(t, place)) {
        side_follow(t, &told, end);
    } else {
        side_follow(t, &enter, begin);
        side_follow(t, &told, begin);
        side_follow(t, &exit, end);
    }
    w->away.is_told = 0;
    if (away_is_asked_for()) away_begin(t);
    end_note(t);
}

// Notes what was waited for through descriptors. The one that was ready is that which is named, as a rule.
static void tell_descriptors(struct fathom_named_wait *named, struct fathom_waited waited) {
    int is_file = (waited.kind == FATHOM_WAIT_FILE_LOCK || waited.kind == FATHOM_WAIT_QUEUE) && waited.ready >= 0;
    struct descriptor found = {.number = -1};
    if (is_file || waited.flow != FATHOM_FLOW_NONE) found = descriptor_look(waited.ready);
    if (is_file) named->wait.object = file_behind(&found);
    else if (waited.flow == FATHOM_FLOW_DATA) named->wait.object = flow_through(&found, 0);
    else if (waited.flow == FATHOM_FLOW_ROOM) named->wait.object = room_in(flow_through(&found, 1));
    if (waited.descriptor < 0) return;
    if (found.number != waited.descriptor) found = descriptor_look(waited.descriptor);
    named->name = descriptor_name(&found);
}

void fathom_wait_ends(struct fathom_wait_begin begin, struct fathom_waited waited, struct fathom_place place) {
    if (!begin.ticks) return;
    uint64_t now = now_ticks();
    // Relaxed: where a count goes down late, something is told that ends nobody's wait.
    if (begin.is_counted) __atomic_fetch_sub(fathom_waiters_of(waited.object), 1, __ATOMIC_RELAXED);
    count_flows(begin.flows, (uint32_t)-1);
    unsigned __int128 taken = (unsigned __int128)(now - begin.ticks) * 1000000000u;
    if (taken < (unsigned __int128)waited.least * runtime.ticks_per_second || !is_recording(&current)) return;
    struct fathom_named_wait named = {
        {(uint16_t)waited.kind, (int16_t)waited.descriptor, FATHOM_WAIT_RAN_UNKNOWN, waited.object}, 0, 0};
    if (!confine_unnoted()) {
        if (begin.processor_ns) {
            uint64_t ran = system_processor_ns() - begin.processor_ns;
            named.wait.ran_ns = ran < FATHOM_WAIT_RAN_UNKNOWN ? (uint32_t)ran : FATHOM_WAIT_RAN_UNKNOWN - 1;
        }
        tell_descriptors(&named, waited);
    }
    tell_call(begin.ticks, now,
              told_of(FATHOM_WAIT, &named, named.name ? sizeof named : sizeof named.wait, TOLD_OF_CALL), place);
}

// The new thread may have run and ended by now, and the memory at `thread` may be gone with it.
void fathom_creation_ends(struct fathom_wait_begin begin, const void *thread, struct fathom_place place) {
    uint64_t now = now_ticks();
    if (!begin.ticks || !is_recording(&current) || confine_unnoted() || !system_is_readable(thread)) return;
    struct fathom_wait wake = {FATHOM_WAIT_CREATION, -1, FATHOM_WAIT_RAN_UNKNOWN, *(const volatile uint64_t *)thread};
    tell_call(begin.ticks, now, told_of(FATHOM_WAKE, &wake, sizeof wake, 0), place);
}

static void wake(uint32_t kind, uint64_t object, int descriptor, uint32_t ran) {
    if (!object || !runtime_records()) return;
    struct thread *t = begin_note();
    if (!t) return;
    struct fathom_wait wait = {(uint16_t)kind, (int16_t)descriptor, ran, object};
    struct event event = {
        .stack_pointer = t->hook_sp, .told = told_of(FATHOM_WAKE, &wait, sizeof wait, 0), .hook = HOOK_TOLD};
    side_follow(t, &event, now_ticks());
    end_note(t);
}

// Relaxed: see count_flows.
static int is_waited_for(uint64_t object) {
    return (__atomic_load_n(fathom_waiters_of(object), __ATOMIC_RELAXED) & ~FATHOM_CONTENDED) && is_recording(&current);
}

void fathom_note_wake(uint32_t kind, uint64_t object) {
    if (is_waited_for(object)) wake(kind, object, -1, FATHOM_WAIT_RAN_UNKNOWN);
}

// ---- locks

void fathom_note_taken(uint64_t lock) {
    if (!is_recording(&current)) return;
    for (uint32_t i = held.count; i-- > 0;) {
        if (held.locks[i].lock != lock) continue;
        held.locks[i].times++;
        return;
    }
    if (held.count == HELD_LIMIT) {
        // The oldest one may have been given back by another thread. If not, it is not known how long it is held.
        __builtin_memmove(held.locks, held.locks + 1, sizeof held.locks - sizeof *held.locks);
        held.count--;
    }
    held.locks[held.count].ticks = now_ticks();
    held.locks[held.count].times = 1;
    held.locks[held.count++].lock = lock;
}

void fathom_note_release(uint32_t kind, uint64_t lock) {
    uint32_t time = FATHOM_WAIT_RAN_UNKNOWN;
    for (uint32_t i = held.count; i-- > 0;) {
        if (held.locks[i].lock != lock) continue;
        if (--held.locks[i].times) return;
        uint64_t ticks = is_recording(&current) ? now_ticks() - held.locks[i].ticks : 0;
        time = fathom_held((uint64_t)((unsigned __int128)ticks * 1000000000u / runtime.ticks_per_second));
        __builtin_memmove(held.locks + i, held.locks + i + 1, (HELD_LIMIT - 1 - i) * sizeof *held.locks);
        held.count--;
        break;
    }
    if (is_waited_for(lock)) wake(kind, lock, -1, time);
}

// ---- descriptors

// Relaxed: see count_flows.
static int waits(const uint32_t *count) {
    return __atomic_load_n(count, __ATOMIC_RELAXED) && is_recording(&current) && !confine_unnoted();
}

void fathom_note_data(int descriptor) {
    if (waits(&runtime.buffers->data_waiters))
        wake(FATHOM_WAIT_DESCRIPTOR, flow_at(descriptor, 1), descriptor, FATHOM_WAIT_RAN_UNKNOWN);
}

void fathom_note_data_to(int descriptor, const void *address, uint32_t size) {
    if (waits(&runtime.buffers->data_waiters))
        wake(FATHOM_WAIT_DESCRIPTOR, flow_to(descriptor, address, size), descriptor, FATHOM_WAIT_RAN_UNKNOWN);
}

// The kernel reads the message next, and says so when it cannot.
void fathom_note_message(int descriptor, const void *message) {
    if (!waits(&runtime.buffers->data_waiters) || !system_can_read(message, sizeof(struct msghdr))) return;
    const struct msghdr *head = message;
    uint64_t flow = head->msg_name ? flow_to(descriptor, head->msg_name, head->msg_namelen) : flow_at(descriptor, 1);
    wake(FATHOM_WAIT_DESCRIPTOR, flow, descriptor, FATHOM_WAIT_RAN_UNKNOWN);
}

// Most of what is passed lies on the caller's stack, which is there up to its end.
static int is_on_stack(const void *memory, size_t size) {
    struct thread *t = &current;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), start = (uintptr_t)memory;
    if (t->state != THREAD_ATTACHED || !is_free(t)) return 0;
    const struct lane *lane = running_lane(t);
    return here >= lane->low && start >= here && start < lane->high && size <= lane->high - start;
}

int fathom_can_read(const void *memory, size_t size) {
    return is_on_stack(memory, size) || (!confine_unnoted() && system_can_read(memory, size));
}

void fathom_note_room(int descriptor) {
    if (waits(&runtime.buffers->room_waiters))
        wake(FATHOM_WAIT_DESCRIPTOR, room_in(flow_at(descriptor, 0)), descriptor, FATHOM_WAIT_RAN_UNKNOWN);
}

void fathom_note_file(uint32_t kind, int descriptor) {
    if (!waits(&runtime.buffers->data_waiters)) return;
    struct descriptor found = descriptor_look(descriptor);
    wake(kind, file_behind(&found), descriptor, FATHOM_WAIT_RAN_UNKNOWN);
}

void fathom_note_number(uint32_t kind, uint64_t number) {
    if (waits(&runtime.buffers->data_waiters)) wake(kind, number, -1, FATHOM_WAIT_RAN_UNKNOWN);
}

uint32_t fathom_own_process(void) { return runtime.pid; }

void fathom_note_socket_pair(const int *ends) {
    if (is_recording(&current) && !confine_unnoted()) flow_pair(ends);
}

FATHOM_WITHOUT_HOOKS_END
