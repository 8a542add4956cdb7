#include "loading.h"

#include "../follow/process.h"
#include "../host/loader.h"
#include "../host/runtime.h"
#include "../session/detours.h"
#include "../session/functions.h"
#include "../session/modules.h"

#include <link.h>

FATHOM_WITHOUT_HOOKS

struct loading loading;

static int find(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr)
                loading.debug = (const struct r_debug *)entry->d_un.d_ptr;
    }
    if (loading.debug) loading.address = loading.debug->r_brk;
    return 1;  // the program is the first module
}

void loading_find(void) { loader_modules(find, NULL, LOADER_PATIENCE); }

// Stands in for the function. It is called before libraries are loaded, too.
static void loaded(void) {
    if (loading.debug->r_state != RT_CONSISTENT || !runtime_records()) return;
    detours_allow(1);
    modules_scan(LOADER_PATIENCE);
    detours_allow(0);
}

// Whether all that the code does is to return, and a jump has room there. A debugger may have put a breakpoint there.
static int does_nothing(const uint8_t *code) {
#if defined(__x86_64__)
    static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};  // endbr64, ret
    return *code == 0xc3 ? fathom_padding(code + 1, 15) >= 4 : !__builtin_memcmp(code, marked, sizeof marked);
#else
    uint32_t word = fathom_arm_word(code);
    return word == 0xd65f03c0 || (word == 0xd503245f && fathom_arm_word(code + 4) == 0xd65f03c0);  // bti c, ret
#endif
}

void loading_watch(void) {
    if (!functions_have_detours() || !runtime_ready()) return;
    loading_find();
    if (loading.address && does_nothing((const uint8_t *)loading.address)) detours_replace(loading.address, loaded);
}

FATHOM_WITHOUT_HOOKS_END
