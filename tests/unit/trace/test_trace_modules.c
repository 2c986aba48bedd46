/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of modules in a process that loads, unloads and replaces objects: every stack is
 * resolved against the objects loaded at its time, by build ids from memory. */
#include "unit/trace/trace_test.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define FRAMES 128
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

typedef void plugin_function(void (*)(void *), void *);

struct call {
    struct vs_recorder *recorder;
    uint64_t stack;
};

__attribute__((noinline)) static void leaf(void *arg)
{
    struct call *call = arg;
    call->stack = vs_recorder_stack(call->recorder, 0);
    record_event(call->recorder, EVENT(free, .stack = call->stack));
    NO_TAIL_CALL();
}

static void call_through(void *library, const char *function, struct call *call)
{
    plugin_function *f = (plugin_function *)dlsym(library, function);
    assert_non_null(f);
    f(leaf, call);
    assert_true(call->stack != 0);
}

static void *load_and_call(const char *path, struct call *call)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    call_through(library, "plugin_call", call);
    return library;
}

/* The result: the module of the second frame of each `free` event, in order. */
struct seen {
    char path[512], build_id[160];
};

static size_t read_back(const char *path, struct seen *list, size_t max)
{
    struct vs_reader *reader = open_reader(path);
    size_t n = 0;
    for (struct vs_event e; next_plain(reader, &e);) {
        struct vs_frame frames[FRAMES];
        if (e.kind != VS_EVENT_free)
            continue;
        assert_true(n < max);
        assert_in_range(vs_reader_stack(reader, e.free.stack, frames, FRAMES), 2, FRAMES);
        const struct vs_module *m = vs_reader_module(reader, frames[1].module);
        assert_non_null(m);
        assert_in_range(frames[1].pc, m->start, m->end - 1);
        snprintf(list[n].path, sizeof list[n].path, "%s", m->path);
        snprintf(list[n++].build_id, sizeof list[0].build_id, "%s", m->build_id);
    }
    close_reader(reader, VS_TRACE_COMPLETE);
    return n;
}

TEST(a_file_replaced_while_mapped_keeps_the_build_id_of_what_runs)
{
    const char *trace = scratch("replaced.vst"), *copy = scratch("libchanging.so");
    struct call call = {open_recorder(trace, 1, 64), 0};
    struct seen seen[3];
    copy_file(built("libvs_victim_plugin.so"), copy);
    void *first = load_and_call(built("libvs_victim_plugin.so"), &call);
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    unlink(copy);
    copy_file(built("libvs_victim_plain.so"), copy);
    call_through(library, "plugin_call", &call); /* noticed only at this call */
    char again[600]; /* another name, otherwise the loader treats it as the same */
    snprintf(again, sizeof again, "%s/./libchanging.so", scratch_dir);
    void *other = dlopen(again, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(other);
    unlink(copy);
    call_through(other, "_ZN4demo4callEPFvPvES0_", &call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    assert_int_equal(read_back(trace, seen, 3), 3);
    assert_string_equal(seen[1].path, copy);
    assert_string_equal(seen[2].path, again);
    assert_true(strlen(seen[0].build_id) >= 16);
    assert_string_equal(seen[1].build_id, seen[0].build_id);
    assert_string_not_equal(seen[2].build_id, seen[0].build_id);
    dlclose(other);
    dlclose(library);
    dlclose(first);
}

TEST(a_library_that_never_was_a_file_has_its_build_id)
{
    const char *trace = scratch("memfd.vst");
    char path[64];
    size_t bytes;
    struct call call = {open_recorder(trace, 1, 64), 0};
    struct seen seen[2];
    unsigned char *data = slurp(built("libvs_victim_plugin.so"), &bytes);
    int fd = (int)syscall(SYS_memfd_create, "made", 0u);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    free(data);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *library = load_and_call(path, &call);
    close(fd);
    void *plain = load_and_call(built("libvs_victim_plugin.so"), &call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    assert_int_equal(read_back(trace, seen, 2), 2);
    assert_string_equal(seen[0].path, path);
    assert_string_equal(seen[0].build_id, seen[1].build_id);
    dlclose(plain);
    dlclose(library);
}

/* Unloaded without a report to the recorder; noticed at the next new stack. */
TEST(another_library_at_the_same_addresses_is_itself)
{
    const char *trace = scratch("same.vst");
    char paths[2][512];
    struct call call = {open_recorder(trace, 1, 64), 0};
    struct seen seen[8];
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/libtwin%d.so", scratch_dir, i);
        copy_file(built("libvs_victim_plugin.so"), paths[i]);
    }
    void *at[2] = {NULL, NULL};
    for (int i = 0; i < 8; i++) { /* the copies are identical: only the path differs */
        void *library = load_and_call(paths[i & 1], &call);
        at[i & 1] = dlsym(library, "plugin_call");
        dlclose(library);
        vs_recorder_unloaded(call.recorder);
    }
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    assert_int_equal(read_back(trace, seen, 8), 8);
    for (int i = 0; i < 8; i++)
        assert_string_equal(seen[i].path, paths[i & 1]);
    if (at[0] != at[1])
        print_message("the addresses differ: %p %p\n", at[0], at[1]);
}

TEST(callers_in_another_library_are_distinguished_without_stacks)
{
    struct vs_recorder *recorder = open_with((struct vs_recorder_config){
        .path = scratch("callers.vst"), .no_native = true});
    char paths[2][512];
    uint64_t ids[2] = {0, 0};
    void *at[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/libcaller%d.so", scratch_dir, i);
        copy_file(built("libvs_victim_plugin.so"), paths[i]);
    }
    for (int i = 0; i < 8; i++) {
        void *library = dlopen(paths[i & 1], RTLD_NOW);
        assert_non_null(library);
        at[i & 1] = dlsym(library, "plugin_call");
        ids[i & 1] = vs_recorder_caller(recorder, (const char *)at[i & 1] + 4);
        assert_int_not_equal(ids[i & 1], 0);
        if (at[0] == at[1])
            assert_int_not_equal(ids[0], ids[1]);
        dlclose(library);
        vs_recorder_unloaded(recorder);
    }
    vs_recorder_close(recorder, VS_END_EXIT, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NAME_SPACES 0 /* the sanitizer's runtime does not support a second C library */
#else
#define NAME_SPACES 1
#endif

TEST(another_name_space_is_listed_and_goes)
{
    if (!NAME_SPACES)
        skip();
    const char *trace = scratch("spaces.vst");
    char path[512];
    struct call call = {open_recorder(trace, 1, 64), 0};
    snprintf(path, sizeof path, "%s", built("libvs_victim_plugin.so"));
    leaf(&call);
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    if (!library) {
        print_message("no second name space here: %s\n", dlerror());
        vs_recorder_close(call.recorder, VS_END_EXIT, 0);
        skip();
    }
    call_through(library, "plugin_call", &call);
    dlclose(library);
    vs_recorder_unloaded(call.recorder);
    uint64_t stack = call.stack;
    leaf(&call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);

    struct vs_reader *reader = open_reader(trace);
    struct vs_frame frames[FRAMES];
    unsigned alive = 0, gone = 0;
    uint64_t index = UINT64_MAX;
    for (struct vs_event e; !vs_reader_next(reader, &e);) {
        if (e.kind != VS_EVENT_module)
            continue;
        if (e.module.alive && !strcmp(vs_reader_string(reader, e.module.path), path)) {
            index = e.module.module;
            alive++;
        }
        gone += !e.module.alive && e.module.module == index;
    }
    assert_in_range(vs_reader_stack(reader, stack, frames, FRAMES), 4, FRAMES);
    assert_int_equal(frames[1].module, index);
    assert_int_equal(frames[2].module, frames[0].module); /* the walk succeeded */
    assert_int_equal(alive, 1);
    assert_int_equal(gone, 1);
    vs_reader_close(reader);
}

/* As many as in a process with many plugins: VS_TEST_MODULES of them. */
TEST(thousands_of_modules_come_one_by_one_and_go_at_once)
{
    const char *trace = scratch("many.vst"), *wanted = getenv("VS_TEST_MODULES");
    size_t count = wanted ? strtoul(wanted, NULL, 10) : 200, bytes;
    struct call call = {open_recorder(trace, 1, 64), 0};
    void **libraries = calloc(count, sizeof *libraries);
    struct seen *seen = calloc(count + 1, sizeof *seen);
    unsigned char *data = slurp(built("libvs_victim_plugin.so"), &bytes);
    char path[512];
    assert_non_null(libraries);
    assert_non_null(seen);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/libnumber%zu.so", scratch_dir, i);
        spit(path, data, bytes);
        libraries[i] = load_and_call(path, &call);
        unlink(path);
    }
    for (size_t i = 0; i < count; i++)
        dlclose(libraries[i]);
    vs_recorder_unloaded(call.recorder);
    void *last = load_and_call(built("libvs_victim_plugin.so"), &call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    assert_int_equal(read_back(trace, seen, count + 1), count + 1);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/libnumber%zu.so", scratch_dir, i);
        assert_string_equal(seen[i].path, path);
    }
    dlclose(last);
    free(seen);
    free(data);
    free(libraries);
}

TEST(what_the_kernel_brought_is_a_module)
{
    const char *trace = scratch("vdso.vst");
    struct call call = {open_recorder(trace, 1, 64), 0};
    leaf(&call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(trace);
    bool vdso = false, first = true;
    char self[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    for (struct vs_event e; !vs_reader_next(reader, &e);) {
        if (e.kind != VS_EVENT_module)
            continue;
        const char *path = vs_reader_string(reader, e.module.path);
        if (first)
            assert_string_equal(path, self); /* the program comes first */
        first = false;
        vdso |= strstr(path, "vdso") && strlen(vs_reader_string(reader, e.module.build_id)) >= 16;
    }
    assert_false(first);
    assert_true(vdso || access("/proc/self/maps", R_OK));
    vs_reader_close(reader);
}
