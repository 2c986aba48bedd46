/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from everywhere they may come from: one library (victim_names.cpp) is stripped,
 * split and hidden in many ways, and its known chain must be named as well as what is
 * left allows, never wrongly. */
#include "unit/trace/trace_test.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "trace/elf_object.h"
#include "trace/symbol_cache.h"
#include "trace/symbolize.h"
#include "trace/symbols.h"

#define FRAMES 64
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

/* --- making libraries and traces --- */

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *fmt, ...)
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

static bool has_tool(const char *name)
{
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

struct call {
    struct vs_recorder *recorder;
    uint64_t stack;
};

__attribute__((noinline)) static void leaf(void *arg)
{
    struct call *call = arg;
    call->stack = vs_recorder_stack(call->recorder, 0);
    NO_TAIL_CALL();
}

typedef void victim_function(void (*)(void *), void *);

/* A trace of a stack through *library* (a path below the scratch directory). */
static void record(const char *trace, const char *library)
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

/* --- looking names up --- */

struct names {
    struct vs_symbol list[128];
    size_t count;
    char note[VS_SYMBOLS_NOTE_MAX];
    struct vs_symbols *symbols;
    struct vs_reader *reader;
};

static void look_up(const char *trace, const struct vs_symbols_options *options,
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
    assert_int_equal(vs_symbols_open(names->reader, &names->symbols), VS_OK);
    names->count = 0;
    for (size_t i = 0; i < n && i < 4; i++)
        names->count += vs_symbols_frame(names->symbols, &frames[i], names->list + names->count,
                                         64);
    vs_symbols_note(names->symbols, names->note);
}

static void let_go(struct names *names)
{
    vs_symbols_close(names->symbols);
    vs_reader_close(names->reader);
}

static const struct vs_symbol *find(const struct names *names, const char *function)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i].known && !strcmp(names->list[i].function, function))
            return &names->list[i];
    return NULL;
}

#define ENTER "demo::enter(void (*)(void*), void*)"
#define HIDDEN "demo::hidden_step" /* has no mangled name in DWARF */
#define HIDDEN_IN_TABLE "demo::hidden_step(void (*)(void*), void*)"
#define FILL "demo::Box<int>::fill(void (*)(void*), void*)"

/* What DWARF knows of the chain. */
static void assert_all_names(const char *trace, const struct vs_symbols_options *options)
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

/* What is left in a stripped library. */
static void assert_only_exported(const char *trace, const struct vs_symbols_options *options)
{
    struct names names;
    look_up(trace, options, &names);
    assert_non_null(find(&names, ENTER));
    assert_null(find(&names, ENTER)->file);
    assert_null(find(&names, HIDDEN));
    assert_null(find(&names, FILL));
    let_go(&names);
}

static void assert_no_names(const char *trace, const struct vs_symbols_options *options,
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

/* victim.so whole, victim.debug its debugging information, stripped.so the rest. */
static void make_files(const char *dir)
{
    if (!has_tool("objcopy"))
        skip();
    shell("mkdir -p %s && cp '%s' %s/victim.so && cd %s && objcopy --only-keep-debug victim.so "
          "victim.debug && objcopy --strip-all victim.so stripped.so",
          dir, built("libvs_victim_names.so"), dir, dir);
}

static void build_id_of(const char *trace, const char *library, char *id)
{
    struct vs_reader *reader = open_reader(scratch(trace));
    struct vs_event event;
    while (!vs_reader_next(reader, &event))
        continue;
    id[0] = '\0';
    for (uint32_t i = 0; vs_reader_module(reader, i); i++)
        if (strstr(vs_reader_module(reader, i)->path, library))
            snprintf(id, VS_BUILD_ID_HEX_MAX, "%s", vs_reader_module(reader, i)->build_id);
    vs_reader_close(reader);
    assert_true(strlen(id) >= 16);
}

/* --- where names come from --- */

static void a_library_with_everything_in_it(void **state)
{
    (void)state;
    make_files("whole");
    record("whole.vst", "whole/victim.so");
    assert_all_names("whole.vst", NULL);
}

static void compressed_debug_sections(void **state)
{
    (void)state;
    make_files("zlib");
    shell("cd zlib && objcopy --compress-debug-sections=zlib victim.so small.so");
    record("zlib.vst", "zlib/small.so");
    assert_all_names("zlib.vst", NULL);
}

static void a_stripped_library_has_its_exported_names(void **state)
{
    (void)state;
    make_files("stripped");
    record("stripped.vst", "stripped/stripped.so");
    assert_only_exported("stripped.vst", NULL);
}

static void a_debug_link_is_followed_beside_the_library(void **state)
{
    (void)state;
    make_files("link");
    shell("cd link && objcopy --add-gnu-debuglink=victim.debug stripped.so && mkdir .debug && "
          "mv victim.debug .debug/ && rm victim.so");
    record("link.vst", "link/stripped.so");
    assert_all_names("link.vst", NULL);
}

static void without_build_ids_the_links_checksum_decides(void **state)
{
    (void)state;
    make_files("crc");
    shell("cd crc && objcopy -R .note.gnu.build-id victim.so && objcopy --only-keep-debug victim.so "
          "victim.debug && objcopy --strip-all victim.so stripped.so && objcopy "
          "--add-gnu-debuglink=victim.debug stripped.so && rm victim.so");
    record("crc.vst", "crc/stripped.so");
    assert_all_names("crc.vst", NULL);
    shell("cd crc && printf x >> victim.debug");
    assert_only_exported("crc.vst", NULL);
}

static void a_debug_file_by_build_id_in_a_given_folder(void **state)
{
    (void)state;
    char id[VS_BUILD_ID_HEX_MAX], dirs[1200];
    make_files("dirs");
    record("dirs.vst", "dirs/stripped.so");
    build_id_of("dirs.vst", "dirs/stripped.so", id);
    shell("mkdir -p debug/.build-id/%.2s && mv dirs/victim.debug debug/.build-id/%.2s/%s.debug", id,
          id, id + 2);
    assert_only_exported("dirs.vst", NULL);
    snprintf(dirs, sizeof dirs, "/nowhere::%s", scratch("debug"));
    struct vs_symbols_options options = {.debug_dirs = dirs};
    assert_all_names("dirs.vst", &options);
    /* a file there of another build is not taken */
    shell("cp '%s' debug/.build-id/%.2s/%s.debug", built("libvs_victim_plugin.so"), id, id + 2);
    assert_only_exported("dirs.vst", &options);
    /* nor is what is no file */
    shell("cd debug/.build-id/%.2s && rm %s.debug && mkfifo %s.debug", id, id + 2, id + 2);
    assert_only_exported("dirs.vst", &options);
}

static void what_a_debuginfod_client_has_cached(void **state)
{
    (void)state;
    char id[VS_BUILD_ID_HEX_MAX];
    make_files("client");
    record("client.vst", "client/stripped.so");
    build_id_of("client.vst", "client/stripped.so", id);
    shell("mkdir -p xdg/debuginfod_client/%s && mv client/victim.debug "
          "xdg/debuginfod_client/%s/debuginfo", id, id);
    assert_only_exported("client.vst", NULL);
    setenv("XDG_CACHE_HOME", scratch("xdg"), 1);
    assert_all_names("client.vst", NULL);
    shell("mv xdg/debuginfod_client own"); /* the library gone, too */
    shell("mv client/stripped.so own/%s/executable", id);
    assert_no_names("client.vst", NULL, "1 module is not on this machine: stripped.so");
    setenv("DEBUGINFOD_CACHE_PATH", scratch("own"), 1);
    assert_all_names("client.vst", NULL);
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("XDG_CACHE_HOME");
}

static void a_debug_file_alone_names_a_library_that_is_gone(void **state)
{
    (void)state;
    char id[VS_BUILD_ID_HEX_MAX];
    make_files("alone");
    record("alone.vst", "alone/stripped.so");
    build_id_of("alone.vst", "alone/stripped.so", id);
    shell("mkdir -p alone/debug/%s && mv alone/victim.debug alone/debug/%s/debuginfo && "
          "rm alone/stripped.so", id, id);
    struct vs_symbols_options options = {.debug_dirs = scratch("alone/debug")};
    assert_all_names("alone.vst", &options);
}

static void below_another_root(void **state)
{
    (void)state;
    make_files("inside");
    record("inside.vst", "inside/victim.so");
    shell("mkdir -p 'root%s' && mv inside 'root%s/'", scratch_dir, scratch_dir);
    assert_no_names("inside.vst", NULL, "not on this machine: victim.so");
    struct vs_symbols_options options = {.sysroot = scratch("root")};
    assert_all_names("inside.vst", &options);
}

static void split_debugging_information(void **state)
{
    (void)state;
    if (access(built("libvs_victim_split.so"), R_OK))
        skip();
    shell("mkdir -p split && cp '%s' split/", built("libvs_victim_split.so"));
    record("split.vst", "split/libvs_victim_split.so");
    assert_all_names("split.vst", NULL);
}

static void mini_debug_information_names_hidden_functions(void **state)
{
    (void)state;
    struct names names;
    if (!has_tool("xz"))
        skip();
    make_files("mini");
    shell("cd mini && objcopy -S --remove-section .gnu_debuglink --keep-symbol="
          "_ZN4demoL11hidden_stepEPFvPvES0_ victim.debug small && xz small && objcopy --add-section "
          ".gnu_debugdata=small.xz stripped.so && rm victim.debug");
    record("mini.vst", "mini/stripped.so");
    look_up("mini.vst", NULL, &names);
    assert_non_null(find(&names, ENTER));
    if (!find(&names, HIDDEN_IN_TABLE))
        print_message("this libdw reads no .gnu_debugdata\n");
    let_go(&names);
}

static void another_build_gives_no_names_and_is_told_of(void **state)
{
    (void)state;
    make_files("other");
    record("other.vst", "other/victim.so");
    shell("cp '%s' other/victim.so", built("libvs_victim_plugin.so"));
    assert_no_names("other.vst", NULL, "1 module changed since: victim.so; names may be missing");
}

static void broken_libraries_do_no_harm(void **state)
{
    (void)state;
    size_t bytes;
    uint64_t seed = 7;
    make_files("broken");
    record("broken.vst", "broken/victim.so");
    unsigned char *whole = slurp(scratch("broken/victim.so"), &bytes);
    unsigned char *copy = malloc(bytes);
    assert_non_null(copy);
    for (int round = 0; round < 60; round++) {
        struct names names;
        memcpy(copy, whole, bytes);
        size_t left = round % 4 ? bytes : random_next(&seed) % bytes;
        for (int i = 0; i < 200 && round % 4; i++) /* the front holds what it is known by */
            copy[4096 + random_next(&seed) % (bytes - 4096)] = (unsigned char)random_next(&seed);
        spit(scratch("broken/victim.so"), copy, left);
        look_up("broken.vst", NULL, &names);
        assert_non_null(find(&names, "leaf"));
        let_go(&names);
    }
    free(whole);
    free(copy);
}

static void plt_stubs_are_called_by_what_they_lead_to(void **state)
{
    (void)state;
    struct vs_symbol out[VS_SYMBOL_INLINES_MAX];
    struct vs_elf_facts facts;
    struct vs_symbols_options options = {.debug_dirs = NULL};
    const char *path = built("libvs_victim_plt.so");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    struct link_map *map;
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    uint64_t stub = (uint64_t)(uintptr_t)dlsym(handle, "victim_plt_begin") - map->l_addr;
    char id[VS_BUILD_ID_HEX_MAX];
    struct call call = {open_recorder(scratch("plt.vst"), 1, 64), 0};
    leaf(&call);
    vs_recorder_close(call.recorder, VS_END_EXIT, 0);
    build_id_of("plt.vst", "libvs_victim_plt.so", id);
    struct vs_debug_query query = {path, id, "", &options};
    struct vs_elf_object *object = vs_elf_object_open(&query, &facts);
    assert_true(object && facts.found);
    bool seen = false;
    for (uint64_t at = 0; at < stub + (64 << 10); at += 8)
        seen |= vs_elf_object_names(object, at, out) &&
                !strcmp(out[0].function, "victim_plt_callee@plt");
    assert_true(seen);
    vs_elf_object_close(object);
    dlclose(handle);
}

/* What the place *after* symbol *name* of FILE in the scratch folder is called. */
static void name_at(const char *file, const char *name, int after, char *out, size_t room)
{
    struct vs_symbol symbols[VS_SYMBOL_INLINES_MAX];
    struct vs_elf_facts facts;
    struct vs_symbols_options options = {.debug_dirs = NULL};
    unsigned long address = 0;
    shell("nm %s | awk '$3 ~ /%s/ { print $1; exit }' > address", "with_symbols.so", name);
    FILE *f = fopen(scratch("address"), "r");
    assert_true(f && fscanf(f, "%lx", &address) == 1);
    fclose(f);
    char path[512];
    snprintf(path, sizeof path, "%s", scratch(file));
    struct vs_debug_query query = {path, "", "", &options};
    struct vs_elf_object *object = vs_elf_object_open(&query, &facts);
    assert_true(object && facts.found);
    size_t count = vs_elf_object_names(object, address + (unsigned long)(long)after, symbols);
    snprintf(out, room, "%s", count && symbols[0].known ? symbols[0].function : "");
    vs_elf_object_close(object);
}

static void the_frame_of_a_signal_is_named_with_and_without_symbols(void **state)
{
    (void)state;
    char name[512];
#ifndef __x86_64__
    skip();
#endif
    shell("printf '%%s\\n' .text 'push %%rbp' ret nop __restore_rt: 'mov $15,%%rax' syscall nop "
          "'.globl after' after: 'mov $15,%%eax' syscall > restore.s && "
          "cc -shared -nostdlib -Wl,--build-id=none -o with_symbols.so restore.s && "
          "strip -o stripped.so with_symbols.so");
    name_at("with_symbols.so", "__restore_rt", -1, name, sizeof name);
    assert_string_equal(name, "<signal handler called>");
    name_at("stripped.so", "__restore_rt", -1, name, sizeof name);
    assert_string_equal(name, "<signal handler called>");
    name_at("stripped.so", "after", -1, name, sizeof name);
    assert_string_not_equal(name, "<signal handler called>");
    name_at("with_symbols.so", "after", 2, name, sizeof name);
    assert_string_equal(name, "after");
}

static void a_lambda_is_named_by_the_function_it_is_in(void **state)
{
    (void)state;
    char name[512];
    if (!has_tool("c++"))
        skip();
    shell("printf '%%s\\n' 'int out;' 'namespace n { struct S { void f(int); }; }' "
          "'void n::S::f(int k) { auto l = [k](int x) { out = x + k; }; l(1); }' "
          "'extern \"C\" int plain() { auto l = [](int x) { out = x; }; l(2); return 0; }' > l.cpp && "
          "c++ -g -O0 -shared -fPIC -nostdlib -Wl,--build-id=none -o with_symbols.so l.cpp");
    name_at("with_symbols.so", "^_ZZN1n1S1f", 4, name, sizeof name);
    assert_non_null(strstr(name, "n::S::f(int)::{lambda"));
    assert_non_null(strstr(name, "::operator()"));
    name_at("with_symbols.so", "^_ZZ5plain", 4, name, sizeof name);
    assert_non_null(strstr(name, "plain::{lambda"));
    assert_non_null(strstr(name, "::operator()"));
}

static void a_server_that_does_not_answer_costs_the_time_given_and_no_more(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    if (!dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL)) /* stays: LeakSanitizer wants it */
        skip();
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    char url[64];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server, 8), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &length), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    make_files("late");
    record("late.vst", "late/stripped.so");
    shell("rm late/*");
    setenv("DEBUGINFOD_URLS", url, 1);
    setenv("DEBUGINFOD_CACHE_PATH", scratch("late/client"), 1);
    assert_no_names("late.vst", NULL, "not on this machine"); /* nobody is asked */
    struct vs_symbols_options options = {.debuginfod = true, .budget_ms = 1000};
    struct names names;
    look_up("late.vst", &options, &names);
    assert_null(find(&names, ENTER));
    assert_non_null(strstr(names.note, "no time left"));
    let_go(&names);
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    close(server);
}

/* --- the cache on disk --- */

static void names_are_kept_on_disk(void **state)
{
    (void)state;
    make_files("kept");
    record("kept.vst", "kept/victim.so");
    struct vs_symbols_options options = {.cache_dir = scratch("cache/deep/symbols")};
    char dir[512];
    snprintf(dir, sizeof dir, "%s", options.cache_dir);
    options.cache_dir = dir;
    assert_all_names("kept.vst", &options);
    shell("rm -r kept"); /* nothing but the cache is left */
    assert_all_names("kept.vst", &options);
    assert_no_names("kept.vst", NULL, "not on this machine");
}

static void a_debug_file_installed_later_replaces_poorer_names(void **state)
{
    (void)state;
    char dir[512];
    make_files("later");
    shell("cd later && objcopy --add-gnu-debuglink=victim.debug stripped.so && rm victim.so && "
          "mv victim.debug away");
    record("later.vst", "later/stripped.so");
    snprintf(dir, sizeof dir, "%s", scratch("later/cache"));
    struct vs_symbols_options options = {.cache_dir = dir};
    assert_only_exported("later.vst", &options);
    assert_only_exported("later.vst", &options);
    shell("cd later && mv away victim.debug");
    assert_all_names("later.vst", &options);
    shell("cd later && rm victim.debug"); /* better names stay */
    assert_all_names("later.vst", &options);
    shell("cp '%s' later/stripped.so", built("libvs_victim_plugin.so")); /* built anew */
    assert_all_names("later.vst", &options);
}

static void a_damaged_cache_is_passed_over_and_written_anew(void **state)
{
    (void)state;
    char dir[512], id[VS_BUILD_ID_HEX_MAX], file[700];
    size_t bytes;
    make_files("damage");
    record("damage.vst", "damage/victim.so");
    build_id_of("damage.vst", "damage/victim.so", id);
    snprintf(dir, sizeof dir, "%s", scratch("damage/cache"));
    snprintf(file, sizeof file, "%s/%s", dir, id);
    struct vs_symbols_options options = {.cache_dir = dir};
    assert_all_names("damage.vst", &options);
    unsigned char *good = slurp(file, &bytes);
    for (size_t i = 0; i < bytes; i++) { /* every byte, and every length */
        struct vs_symbol_set set = {.budget = 1 << 20};
        struct vs_symbol_source source;
        unsigned char old = good[i];
        good[i] ^= 0x5a;
        assert_int_equal(vs_symbol_cache_decode(good, bytes, id, &set, &source),
                         VS_ERR_NOT_FOUND);
        good[i] = old;
        assert_int_equal(vs_symbol_cache_decode(good, i, id, &set, &source), VS_ERR_NOT_FOUND);
        vs_symbol_set_free(&set);
    }
    spit(file, good, bytes / 2);
    assert_all_names("damage.vst", &options);
    size_t again;
    unsigned char *rewritten = slurp(file, &again);
    assert_int_equal(again, bytes);
    free(rewritten);
    free(good);
    shell("rm -r damage/cache && touch damage/cache"); /* no folder, and none can be made */
    assert_all_names("damage.vst", &options);
}

static void the_cache_stays_below_its_size(void **state)
{
    (void)state;
    shell("mkdir full && cd full && for i in 1 2 3 4; do head -c 1000 /dev/zero > aaaa$i$i; "
          "touch -d \"-$i hours\" aaaa$i$i; done && echo > unrelated && echo > .aaaa11.x1Y2z3 && "
          "echo > .profile && touch -d '-1 day' .aaaa11.x1Y2z3 .profile");
    vs_symbol_cache_trim(scratch("full"), 2500);
    shell("cd full && test -e aaaa11 -a -e aaaa22 -a ! -e aaaa33 -a ! -e aaaa44 -a -e unrelated "
          "-a ! -e .aaaa11.x1Y2z3 -a -e .profile");
}

static void several_processes_share_the_cache(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    char dir[512];
    make_files("shared");
    record("shared.vst", "shared/victim.so");
    snprintf(dir, sizeof dir, "%s", scratch("shared/cache"));
    struct vs_symbols_options options = {.cache_dir = dir};
    pid_t children[6];
    for (int i = 0; i < 6; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int k = 0; k < 10; k++) {
                struct names names;
                if (k % 3 == i % 3)
                    vs_symbol_cache_trim(dir, 0);
                look_up("shared.vst", &options, &names);
                bool right = find(&names, FILL) && find(&names, ENTER);
                let_go(&names);
                if (!right)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < 6; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_all_names("shared.vst", &options);
}

/* --- names in the trace --- */

static void symbolize(const char *trace, const char *to, const char *debug_dirs,
                      struct vs_symbolize_result *result)
{
    char why[VS_READER_WHY_MAX] = "", target[512];
    struct vs_symbols_options options = {.debug_dirs = debug_dirs, .afresh = true};
    vs_symbols_configure(&options);
    snprintf(target, sizeof target, "%s", to ? scratch(to) : "");
    if (vs_symbolize(scratch(trace), to ? target : NULL, result, why))
        fail_msg("%s", why);
    assert_true(result->places > 3 && result->named <= result->places);
}

static void a_symbolized_trace_needs_no_files(void **state)
{
    (void)state;
    struct vs_symbolize_result result, again;
    size_t first_bytes, second_bytes;
    make_files("travel");
    record("travel.vst", "travel/victim.so");
    symbolize("travel.vst", "copy.vst", NULL, &result);
    free(slurp(scratch("copy.vst"), &first_bytes));
    shell("rm -r travel");
    assert_all_names("copy.vst", NULL);
    assert_no_names("travel.vst", NULL, "not on this machine"); /* was left as it is */
    symbolize("copy.vst", NULL, NULL, &again); /* nothing is lost where nothing is found */
    free(slurp(scratch("copy.vst"), &second_bytes));
    assert_int_equal(again.named, result.named);
    assert_int_equal(again.with_lines, result.with_lines);
    assert_int_equal(first_bytes, second_bytes);
    assert_all_names("copy.vst", NULL);
    vs_symbolize_free(&result);
    vs_symbolize_free(&again);
}

static void names_in_the_trace_get_better_and_never_worse(void **state)
{
    (void)state;
    char id[VS_BUILD_ID_HEX_MAX], dir[512];
    struct vs_symbolize_result result;
    make_files("better");
    record("better.vst", "better/stripped.so");
    build_id_of("better.vst", "better/stripped.so", id);
    symbolize("better.vst", NULL, NULL, &result);
    size_t lines = result.with_lines;
    vs_symbolize_free(&result);
    assert_only_exported("better.vst", NULL);
    shell("mkdir -p better/debug/%s && mv better/victim.debug better/debug/%s/debuginfo", id, id);
    snprintf(dir, sizeof dir, "%s", scratch("better/debug"));
    symbolize("better.vst", NULL, dir, &result);
    assert_true(result.with_lines > lines);
    vs_symbolize_free(&result);
    shell("rm -r better/debug");
    symbolize("better.vst", NULL, NULL, &result);
    vs_symbolize_free(&result);
    assert_all_names("better.vst", NULL);
}

static void a_trace_that_is_cut_off_is_not_replaced(void **state)
{
    (void)state;
    struct vs_symbolize_result result;
    char why[VS_READER_WHY_MAX] = "", to[512];
    size_t bytes, again;
    make_files("cut");
    record("cut.vst", "cut/victim.so");
    unsigned char *whole = slurp(scratch("cut.vst"), &bytes);
    spit(scratch("cut.vst"), whole, bytes - 40);
    assert_int_equal(vs_symbolize(scratch("cut.vst"), NULL, &result, why), VS_ERR_CORRUPT);
    assert_non_null(strstr(why, "add -o FILE"));
    vs_symbolize_free(&result);
    unsigned char *left = slurp(scratch("cut.vst"), &again);
    assert_int_equal(again, bytes - 40);
    assert_memory_equal(left, whole, again);
    snprintf(to, sizeof to, "%s", scratch("mended.vst"));
    assert_int_equal(vs_symbolize(scratch("cut.vst"), to, &result, why), VS_OK);
    vs_symbolize_free(&result);
    assert_all_names("mended.vst", NULL);
    free(left);
    free(whole);
}

static void what_has_no_name_is_listed(void **state)
{
    (void)state;
    struct vs_symbolize_result result;
    make_files("list");
    record("list.vst", "list/victim.so");
    shell("rm list/victim.so");
    symbolize("list.vst", NULL, NULL, &result);
    bool seen = false;
    for (size_t i = 0; i < result.unnamed_count; i++)
        seen |= !strcmp(result.unnamed[i].name, "victim.so") && result.unnamed[i].places == 2 &&
                result.unnamed[i].named == 0;
    assert_true(seen);
    assert_non_null(strstr(result.note, "1 module is not on this machine: victim.so"));
    vs_symbolize_free(&result);
}

/* --- sets of names --- */

static void a_set_comes_back_from_its_bytes(void **state)
{
    (void)state;
    struct vs_symbol_set set = {.budget = 64 << 20}, back = {.budget = 64 << 20};
    uint64_t seed = 3;
    unsigned char *payload = malloc(VS_FRAME_RAW_MAX);
    assert_non_null(payload);
    char function[64], file[64];
    for (int i = 0; i < 5000; i++) {
        struct vs_symbol symbols[3];
        size_t count = random_next(&seed) % 4;
        for (size_t k = 0; k < count; k++) {
            snprintf(function, sizeof function, "f%d", (int)(random_next(&seed) % 300));
            snprintf(file, sizeof file, "dir/%d.c", (int)(random_next(&seed) % 50));
            symbols[k] = (struct vs_symbol){.function = strdup(function), .file = strdup(file),
                                            .line = (unsigned)random_next(&seed), .known = 1};
        }
        assert_int_equal(vs_symbol_set_put(&set, (uint32_t)(random_next(&seed) % 5),
                                           random_next(&seed) >> random_next(&seed) % 64,
                                           VS_LEVEL_LINES, symbols, count), VS_OK);
        for (size_t k = 0; k < count; k++) {
            free((char *)symbols[k].function);
            free((char *)symbols[k].file);
        }
    }
    size_t next = 0, bytes, payloads = 0;
    while (next < set.count) { /* little room: many payloads */
        assert_int_equal(vs_symbol_set_encode(&set, &next, payload, 6000, &bytes), VS_OK);
        assert_true(bytes <= 6000);
        assert_int_equal(vs_symbol_set_decode(&back, payload, bytes), VS_OK);
        payloads++;
    }
    assert_true(payloads > 3);
    assert_int_equal(back.count, set.count);
    for (size_t i = 0; i < set.count; i++) {
        const struct vs_symbol_entry *a = set.entries[i];
        const struct vs_symbol_entry *b = vs_symbol_set_find(&back, a->module, a->offset);
        assert_true(b && a->count == b->count && a->level == b->level);
        for (size_t k = 0; k < a->count; k++) {
            assert_string_equal(a->symbols[k].function, b->symbols[k].function);
            assert_string_equal(a->symbols[k].file, b->symbols[k].file);
            assert_int_equal(a->symbols[k].line, b->symbols[k].line);
            assert_int_equal(b->symbols[k].inlined, k + 1 < a->count);
        }
    }
    vs_symbol_set_free(&set);
    vs_symbol_set_free(&back);
    free(payload);
}

static void a_set_stops_at_its_budget(void **state)
{
    (void)state;
    struct vs_symbol_set set = {.budget = 64 << 10};
    struct vs_symbol symbol = {.function = "f", .known = 1};
    enum vs_err err = VS_OK;
    uint64_t i = 0;
    for (; i < 100000 && !err; i++)
        err = vs_symbol_set_put(&set, 0, i, VS_LEVEL_TABLE, &symbol, 1);
    assert_int_equal(err, VS_ERR_LIMIT);
    assert_non_null(vs_symbol_set_find(&set, 0, 0));
    assert_true(set.arena.bytes_mapped < 1 << 20);
    vs_symbol_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_with_everything_in_it),
        cmocka_unit_test(compressed_debug_sections),
        cmocka_unit_test(a_stripped_library_has_its_exported_names),
        cmocka_unit_test(a_debug_link_is_followed_beside_the_library),
        cmocka_unit_test(without_build_ids_the_links_checksum_decides),
        cmocka_unit_test(a_debug_file_by_build_id_in_a_given_folder),
        cmocka_unit_test(what_a_debuginfod_client_has_cached),
        cmocka_unit_test(a_debug_file_alone_names_a_library_that_is_gone),
        cmocka_unit_test(below_another_root),
        cmocka_unit_test(split_debugging_information),
        cmocka_unit_test(mini_debug_information_names_hidden_functions),
        cmocka_unit_test(another_build_gives_no_names_and_is_told_of),
        cmocka_unit_test(broken_libraries_do_no_harm),
        cmocka_unit_test(plt_stubs_are_called_by_what_they_lead_to),
        cmocka_unit_test(the_frame_of_a_signal_is_named_with_and_without_symbols),
        cmocka_unit_test(a_lambda_is_named_by_the_function_it_is_in),
        cmocka_unit_test(names_are_kept_on_disk),
        cmocka_unit_test(a_debug_file_installed_later_replaces_poorer_names),
        cmocka_unit_test(a_damaged_cache_is_passed_over_and_written_anew),
        cmocka_unit_test(the_cache_stays_below_its_size),
        cmocka_unit_test(several_processes_share_the_cache),
        cmocka_unit_test(a_symbolized_trace_needs_no_files),
        cmocka_unit_test(names_in_the_trace_get_better_and_never_worse),
        cmocka_unit_test(a_trace_that_is_cut_off_is_not_replaced),
        cmocka_unit_test(what_has_no_name_is_listed),
        cmocka_unit_test(a_set_comes_back_from_its_bytes),
        cmocka_unit_test(a_set_stops_at_its_budget),
        cmocka_unit_test(a_server_that_does_not_answer_costs_the_time_given_and_no_more),
    };
    /* the machine's own settings and caches stay out of it */
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/nonexistent", 1);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
