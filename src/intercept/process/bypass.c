/* SPDX-License-Identifier: Apache-2.0
 *
 * A library opened with RTLD_DEEPBIND searches its own dependencies first: its calls of dlsym and
 * of CUDA go to libc and to CUDA itself, bypassing preloaded libraries. This cannot be prevented
 * from here, but it can be detected: the slots that the loader filled in its tables contain other
 * addresses than ours. A slot that was never used (lazy binding) still points into the object
 * itself and does not count.
 *
 * Checked only when the process ends, and only if a driver is loaded. */
#define _GNU_SOURCE
#include "intercept/process/process_internal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_log.h"
#include "base/vs_option.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/route/real_symbols.h"

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || \
                       (type) == R_X86_64_64)
#else
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || \
                       (type) == R_AARCH64_ABS64)
#endif

#define NAMED_MAX 4

struct bypass_found {
    char names[NAMED_MAX][NAME_MAX + 1];
    unsigned count;
};

/* The object that a symbol is bound to. */
struct binding {
    const char *name;
    const void *to;
};

static bool is_hooked(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' &&
           (vs_hook_named(name) < VS_HOOK_COUNT || vs_runtime_named(name) < VS_RUNTIME_COUNT);
}

static bool is_dlsym(const char *name)
{
    return strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0;
}

static bool has_text(const struct vs_loaded *object, const char *text)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->base;
    if (!object->base || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false; /* a program at a fixed address: never opened with a flag */
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(object->base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_R) &&
            !(segment[i].p_flags & PF_W) &&
            memmem((const void *)(object->base + segment[i].p_vaddr), segment[i].p_filesz, text,
                   strlen(text)))
            return true;
    }
    return false;
}

/* A runtime, shared or linked in, is identified by the one name that it looks up itself, and a program of the
 * driver that opens it (Taichi) by the driver's first function. */
static bool passes_us(const struct vs_loaded *object, const struct binding *binding)
{
    struct vs_loaded target;
    if (!vs_loaded_at_in_visit(binding->to, &target) || target.dynamic == object->dynamic)
        return false;
    if (!is_dlsym(binding->name))
        return vs_loaded_is(&target, "libcuda.so") || vs_loaded_is(&target, "libcudart");
    return (vs_loaded_is(&target, "libc.so.6") || vs_loaded_is(&target, "libdl.so.2")) &&
           (has_text(object, "cuGetProcAddress") || has_text(object, "cuInit"));
}

static bool any_passes(const struct vs_loaded *object, const struct vs_elf_symbols *symbols,
                       ElfW(Sxword) table, ElfW(Sxword) bytes)
{
    const ElfW(Rela) *row = vs_elf_pointer(object->base, object->dynamic, table);
    size_t count = row ? vs_loaded_value(object, bytes) / sizeof *row : 0;
    size_t skip = table == DT_RELA ? vs_loaded_value(object, DT_RELACOUNT) : 0; /* no symbols */
    for (size_t i = skip; i < count; i++) {
        if (!IS_SLOT(ELF64_R_TYPE(row[i].r_info)))
            continue;
        const ElfW(Sym) *symbol = &symbols->table[ELF64_R_SYM(row[i].r_info)];
        struct binding binding = {.name = symbols->strings + symbol->st_name};
        if (symbol->st_shndx != SHN_UNDEF || (!is_dlsym(binding.name) && !is_hooked(binding.name)))
            continue;
        binding.to = *(void *const *)(object->base + row[i].r_offset);
        if (passes_us(object, &binding))
            return true;
    }
    return false;
}

/* Undefined symbols come first in the table: their names exclude most objects, whose relocations
 * need not be read. */
static bool wants_cuda(const struct vs_elf_symbols *symbols)
{
    uint32_t end = symbols->gnu_hash ? symbols->gnu_hash[1] : 0;
    for (uint32_t i = 1; i < end; i++) {
        const char *name = symbols->strings + symbols->table[i].st_name;
        if ((name[0] == 'd' && is_dlsym(name)) || is_hooked(name))
            return true;
    }
    return false;
}

static int look_at(const struct vs_loaded *object, void *arg)
{
    struct bypass_found *found = arg;
    struct vs_elf_symbols symbols;
    if (vs_loaded_is(object, "libcuda.so") || vs_loaded_at_start(object) ||
        !vs_loaded_symbols(object, &symbols) || !wants_cuda(&symbols))
        return 0;
    if (!any_passes(object, &symbols, DT_JMPREL, DT_PLTRELSZ) &&
        !any_passes(object, &symbols, DT_RELA, DT_RELASZ))
        return 0;
    if (found->count < NAMED_MAX)
        snprintf(found->names[found->count], sizeof found->names[0], "%s", object->name);
    found->count++;
    return 0;
}

/* Prevents `vramscope run` from reporting a program without CUDA. */
static void notify_run(char mark)
{
    vs_manifest_append(vs_environment("VRAMSCOPE_MANIFEST"), mark, "");
}

static void say(const char *line)
{
    vs_log(VS_LOG_WARN, "%s", line);
    if (vs_process_recorder())
        vs_process_note(VS_LOG_WARN, line);
    else if (vs_process_state() == VS_PROCESS_IDLE)
        notify_run('!');
}

static void report_deepbound(void)
{
    static struct bypass_found found;
    char line[NAMED_MAX * (NAME_MAX + 3) + 256];
    size_t n = 0;
    vs_loaded_each(look_at, &found);
    if (!found.count)
        return;
    for (unsigned i = 0; i < found.count && i < NAMED_MAX; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", i ? ", " : "", found.names[i]);
    if (found.count > NAMED_MAX)
        n += (size_t)snprintf(line + n, sizeof line - n, " and %u more", found.count - NAMED_MAX);
    snprintf(line + n, sizeof line - n,
             ": opened with RTLD_DEEPBIND, so its CUDA calls are not intercepted; memory that it "
             "allocates is missing from the trace; --via=injection records it");
    say(line);
}

/* Since glibc 2.35 the loader lists its namespaces for debuggers. */
static bool driver_elsewhere(void)
{
    struct namespace {
        struct r_debug debug;
        struct namespace *next;
    };
    if (_r_debug.r_version < 2)
        return false;
    const struct namespace *space = ((const struct namespace *)(const void *)&_r_debug)->next;
    for (; space; space = space->next) {
        for (const struct link_map *map = space->debug.r_map; map; map = map->l_next) {
            struct vs_loaded object = vs_loaded_from(map);
            if (vs_loaded_is(&object, "libcuda.so"))
                return true;
        }
    }
    return false;
}

void vs_bypass_report(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!vs_loaded_self() || atomic_flag_test_and_set(&done) || !vs_loaded_self_at_start())
        return; /* opened or injected: we are not expected to be called first */
    bool driver = vs_loaded_find("libcuda.so", NULL);
    if (driver)
        report_deepbound();
    if (driver_elsewhere())
        say("CUDA was loaded into a separate namespace (dlmopen), where nothing can be preloaded; "
            "memory allocated there is missing from the trace");
    if (driver && vs_process_state() == VS_PROCESS_IDLE)
        notify_run('-'); /* it queried devices, but never allocated */
}
