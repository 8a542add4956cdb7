// What the program calls its scopes, marks and counters.

#ifndef FATHOM_NAMES_H
#define FATHOM_NAMES_H

#include "../host/base.h"

uint32_t name_known(uint32_t kind, const char *text);   // the id of a name that was given, or 0; async-signal-safe
uint32_t name_intern(uint32_t kind, const char *text);  // the name's id, 0 if there is no room; async-signal-safe
void names_forget(void);                                // no name has an id any more; no other thread runs

#endif
