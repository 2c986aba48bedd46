/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of names: one library (victim_names.cpp) in many states, traces of a stack
 * through it, and the expected names of its chain. Header-only, as trace_test.h. */
#ifndef VS_SYMBOLS_TEST_H
#define VS_SYMBOLS_TEST_H

#include "unit/trace/trace_test.h"

#include <dlfcn.h>

#include "trace/symbols/elf_object.h"
#include "trace/symbols/symbols.h"

#define FRAMES 64
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static MAYBE_UNUSED void shell(const char *fmt, ...)
{
    char command[4096];
    int n = snprintf(command, sizeof command, "cd '%s' && ", scratch_dir);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command + n, sizeof command - (size_t)n, fmt, ap);
    va_end(ap);
    if (system(command))
        fail_msg("%s", command);
}

static MAYBE_UNUSED bool has_tool(const char *name)
{
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

struct call {
    struct vs_recorder *recorder;
    uint64_t stack;
};

__attribute__((noinline)) static MAYBE_UNUSED void leaf(void *arg)
{
    struct call *call = arg;
    call->stack = vs_recorder_stack(call->recorder, 0);
    NO_TAIL_CALL();
}

typedef void victim_function(void (*)(void *), void *);

/* A trace of a stack through *library* (a path below the scratch directory). */
static MAYBE_UNUSED void record(const char *trace, const char *library)
{
    struct call call = {open_recorder(scratch(trace), 1, 64), 0};
    void *handle = dlopen(scratch(library), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    victim_function *enter = (victim_function *)dlsym(handle, "_ZN4demo5enterEPFvPvES0_");
    assert_non_null(enter);
    enter(leaf, &call);
    struct vs_event e = {.kind = VS_EVENT_free};
    e.free.stack = call.stack;
    vs_recorder_event(call.recorder, &e);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    dlclose(handle);
}

struct names {
    struct vs_symbol list[128];
    size_t count;
    char note[VS_SYMBOLS_NOTE_MAX];
    struct vs_symbols *symbols;
    struct vs_reader *reader;
};

static MAYBE_UNUSED void look_up(const char *trace, const struct vs_symbols_options *options,
                    struct names *names)
{
    static const struct vs_symbols_options none;
    struct vs_frame frames[FRAMES];
    struct vs_event event;
    uint64_t stack = 0;
    vs_symbols_configure(options ? options : &none);
    names->reader = open_reader(scratch(trace));
    while (next_plain(names->reader, &event))
        stack = event.kind == VS_EVENT_free ? event.free.stack : stack;
    size_t n = vs_reader_stack(names->reader, stack, frames, FRAMES);
    assert_true(n > 3);
    names->symbols = vs_symbols_open(names->reader);
    names->count = 0;
    for (size_t i = 0; i < n && i < 4; i++)
        names->count += vs_symbols_frame(names->symbols, &frames[i], names->list + names->count,
                                         64);
    vs_symbols_note(names->symbols, names->note);
}

static MAYBE_UNUSED void let_go(struct names *names)
{
    vs_symbols_close(names->symbols);
    vs_reader_close(names->reader);
}

static MAYBE_UNUSED const struct vs_symbol *find(const struct names *names, const char *function)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i].known && !strcmp(names->list[i].function, function))
            return &names->list[i];
    return NULL;
}

/* The machine's own settings and caches are ignored. */
SETUP(forget_settings)
{
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/nonexistent", 1);
    return 0;
}

#define ENTER "demo::enter(void (*)(void*), void*)"
#define HIDDEN "demo::hidden_step" /* has no mangled name in DWARF */
#define HIDDEN_IN_TABLE "demo::hidden_step(void (*)(void*), void*)"
#define FILL "demo::Box<int>::fill(void (*)(void*), void*)"

/* The names of the chain according to DWARF. */
static MAYBE_UNUSED void assert_all_names(const char *trace, const struct vs_symbols_options *options)
{
    struct names names;
    look_up(trace, options, &names);
    const struct vs_symbol *fill = find(&names, FILL), *hidden = find(&names, HIDDEN);
    const struct vs_symbol *enter = find(&names, ENTER);
    if (!fill || !hidden || !enter)
        fail_msg("%s, %s, %s; %s", names.list[0].function, names.list[1].function,
                 names.list[2].function, names.note);
    assert_true(fill->inlined && !hidden->inlined && fill + 1 == hidden && hidden + 1 == enter);
    assert_string_equal(strrchr(fill->file, '/') + 1, "victim_names.cpp");
    assert_string_equal(strrchr(hidden->file, '/') + 1, "victim_names.cpp");
    assert_true(fill->line > 10 && hidden->line > fill->line && enter->line > hidden->line);
    assert_true(fill->file[0] == '/' && !strstr(fill->file, "/../"));
    let_go(&names);
}

/* The names left in a stripped library. */
static MAYBE_UNUSED void assert_only_exported(const char *trace, const struct vs_symbols_options *options)
{
    struct names names;
    look_up(trace, options, &names);
    assert_non_null(find(&names, ENTER));
    assert_null(find(&names, ENTER)->file);
    assert_null(find(&names, HIDDEN));
    assert_null(find(&names, FILL));
    let_go(&names);
}

static MAYBE_UNUSED void assert_no_names(const char *trace, const struct vs_symbols_options *options,
                            const char *note)
{
    struct names names;
    look_up(trace, options, &names);
    assert_null(find(&names, ENTER));
    assert_non_null(find(&names, "leaf"));
    if (!strstr(names.note, note))
        fail_msg("'%s' is not in '%s'", note, names.note);
    let_go(&names);
}

/* victim.so complete, victim.debug its debug information, stripped.so the rest. */
static MAYBE_UNUSED void make_files(const char *dir)
{
    if (!has_tool("objcopy"))
        skip();
    shell("mkdir -p %s && cp '%s' %s/victim.so && cd %s && objcopy --only-keep-debug victim.so "
          "victim.debug && objcopy --strip-all victim.so stripped.so",
          dir, built("libvs_victim_names.so"), dir, dir);
}

static MAYBE_UNUSED void build_id_of(const char *trace, const char *library, char *id)
{
    struct vs_reader *reader = open_reader(scratch(trace));
    for (struct vs_event event; !vs_reader_next(reader, &event);)
        continue;
    id[0] = '\0';
    for (uint32_t i = 0; vs_reader_module(reader, i); i++)
        if (strstr(vs_reader_module(reader, i)->path, library))
            snprintf(id, VS_BUILD_ID_HEX_MAX, "%s", vs_reader_module(reader, i)->build_id);
    vs_reader_close(reader);
    assert_true(strlen(id) >= 16);
}

#endif
