/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks and their names, compared with call chains made in this file. */
#include "unit/trace/trace_test.h"

#include <dlfcn.h>
#include <pthread.h>

#include "trace/format/format.h"
#include "trace/symbols/symbols.h"

#define FRAMES 128
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

struct call {
    struct vs_recorder *recorder;
    uint64_t stack;
    unsigned skip;
};

static _Atomic unsigned capture_line, inline_line, middle_line;

__attribute__((noinline)) static void leaf(void *arg)
{
    struct call *call = arg;
    capture_line = __LINE__ + 1;
    call->stack = vs_recorder_stack(call->recorder, call->skip);
    NO_TAIL_CALL();
}

__attribute__((always_inline)) static inline void folded_in(struct call *call)
{
    inline_line = __LINE__ + 1;
    leaf(call);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void middle(struct call *call)
{
    middle_line = __LINE__ + 1;
    folded_in(call);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void outer(struct call *call)
{
    middle(call);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void deep(struct call *call, int left)
{
    if (left)
        deep(call, left - 1);
    else
        leaf(call);
    NO_TAIL_CALL();
}

struct names {
    struct vs_reader *reader;
    struct vs_symbols *symbols;
    struct vs_symbol list[256];
    size_t count;
};

static void name_stack(struct names *names, uint64_t stack)
{
    struct vs_frame frames[FRAMES];
    size_t n = vs_reader_stack(names->reader, stack, frames, FRAMES);
    names->count = 0;
    names->symbols = vs_symbols_open(names->reader);
    for (size_t i = 0; i < n; i++)
        names->count += vs_symbols_frame(names->symbols, &frames[i], names->list + names->count,
                                         256 - names->count);
}

/* The names of the stack of *call*, from its trace, which ends with it. */
static struct names finish(const struct call *call)
{
    struct names names;
    char path[600];
    uint64_t seen = 0;
    snprintf(path, sizeof path, "%s", vs_recorder_path(call->recorder));
    record_event(call->recorder, EVENT(free, .stack = call->stack));
    vs_recorder_close(call->recorder, VS_END_EXIT, 0);
    names.reader = open_reader(path);
    for (struct vs_event got; next_plain(names.reader, &got);)
        seen = got.kind == VS_EVENT_free ? got.free.stack : seen;
    assert_condition(names.reader, VS_TRACE_COMPLETE);
    assert_true(call->stack != 0);
    assert_int_equal(seen, call->stack);
    name_stack(&names, call->stack);
    return names;
}

static void forget(struct names *names)
{
    vs_symbols_close(names->symbols);
    vs_reader_close(names->reader);
}

static struct call begin(const char *name, unsigned depth, unsigned skip)
{
    return (struct call){open_recorder(scratch(name), 1, depth), 0, skip};
}

static void assert_symbol(const struct vs_symbol *s, const char *function, unsigned line,
                          int inlined)
{
    assert_string_equal(s->function, function);
    assert_int_equal(s->known, 1);
    assert_int_equal(s->inlined, inlined);
    if (line) {
        assert_non_null(s->file);
        assert_string_equal(strrchr(s->file, '/') + 1, "test_trace_stacks.c");
        assert_int_equal(s->line, line);
    }
    assert_string_equal(s->module, "test_trace_stacks");
}

TEST(a_known_chain_is_named_with_lines_and_inlines)
{
    struct call call = begin("chain.vst", 64, 0);
    outer(&call);
    struct names names = finish(&call);
    assert_in_range(names.count, 6, 100);
    assert_symbol(&names.list[0], "leaf", capture_line, 0);
    assert_symbol(&names.list[1], "folded_in", inline_line, 1);
    assert_symbol(&names.list[2], "middle", middle_line, 0);
    assert_symbol(&names.list[3], "outer", 0, 0);
    assert_string_equal(names.list[4].function, "a_known_chain_is_named_with_lines_and_inlines");
    bool saw_main = false;
    for (size_t i = 0; i < names.count; i++)
        saw_main |= !strcmp(names.list[i].function, "main");
    assert_true(saw_main);
    assert_int_equal(vs_symbols_missing(names.symbols), 0);
    forget(&names);
}

TEST(skip_leaves_out_the_innermost_frames)
{
    struct call call = begin("skip.vst", 64, 2);
    outer(&call);
    struct names names = finish(&call);
    assert_symbol(&names.list[0], "outer", 0, 0);
    forget(&names);
}

TEST(the_same_stack_has_the_same_id_and_is_written_once)
{
    struct call call = begin("same.vst", 64, 0);
    uint64_t ids[3] = {0};
    volatile int times = 3; /* one call site: no unrolling */
    for (int i = 0; i < times; i++) {
        outer(&call);
        ids[i] = call.stack;
    }
    assert_true(ids[0] && ids[0] == ids[1] && ids[1] == ids[2]);
    struct vs_recorder_stats before, after;
    vs_recorder_stats(call.recorder, &before);
    times = 2;
    for (int i = 0; i < times; i++)
        middle(&call); /* identical outside this function */
    vs_recorder_stats(call.recorder, &after);
    assert_true(call.stack != ids[0]);
    assert_in_range(after.stack_nodes - before.stack_nodes, 1, 6);
    struct names names = finish(&call);
    forget(&names);
}

TEST(depth_is_limited_to_the_innermost_frames)
{
    struct call call = begin("deep.vst", 100, 0);
    deep(&call, 500);
    struct names names = finish(&call);
    struct vs_frame frames[FRAMES];
    assert_int_equal(vs_reader_stack(names.reader, call.stack, frames, FRAMES), 101);
    assert_int_equal(frames[100].module, VS_NO_MODULE); /* a mark for more frames */
    assert_int_equal(frames[100].pc, VS_STACK_MORE);
    assert_int_equal(vs_reader_stack(names.reader, call.stack, frames, 5), 5);
    assert_symbol(&names.list[0], "leaf", capture_line, 0);
    for (size_t i = 1; i < names.count - 1; i++)
        assert_symbol(&names.list[i], "deep", 0, 0);
    assert_string_equal(names.list[names.count - 1].function, "(more frames)");
    forget(&names);
}

static const char *plugin_path(void)
{
    return built("libvs_victim_plugin.so");
}

/* Loads *library* and takes the stack of *call* through its *function*. */
static void *call_through(struct call *call, const char *library, const char *function)
{
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    void (*f)(void (*)(void *), void *) = (void (*)(void (*)(void *), void *))dlsym(loaded, function);
    assert_non_null(f);
    f(leaf, call);
    return loaded;
}

TEST(a_library_loaded_later_becomes_a_module)
{
    struct call call = begin("plugin.vst", 64, 0);
    outer(&call);
    dlclose(call_through(&call, plugin_path(), "plugin_call"));
    uint64_t through = call.stack;
    middle(&call); /* notices the unloading */
    call.stack = through;
    struct names names = finish(&call);
    struct vs_reader *reader = names.reader;
    assert_symbol(&names.list[0], "leaf", capture_line, 0);
    assert_string_equal(names.list[1].function, "plugin_call");
    assert_string_equal(names.list[1].module, "libvs_victim_plugin.so");
    assert_string_equal(strrchr(names.list[1].file, '/') + 1, "victim_plugin.c");
    vs_reader_rewind(reader);
    uint64_t index = UINT64_MAX;
    int loaded = 0, unloaded = 0;
    for (struct vs_event got; !vs_reader_next(reader, &got);) {
        if (got.kind != VS_EVENT_module)
            continue;
        if (got.module.alive && strstr(vs_reader_string(reader, got.module.path), "victim_plugin")) {
            index = got.module.module;
            assert_true(strlen(vs_reader_string(reader, got.module.build_id)) >= 16);
            loaded++;
        }
        unloaded += !got.module.alive && got.module.module == index;
    }
    assert_int_equal(loaded, 1);
    assert_int_equal(unloaded, 1);
    forget(&names);
}

TEST(without_debug_information_the_symbol_table_names_and_cxx_is_demangled)
{
    struct call call = begin("plain.vst", 64, 0);
    void *plain = call_through(&call, built("libvs_victim_plain.so"), "_ZN4demo4callEPFvPvES0_");
    struct names names = finish(&call);
    assert_string_equal(names.list[1].function, "demo::call(void (*)(void*), void*)");
    assert_int_equal(names.list[1].known, 1);
    assert_null(names.list[1].file);
    assert_int_equal(names.list[1].line, 0);
    forget(&names);
    dlclose(plain);
}

TEST(nothing_of_libunwind_enters_the_programs_scope)
{
    struct call call = begin("scope.vst", 64, 0);
    outer(&call);
    assert_true(call.stack != 0); /* it is loaded */
    assert_null(dlsym(RTLD_DEFAULT, "unw_backtrace"));
    assert_null(dlsym(RTLD_DEFAULT, "_U_dyn_register"));
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
}

TEST(a_module_that_is_gone_or_differs_is_an_offset_and_counted)
{
    const char *copy = scratch("libgone.so");
    copy_file(plugin_path(), copy);
    struct call call = begin("gone.vst", 64, 0);
    void *plugin = call_through(&call, copy, "plugin_call");
    unlink(copy);
    struct names names = finish(&call);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(names.list[1].known, 0);
        assert_null(names.list[1].file);
        assert_memory_equal(names.list[1].function, "libgone.so+0x", 13);
        assert_int_equal(vs_symbols_missing(names.symbols), 1);
        vs_symbols_close(names.symbols);
        copy_file("/proc/self/exe", copy); /* second round: another file exists at that path */
        name_stack(&names, call.stack);
    }
    dlclose(plugin);
    forget(&names);
}

TEST(a_pc_in_no_module_is_an_address)
{
    struct call call = begin("jit.vst", 64, 0);
    outer(&call);
    struct names names = finish(&call);
    struct vs_symbol out[4];
    struct vs_frame frame = {0x1234, VS_NO_MODULE};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vs_symbols_frame(names.symbols, &frame, out, 4), 1);
        assert_string_equal(out[0].function, "0x1234");
        assert_int_equal(out[0].known, 0);
    }
    frame.module = 4000000;
    assert_int_equal(vs_symbols_frame(names.symbols, &frame, out, 4), 1);
    assert_int_equal(out[0].known, 0);
    forget(&names);
}

TEST(no_stacks_when_they_are_off)
{
    struct vs_recorder *r = open_recorder(scratch("off.vst"), 1, 0);
    assert_int_equal(vs_recorder_stack(r, 0), 0);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

static _Atomic bool reloading;

static void *reload(void *arg)
{
    (void)arg;
    while (reloading) {
        void *plugin = dlopen(plugin_path(), RTLD_NOW);
        if (plugin)
            dlclose(plugin);
    }
    return NULL;
}

static void *capture_many(void *arg)
{
    struct call call = *(struct call *)arg;
    for (int i = 0; i < 2000; i++)
        deep(&call, i % 60);
    return NULL;
}

TEST(capture_while_libraries_come_and_go_neither_hangs_nor_damages)
{
    struct call call = begin("reload.vst", 64, 0);
    pthread_t loader, threads[3];
    reloading = true;
    assert_int_equal(pthread_create(&loader, NULL, reload, NULL), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, capture_many, &call), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    reloading = false;
    pthread_join(loader, NULL);
    outer(&call);
    struct names names = finish(&call);
    assert_symbol(&names.list[0], "leaf", capture_line, 0);
    forget(&names);
}
