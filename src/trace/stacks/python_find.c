/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the loaded object that is CPython: the one that exports _PyRuntime, a library or the
 * program. Its symbols are read from its own tables: dlsym waits for the thread that is loading a
 * library, and that thread may be waiting for us.
 *
 * An object is in the loader's list before its code can be called, so it is neither called nor
 * trusted until it has an interpreter, which proves that its code has run. An object that the
 * program loaded at run time can be unloaded: we keep it loaded by a reference of our own, taken
 * before the program's dlclose proceeds. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/vs_text.h"
#include "trace/stacks/elf_symbols.h"
#include "trace/stacks/python.h"

/* --- the interpreter --- */

#define NAME_BYTES 4096

struct python_find_candidate {
    struct vs_python python;
    uint64_t version, get_version; /* Py_Version, a number; Py_GetVersion */
    char name[NAME_BYTES];      /* of the object; "" for the program */
    uint64_t begun;                /* address of the word that shows whether an interpreter exists;
                                    * 0: rejected */
    bool has_begun;                /* it exists; read while the object was certainly loaded */
    unsigned minor;                /* 3.*minor*; 0: another version, or unknown so far */
    bool found;
};

static void set_range(const struct dl_phdr_info *info, struct vs_python *python)
{
    python->object_start = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + ph->p_vaddr, end = start + ph->p_memsz;
        if (ph->p_type != PT_LOAD)
            continue;
        if (start < python->object_start)
            python->object_start = start;
        if (end > python->object_end)
            python->object_end = end;
    }
}

/* The other objects in which every Python program starts. */
static int look_at_bottom(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct vs_python *python = arg;
    struct vs_python other = {0};
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    const char *slash = strrchr(name, '/');
    (void)size;
    set_range(info, &other);
    if (!*name) {
        python->program_start = other.object_start;
        python->program_end = other.object_end;
    } else if (strncmp(slash ? slash + 1 : name, "libc.so", 7) == 0) {
        python->libc_start = other.object_start;
        python->libc_end = other.object_end;
    }
    return 0;
}

/* Address of its list of interpreters: found by reading data only. Before 3.11, which has no such
 * data, the offset is the same in all versions. */
static uint64_t begun_of(struct python_find_candidate *c)
{
    struct vs_python *python = &c->python;
    uint64_t runtime = (uint64_t)(uintptr_t)python->runtime;
    const char *why;
    if (!c->version)
        return runtime + VS_PYTHON_OLD_INTERPRETERS;
    unsigned long version = *(const unsigned long *)(uintptr_t)c->version;
    c->minor = version >> 24 == 3 ? (unsigned)(version >> 16 & 0xff) : 0;
    if (!vs_python_layout(c->minor, python->runtime, &python->layout, &why))
        return 0;
    return runtime + python->layout.runtime_interpreters;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct python_find_candidate *c = arg;
    struct vs_python *python = &c->python;
    struct vs_elf_symbols t;
    (void)size;
    if (c->found) { /* the loader itself is the last of the objects loaded at start */
        python->at_start |= info->dlpi_addr == _r_debug.r_ldbase;
        return python->at_start;
    }
    if (!vs_elf_symbols_read(info->dlpi_addr, vs_elf_dynamic(info), &t))
        return 0;
    python->runtime = (const char *)(uintptr_t)vs_elf_symbols_address(&t, "_PyRuntime", NULL);
    if (!python->runtime)
        return 0;
    python->this_thread =
        (void *(*)(void))(uintptr_t)vs_elf_symbols_address(&t, "PyGILState_GetThisThreadState", NULL);
    uint64_t current = vs_elf_symbols_address(&t, "PyThreadState_GetUnchecked", NULL);
    if (!current)
        current = vs_elf_symbols_address(&t, "_PyThreadState_UncheckedGet", NULL);
    python->current = (void *(*)(void))(uintptr_t)current;
    python->initialized = (int (*)(void))(uintptr_t)vs_elf_symbols_address(&t, "Py_IsInitialized", NULL);
    python->code_type = vs_elf_symbols_address(&t, "PyCode_Type", NULL);
    python->text_type = vs_elf_symbols_address(&t, "PyUnicode_Type", NULL);
    const ElfW(Sym) *eval = vs_elf_symbols_find(&t, "_PyEval_EvalFrameDefault", NULL);
    if (eval && eval->st_size) {
        python->eval_start = t.base + eval->st_value;
        python->eval_end = python->eval_start + eval->st_size;
    }
    c->version = vs_elf_symbols_address(&t, "Py_Version", NULL);
    c->get_version = vs_elf_symbols_address(&t, "Py_GetVersion", NULL);
    c->begun = begun_of(c);
    c->has_begun = !c->begun || *(const volatile uint64_t *)(uintptr_t)c->begun;
    if (strlen(info->dlpi_name ? info->dlpi_name : "") < sizeof c->name)
        strcpy(c->name, info->dlpi_name ? info->dlpi_name : "");
    else
        python->this_thread = NULL; /* it could be unloaded at any time */
    set_range(info, python);
    c->found = true;
    return 0;
}

/* Whether an object of this name holds only the interpreter. */
static bool is_interpreter_alone(const char *name)
{
    char exe[4096];
    if (!*name) {
        ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        exe[n > 0 ? n : 0] = 0;
        name = exe;
    }
    name = vs_text_base_name(name);
    return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

static atomic_bool looking;                /* one thread at a time; others skip the look */
static atomic_int unloading;               /* number of threads that are unloading a library */
static atomic_bool kept, given_up;         /* it stays loaded; it could not be kept loaded */
static _Atomic uint64_t awaited;           /* the word of an interpreter not initialised yet; 0:
                                            * none */
static struct vs_python the_python;        /* written by the looking thread until published */
static char the_name[NAME_BYTES];       /* likewise: its file name */
_Atomic(const struct vs_python *) vs_python_found;
static char refusal[192];                  /* written by the looking thread; reported once */

/* Fills in the addresses from the symbols. Returns NULL, or why its frames cannot be read. */
static const char *accept(struct python_find_candidate *c, bool unloads_reported)
{
    struct vs_python *python = &c->python;
    const char *why = "its build exports no symbols";
    if (!python->at_start && !unloads_reported)
        return "the program loaded it and may unload it unnoticed (preload vramscope to get them)";
    if (!python->this_thread || !python->initialized || !python->code_type || !python->text_type)
        return why;
    if (!vs_python_layout(c->minor, python->runtime, &python->layout, &why))
        return why;
    /* a build with larger object headers has another value here */
    const char *type = (const char *)(uintptr_t)python->code_type;
    const char *name = *(const char *const *)(const void *)(type + python->layout.type_name);
    uint64_t inside = (uint64_t)(uintptr_t)name;
    if (inside < python->object_start || inside >= python->object_end || strcmp(name, "code") != 0)
        return "its build has larger objects (debug or free-threaded)";
    python->machinery = is_interpreter_alone(c->name);
    dl_iterate_phdr(look_at_bottom, python);
    if (!is_interpreter_alone(""))
        python->program_start = python->program_end = 0;
    return NULL;
}

/* Whether an interpreter exists, so that the object's code has run. The object may be unloaded by
 * now, so the kernel reads the word. */
static bool has_begun(uint64_t word)
{
    uint64_t value = 0;
    struct iovec to = {&value, sizeof value}, from = {(void *)(uintptr_t)word, sizeof value};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)sizeof value || value;
}

/* Called with `looking` set, while nothing is being unloaded. */
static bool look(bool unloads_reported, const char **note)
{
    static struct python_find_candidate c; /* used by the looking thread */
    c = (struct python_find_candidate){0};
    dl_iterate_phdr(look_at_object, &c);
    if (!c.found)
        return false;
    if (!c.has_begun) {
        atomic_store(&awaited, c.begun);
        return false;
    }
    atomic_store(&awaited, 0);
    if (!c.version && (c.python.at_start || unloads_reported)) {
        /* Reads a string that exists once the object is initialised. */
        const char *(*get)(void) = (const char *(*)(void))(uintptr_t)c.get_version;
        const char *text = get ? get() : "";
        c.minor = strncmp(text, "3.", 2) == 0 ? (unsigned)strtoul(text + 2, NULL, 10) : 0;
    }
    const char *why = accept(&c, unloads_reported);
    if (!why) {
        the_python = c.python;
        strcpy(the_name, c.name);
        atomic_store(&vs_python_found, &the_python);
        return true;
    }
    if (!refusal[0]) {
        snprintf(refusal, sizeof refusal,
                 "no Python frames in call stacks: Python 3.%u is loaded, but %s",
                 c.minor, why);
        *note = refusal;
    }
    return false;
}

bool vs_python_look(bool unloads_reported, const char **note)
{
    *note = NULL;
    if (vs_python_get() || atomic_load(&given_up) || atomic_exchange(&looking, true))
        return false;
    bool new = !atomic_load(&unloading) && !vs_python_get() && look(unloads_reported, note);
    atomic_store(&looking, false);
    return new;
}

bool vs_python_pending(void)
{
    uint64_t word = atomic_load_explicit(&awaited, memory_order_relaxed);
    return word && has_begun(word);
}

/* --- greenlets --- */

struct greenlet_search {
    void *const *pcs;
    size_t count;
};

static int look_for_greenlet(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct greenlet_search *search = arg;
    struct vs_python object = {0};
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *name = slash ? slash + 1 : "";
    if (strncmp(name + (*name == '_'), "greenlet.", 9) != 0)
        return 0;
    set_range(info, &object);
    for (size_t i = 0; i < search->count; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)search->pcs[i] - 1;
        if (pc >= object.object_start && pc < object.object_end)
            search->count = i;
    }
    return 0;
}

size_t vs_python_until_greenlet(void *const *pcs, size_t count)
{
    struct greenlet_search search = {pcs, count};
    if (count)
        dl_iterate_phdr(look_for_greenlet, &search);
    return search.count;
}

/* --- its unloading --- */

#define LOOK_WAITS_MAX 10000 /* waits for a look to end; a look that was interrupted never does */

const char *vs_python_unloading(void)
{
    atomic_fetch_add(&unloading, 1);
    for (int i = 0; atomic_load(&looking) && !vs_python_get() && i < LOOK_WAITS_MAX; i++)
        sched_yield();
    const struct vs_python *python = vs_python_get();
    return python && !python->at_start && !atomic_load(&kept) ? the_name : NULL;
}

void vs_python_unloaded(void)
{
    atomic_fetch_sub(&unloading, 1);
}

void vs_python_kept(bool good)
{
    if (good) {
        atomic_store(&kept, true);
    } else {
        atomic_store(&given_up, true);
        atomic_store(&vs_python_found, NULL);
    }
}
