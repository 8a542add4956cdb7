#include "triggers.h"

#include "../file/functions.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

uint32_t triggers_of(uintptr_t function) {
    const struct fathom_trigger *trigger = named_functions.does ? functions_trigger(functions_say(function)) : NULL;
    return trigger ? trigger->does : 0;
}

void triggers_pull(const struct event *event) {
    if (!named_functions.does || !event || event->hook != HOOK_ENTER) return;
    uint32_t does = triggers_of(event->call.function);
    if (does & FATHOM_TRIGGER_START) runtime_start();
    if (does & FATHOM_TRIGGER_STOP) runtime_stop();
}

FATHOM_WITHOUT_HOOKS_END
