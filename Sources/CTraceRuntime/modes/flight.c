// Every call is recorded, as in `trace`, and the recorder hears of calls that take long, so that it can save what led
// to them. What the slow paths tell is what they tell in `trace`.

#include "hooks.h"
#include "straight.h"
#include "trace.h"

FATHOM_WITHOUT_HOOKS

const struct mode flight_mode = {TRACE_TABLE};

void flight_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    straight_enter(function, call_site, sp, context);
}

void flight_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    straight_exit(function, call_site, sp, return_address, 0, 1);
}

void flight_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    straight_exit(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1, 1);
}

FATHOM_WITHOUT_HOOKS_END
