// Fills more slots than are used before anybody waits for the recorder, and counts how often a thread then waits for
// it: where the recorder is there, and where it was killed and its parent has not asked yet. Linked with the runtime's
// await.c; the clock is this program's.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/runtime.h"
#include "session/await.h"

struct runtime runtime;
static struct fathom_buffers buffers;
static uint32_t words[64];
static uint64_t now = 1000000000;
static int waits;

uint64_t system_monotonic_ns(void) { return now; }
void system_await(uint32_t *futex, uint32_t expected, uint64_t nanoseconds) {
    (void)futex, (void)expected;
    now += nanoseconds;
    waits++;
}

void system_wake(uint32_t *futex) { (void)futex; }
long system_scheduler(void) { return sched_getscheduler(0); }
long system_read_link(const char *path, char *target, size_t room) {
    long size = readlink(path, target, room);
    return size < 0 ? -errno : size;
}

static void fill_another(const char *when) {
    uint32_t events = 0;
    waits = 0;
    await_slot(&events, 1);
    printf("%s: %d\n", when, waits);
}

static void announce(uint32_t starving) {
    buffers.recorder_due = (uint32_t)(now / 1000000) << FATHOM_DUE_SHIFT | starving;
}

int main(void) {
    pid_t recorder = fork();
    if (recorder == 0) return pause();
    runtime.buffers = &buffers;
    runtime.words = words;
    runtime.slot_limit = buffers.slot_high = 64;
    for (int i = 0; i < 64; i++) words[i] = ~FATHOM_SLOT_FREE;
    buffers.recorder_pid = (uint32_t)recorder;
    await_see_recorder();
    announce(FATHOM_DUE_STARVING);
    fill_another("starving");
    announce(FATHOM_DUE_STARVING);
    siginfo_t info;
    kill(recorder, SIGKILL);
    waitid(P_PID, (id_t)recorder, &info, WEXITED | WNOWAIT);
    fill_another("killed");
    fill_another("once more");
    announce(0);
    now += 100000000;
    waitpid(recorder, NULL, 0);
    fill_another("gone");
    buffers.recorder_pid = (uint32_t)getpid();
    announce(FATHOM_DUE_STARVING);
    fill_another("another recorder");
    buffers.recorder_pid = 0;
    announce(FATHOM_DUE_STARVING);
    fill_another("it has left");
    return 0;
}
