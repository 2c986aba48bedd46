/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of the checker. Each different stack is stored once, under a number, for the life of
 * the process; symbols are looked up when a report is printed: by elfutils' libdw where it is
 * installed (static functions, file and line), else by dladdr. Frames in this library are left out:
 * the stack starts with the call that the program made. */
#define _GNU_SOURCE
#include "simulator/checker/vs_sim_check_internal.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 32
#define STACKS_MAX 262144 /* further stacks are not recorded */
#define BUCKETS 65536

struct check_stack_stack {
    struct check_stack_stack *next;
    uint32_t number;
    unsigned count;
    void *frames[]; /* return addresses, innermost first */
};

static pthread_mutex_t stacks_mu = PTHREAD_MUTEX_INITIALIZER;
static struct check_stack_stack **buckets, **numbered; /* guarded by stacks_mu */
static uint32_t stack_count;               /* likewise */

/* ---- storage ---- */

static uintptr_t own_begin, own_end; /* this library's text; immutable after own_once */
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static int find_own(struct dl_phdr_info *info, size_t size, void *inside)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (uintptr_t)inside - begin < p->p_memsz) {
            own_begin = begin;
            own_end = begin + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

static void find_self(void) { dl_iterate_phdr(find_own, (void *)find_self); }

static uint32_t intern_locked(void *const *frames, unsigned count)
{
    if (!buckets) {
        buckets = vs_sim_need(calloc(BUCKETS, sizeof *buckets));
        numbered = vs_sim_need(calloc(STACKS_MAX, sizeof *numbered));
    }
    uint64_t hash = count;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    struct check_stack_stack **bucket = &buckets[hash % BUCKETS], *s = *bucket;
    while (s && (s->count != count || memcmp(s->frames, frames, count * sizeof *frames)))
        s = s->next;
    if (s)
        return s->number;
    if (stack_count + 1 >= STACKS_MAX)
        return 0;
    s = vs_sim_need(malloc(sizeof *s + count * sizeof s->frames[0]));
    s->number = ++stack_count;
    s->count = count;
    memcpy(s->frames, frames, count * sizeof *frames);
    s->next = *bucket;
    *bucket = s;
    numbered[s->number] = s;
    return s->number;
}

uint32_t vs_sim_stack_here(void)
{
    void *frames[FRAMES_MAX];
    pthread_once(&own_once, find_self);
    int count = backtrace(frames, FRAMES_MAX), first = 0;
    while (first < count && (uintptr_t)frames[first] - own_begin < own_end - own_begin)
        first++;
    if (first >= count)
        return 0;
    pthread_mutex_lock(&stacks_mu);
    uint32_t number = intern_locked(frames + first, (unsigned)(count - first));
    pthread_mutex_unlock(&stacks_mu);
    return number;
}

static const struct check_stack_stack *stack_of(uint32_t number)
{
    pthread_mutex_lock(&stacks_mu);
    const struct check_stack_stack *s = number && number <= stack_count ? numbered[number] : NULL;
    pthread_mutex_unlock(&stacks_mu);
    return s;
}

void *const *vs_sim_stack_frames(uint32_t number, size_t *count)
{
    const struct check_stack_stack *s = stack_of(number);
    *count = s ? s->count : 0;
    return s ? s->frames : NULL;
}

/* ---- libdw, only the declarations needed ---- */

struct dwfl;
struct dwfl_module;
struct dwfl_line;

struct dwfl_callbacks {
    int (*find_elf)(struct dwfl_module *, void **, const char *, uint64_t, char **, void **);
    int (*find_debuginfo)(struct dwfl_module *, void **, const char *, uint64_t, const char *,
                          const char *, uint32_t, char **);
    int (*section_address)(struct dwfl_module *, void **, const char *, uint64_t, const char *,
                           uint32_t, const void *, uint64_t *);
    char **debuginfo_path;
};

static struct { /* used by one thread at a time */
    bool tried;
    struct dwfl *dwfl;
    struct dwfl_callbacks callbacks;
    struct dwfl *(*begin)(const struct dwfl_callbacks *);
    int (*report)(struct dwfl *, pid_t);
    int (*report_end)(struct dwfl *, int (*)(struct dwfl_module *, void *, const char *, uint64_t, void *),
                      void *);
    void (*report_begin)(struct dwfl *);
    struct dwfl_module *(*addrmodule)(struct dwfl *, uint64_t);
    const char *(*addrname)(struct dwfl_module *, uint64_t);
    struct dwfl_line *(*getsrc)(struct dwfl_module *, uint64_t);
    const char *(*lineinfo)(struct dwfl_line *, uint64_t *, int *, int *, void *, void *);
} dw;

/* Prevents libdw from searching the disk and the network for separate debug information. */
static int find_no_debuginfo(struct dwfl_module *m, void **user, const char *name, uint64_t base,
                             const char *file, const char *link, uint32_t crc, char **found)
{
    return -1;
}

static bool dw_load(void)
{
    void *lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    struct {
        void *to;
        const char *name;
    } names[] = {{&dw.callbacks.find_elf, "dwfl_linux_proc_find_elf"},
                 {&dw.begin, "dwfl_begin"},
                 {&dw.report, "dwfl_linux_proc_report"},
                 {&dw.report_begin, "dwfl_report_begin"},
                 {&dw.report_end, "dwfl_report_end"},
                 {&dw.addrmodule, "dwfl_addrmodule"},
                 {&dw.addrname, "dwfl_module_addrname"},
                 {&dw.getsrc, "dwfl_module_getsrc"},
                 {&dw.lineinfo, "dwfl_lineinfo"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(lib, names[i].name);
        if (!symbol)
            return false;
        memcpy(names[i].to, &symbol, sizeof symbol);
    }
    dw.callbacks.find_debuginfo = find_no_debuginfo;
    dw.dwfl = dw.begin(&dw.callbacks);
    return dw.dwfl != NULL;
}

/* The module that contains *pc*; also searches libraries loaded since the last call. */
static struct dwfl_module *dw_module(uintptr_t pc)
{
    if (!dw.tried) {
        dw.tried = true;
        if (!dw_load())
            dw.dwfl = NULL;
    }
    if (!dw.dwfl)
        return NULL;
    struct dwfl_module *m = dw.addrmodule(dw.dwfl, pc);
    if (m)
        return m;
    dw.report_begin(dw.dwfl);
    bool ok = !dw.report(dw.dwfl, getpid());
    if (dw.report_end(dw.dwfl, NULL, NULL) || !ok)
        return NULL;
    return dw.addrmodule(dw.dwfl, pc);
}

/* ---- printing ---- */

static const char *leaf(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

const char *vs_sim_stack_name(const char *symbol, char *text, size_t bytes)
{
    char *(*demangle)(const char *, char *, size_t *, int *);
    int status = -1;
    *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *name = demangle && !strncmp(symbol, "_Z", 2) ? demangle(symbol, NULL, NULL, &status) : NULL;
    snprintf(text, bytes, "%s", name ? name : symbol);
    free(name);
    return text;
}

struct frame {
    char name[256];
    const char *file, *object; /* NULL: unknown */
    int line;
    uintptr_t offset; /* in the object */
};

/* Is it a frame of the CUDA runtime or of the code that nvcc generates before it? */
static bool is_runtime(const struct frame *f)
{
    return (f->object && !strncmp(f->object, "libcudart.", 10)) || !strncmp(f->name, "vs_rt_", 6) ||
           !strncmp(f->name, "vs_thunk_", 9) ||
           !strncmp(f->name, "__cudaLaunchKernel", 18) || !strncmp(f->name, "__device_stub_", 14);
}

size_t vs_sim_stack_print(uint32_t number, unsigned max, char *text, size_t bytes)
{
    const struct check_stack_stack *s = stack_of(number);
    size_t at = 0;
    unsigned shown = 0;
    text[0] = '\0';
    if (!s)
        return (size_t)snprintf(text, bytes, "      (stack not recorded)\n");
    for (unsigned i = 0; i < s->count && shown < max && at + 1 < bytes; i++) {
        struct frame f;
        uintptr_t pc = (uintptr_t)s->frames[i] - 1;
        Dl_info info = {0};
        struct dwfl_module *m = dw_module(pc);
        struct dwfl_line *where = m ? dw.getsrc(m, pc) : NULL;
        const char *name = m ? dw.addrname(m, pc) : NULL;
        f = (struct frame){.name = "?"};
        if (where)
            f.file = leaf(dw.lineinfo(where, NULL, &f.line, NULL, NULL, NULL));
        if (dladdr((void *)pc, &info)) {
            f.object = leaf(info.dli_fname);
            f.offset = pc - (uintptr_t)info.dli_fbase;
        }
        if (!name)
            name = info.dli_sname;
        if (name)
            vs_sim_stack_name(name, f.name, sizeof f.name);
        if (!shown && i + 1 < s->count && is_runtime(&f))
            continue;
        size_t left = bytes - at;
        int did = f.file ? snprintf(text + at, left, "      #%u %s at %s:%d\n", shown, f.name,
                                    f.file, f.line)
                         : snprintf(text + at, left, "      #%u %s in %s+0x%lx\n", shown, f.name,
                                    f.object ? f.object : "?", (unsigned long)f.offset);
        at += did < 0 ? 0 : (size_t)did < left ? (size_t)did : left - 1;
        shown++;
        if (!strcmp(f.name, "main"))
            break;
    }
    return at;
}
