/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope attach` loads this library into a running program, where its Python part
 * (python/startup/vramscope_attach.py) calls the functions below: CUPTI reports the driver's calls from there on,
 * as with --via=injection, and the tables through which PyTorch's libraries call libc10 are changed. What PyTorch
 * holds already is then recorded, block by block, while its other threads go on: a block that was allocated or
 * freed meanwhile has been seen here, and its row is left out. */
#define _GNU_SOURCE
#include "intercept/torch/attach.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_map.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/track/context.h"
#include "intercept/track/holding.h"
#include "intercept/track/tracker.h"
#include "vramscope.h"

/* --- the tables of calls --- */

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#else
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#endif

struct lead {
    const char *symbol;
    void *to;
};

/* The loader made the tables of some objects read-only: *info* says which pages these are. */
static void write_slot(const struct dl_phdr_info *info, uintptr_t slot, void *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = slot & ~(page - 1);
    bool closed = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        closed |= part->p_type == PT_GNU_RELRO && first >= (start & ~(page - 1)) &&
                  first < ((start + part->p_memsz) & ~(page - 1));
    }
    if (closed && mprotect((void *)first, page, PROT_READ | PROT_WRITE))
        return;
    __atomic_store_n((void **)slot, to, __ATOMIC_RELEASE);
    if (closed)
        mprotect((void *)first, page, PROT_READ);
}

static int lead_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const struct lead *lead = arg;
    const ElfW(Dyn) *dynamic = vs_elf_dynamic(info);
    static const ElfW(Sxword) tables[][2] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
    struct vs_elf_symbols symbols;
    if (dynamic == _DYNAMIC || !vs_elf_symbols_read(info->dlpi_addr, dynamic, &symbols))
        return 0;
    for (int t = 0; t < 2; t++) {
        const ElfW(Rela) *rows = vs_elf_pointer(info->dlpi_addr, dynamic, tables[t][0]);
        const ElfW(Dyn) *bytes = vs_elf_entry(dynamic, tables[t][1]);
        for (size_t i = 0; rows && bytes && i < bytes->d_un.d_val / sizeof *rows; i++) {
            const ElfW(Sym) *symbol = &symbols.table[ELF64_R_SYM(rows[i].r_info)];
            if (IS_SLOT(ELF64_R_TYPE(rows[i].r_info)) && strcmp(symbols.strings + symbol->st_name, lead->symbol) == 0)
                write_slot(info, info->dlpi_addr + rows[i].r_offset, lead->to);
        }
    }
    return 0;
}

void vs_attach_lead(const char *symbol, void *to)
{
    struct lead lead = {symbol, to};
    if (!vs_loaded_self_at_start()) /* otherwise the loader has done it */
        dl_iterate_phdr(lead_object, &lead);
}

/* --- blocks that come and go meanwhile --- */

static _Atomic(bool) attaching;
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_ATTACH, "memory from before the recording");
static struct vs_map seen; /* address -> is it live in the trace? guarded by lock */
static uint64_t before;    /* the stack of memory without a known one; written once, by the Python part's thread */

bool vs_attach_enter(void)
{
    bool entered = atomic_load_explicit(&attaching, memory_order_acquire);
    if (entered)
        vs_lock_acquire(&lock);
    return entered;
}

void vs_attach_leave(bool entered)
{
    if (entered)
        vs_lock_release(&lock);
}

bool vs_attach_follows_locked(uint64_t addr, bool frees)
{
    uint64_t *live = vs_map_add(&seen, addr, 0);
    bool follows = !frees || (live && *live);
    if (live)
        *live = !frees;
    return follows;
}

/* --- for our part in Python; not in the public header --- */

VS_EXPORT int vramscope_attach(const char *options, char *why, size_t why_bytes);
VS_EXPORT uint64_t vramscope_attach_frame(uint64_t outer, const char *function, const char *file, unsigned line);
VS_EXPORT void vramscope_attach_segment(uint64_t addr, uint64_t bytes, int device);
VS_EXPORT void vramscope_attach_block(uint64_t addr, uint64_t bytes, int device, uint64_t allocated, uint64_t reserved,
                                      uint64_t stack);
VS_EXPORT void vramscope_attach_end(const char *note);
int InitializeInjection(void); /* inject.c; exported, as the driver calls it */

/* Starts the recording with *options* (vs_process_attach). 0: it has started, and calls of the functions below
 * follow; 1: it had started, or will with the first CUDA call; -1: *why* has the reason. */
int vramscope_attach(const char *options, char *why, size_t why_bytes)
{
    enum vs_process_state state = vs_process_forked() ? VS_PROCESS_SILENT : vs_process_state();
    if (state == VS_PROCESS_ACTIVE ? vs_process_recorder() != NULL : state == VS_PROCESS_IDLE && vs_loaded_self_at_start())
        return 1;
    if (state == VS_PROCESS_IDLE) {
        vs_process_attach(options);
        atomic_store_explicit(&attaching, true, memory_order_release);
        InitializeInjection();
        bool begun = !*vs_process_refusal() && vs_process_begin() && vs_process_recorder();
        vs_process_attach(NULL);
        if (begun) {
            before = vramscope_attach_frame(0, "allocated " VS_BEFORE_RANGE, "", 0);
            VS_RECORD(range_push, .name = vs_process_string(VS_BEFORE_RANGE), .domain = vs_process_string(VS_BEFORE_DOMAIN));
            return 0;
        }
        atomic_store_explicit(&attaching, false, memory_order_release);
    }
    const char *other = state == VS_PROCESS_ACTIVE
        ? "it was started with --record=off, or its trace could not be written: start it again"
        : "its recording has ended, or failed as its standard error says";
    snprintf(why, why_bytes, "%s", *vs_process_refusal() ? vs_process_refusal() : other);
    return -1;
}

uint64_t vramscope_attach_frame(uint64_t outer, const char *function, const char *file, unsigned line)
{
    VS_OWN_WORK();
    return vs_recorder_frame(vs_process_recorder(), outer, function, file, line);
}

/* It may be freed at this moment: it is left out if it is gone already. */
void vramscope_attach_segment(uint64_t addr, uint64_t bytes, int device)
{
    VS_OWN_WORK();
    CUdeviceptr base;
    struct vs_entered entered;
    struct vs_context *context = vs_process_records() ? vs_context_on((uint32_t)device) : NULL;
    if (!context || vs_track_is(addr, VS_FAMILY_DEVICE) || vs_context_enter(context, &entered))
        return;
    if (VS_REAL(cuMemGetAddressRange_v2, &base, NULL, (CUdeviceptr)addr) == CUDA_SUCCESS) {
        struct vs_tracked live = vs_live_in(context, addr, bytes, bytes, VS_FAMILY_DEVICE);
        vs_process_stack_given = before;
        vs_thread.judged = vs_thread.caller; /* it holds blocks */
        vs_thread.by_framework = true;
        atomic_store_explicit(&vs_holding_possible, true, memory_order_relaxed);
        vs_track_alloc(&live, 0, "cuMemAlloc");
        vs_process_stack_given = 0;
    }
    vs_context_leave(&entered);
}

void vramscope_attach_block(uint64_t addr, uint64_t bytes, int device, uint64_t allocated, uint64_t reserved,
                            uint64_t stack)
{
    VS_OWN_WORK();
    VS_LOCK_SCOPE(&lock);
    if (!vs_process_records() || vs_map_get(&seen, addr) || !vs_map_add(&seen, addr, 1))
        return;
    vs_process_stack_given = stack ? stack : before;
    vs_framework_record(addr, (int64_t)bytes, allocated, reserved, device);
    vs_process_stack_given = 0;
}

void vramscope_attach_end(const char *note)
{
    VS_OWN_WORK();
    struct vs_entered entered;
    for (struct vs_context *context = NULL; (context = vs_context_next(context));)
        if (!vs_context_enter(context, &entered)) {
            vs_device_sample(context, vs_clock_ns());
            vs_context_leave(&entered);
        }
    VS_RECORD(range_pop, .domain = vs_process_string(VS_BEFORE_DOMAIN));
    vs_process_note(VS_LOG_INFO, note);
    atomic_store_explicit(&attaching, false, memory_order_release);
}
