/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from every possible source: one library (victim_names.cpp) is stripped, split and hidden in
 * many ways, and its known chain must be named as well as the remaining information allows, never
 * wrongly. */
#include "unit/trace/symbols_test.h"

#include <dlfcn.h>
#include <link.h>
#include <netinet/in.h>
#include <sys/socket.h>

TEST(a_library_with_everything_in_it)
{
    make_files("whole");
    record("whole.vst", "whole/victim.so");
    assert_all_names("whole.vst", NULL);
}

TEST(compressed_debug_sections)
{
    make_files("zlib");
    shell("cd zlib && objcopy --compress-debug-sections=zlib victim.so small.so");
    record("zlib.vst", "zlib/small.so");
    assert_all_names("zlib.vst", NULL);
}

TEST(a_stripped_library_has_its_exported_names)
{
    make_files("stripped");
    record("stripped.vst", "stripped/stripped.so");
    assert_only_exported("stripped.vst", NULL);
}

TEST(a_debug_link_is_followed_beside_the_library)
{
    make_files("link");
    shell("cd link && objcopy --add-gnu-debuglink=victim.debug stripped.so && mkdir .debug && "
          "mv victim.debug .debug/ && rm victim.so");
    record("link.vst", "link/stripped.so");
    assert_all_names("link.vst", NULL);
}

TEST(without_build_ids_the_links_checksum_decides)
{
    make_files("crc");
    shell("cd crc && objcopy -R .note.gnu.build-id victim.so && objcopy --only-keep-debug victim.so "
          "victim.debug && objcopy --strip-all victim.so stripped.so && objcopy "
          "--add-gnu-debuglink=victim.debug stripped.so && rm victim.so");
    record("crc.vst", "crc/stripped.so");
    assert_all_names("crc.vst", NULL);
    shell("cd crc && printf x >> victim.debug");
    assert_only_exported("crc.vst", NULL);
}

TEST(a_debug_file_by_build_id_in_a_given_folder)
{
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
    /* a file there of another build is not used */
    shell("cp '%s' debug/.build-id/%.2s/%s.debug", built("libvs_victim_plugin.so"), id, id + 2);
    assert_only_exported("dirs.vst", &options);
    /* nor one that is not a regular file */
    shell("cd debug/.build-id/%.2s && rm %s.debug && mkfifo %s.debug", id, id + 2, id + 2);
    assert_only_exported("dirs.vst", &options);
}

TEST(what_a_debuginfod_client_has_cached)
{
    char id[VS_BUILD_ID_HEX_MAX];
    make_files("client");
    record("client.vst", "client/stripped.so");
    build_id_of("client.vst", "client/stripped.so", id);
    shell("mkdir -p xdg/debuginfod_client/%s && mv client/victim.debug "
          "xdg/debuginfod_client/%s/debuginfo", id, id);
    assert_only_exported("client.vst", NULL);
    setenv("XDG_CACHE_HOME", scratch("xdg"), 1);
    assert_all_names("client.vst", NULL);
    shell("mv xdg/debuginfod_client own"); /* the library is removed, too */
    shell("mv client/stripped.so own/%s/executable", id);
    assert_no_names("client.vst", NULL, "1 module is not on this machine: stripped.so");
    setenv("DEBUGINFOD_CACHE_PATH", scratch("own"), 1);
    assert_all_names("client.vst", NULL);
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("XDG_CACHE_HOME");
}

TEST(a_debug_file_alone_names_a_library_that_is_gone)
{
    char id[VS_BUILD_ID_HEX_MAX];
    make_files("alone");
    record("alone.vst", "alone/stripped.so");
    build_id_of("alone.vst", "alone/stripped.so", id);
    shell("mkdir -p alone/debug/%s && mv alone/victim.debug alone/debug/%s/debuginfo && "
          "rm alone/stripped.so", id, id);
    struct vs_symbols_options options = {.debug_dirs = scratch("alone/debug")};
    assert_all_names("alone.vst", &options);
}

TEST(below_another_root)
{
    make_files("inside");
    record("inside.vst", "inside/victim.so");
    shell("mkdir -p 'root%s' && mv inside 'root%s/'", scratch_dir, scratch_dir);
    assert_no_names("inside.vst", NULL, "not on this machine: victim.so");
    struct vs_symbols_options options = {.sysroot = scratch("root")};
    assert_all_names("inside.vst", &options);
}

TEST(split_debugging_information)
{
    if (access(built("libvs_victim_split.so"), R_OK))
        skip();
    shell("mkdir -p split && cp '%s' split/", built("libvs_victim_split.so"));
    record("split.vst", "split/libvs_victim_split.so");
    assert_all_names("split.vst", NULL);
}

TEST(mini_debug_information_names_hidden_functions)
{
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

TEST(another_build_gives_no_names_and_is_reported)
{
    make_files("other");
    record("other.vst", "other/victim.so");
    shell("cp '%s' other/victim.so", built("libvs_victim_plugin.so"));
    assert_no_names("other.vst", NULL, "1 module changed since the recording: victim.so; "
                    "function names may be missing");
}

TEST(broken_libraries_do_no_harm)
{
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
        size_t left = round % 4 ? bytes : vs_random(&seed) % bytes;
        for (int i = 0; i < 200 && round % 4; i++) /* the beginning has its identification */
            copy[4096 + vs_random(&seed) % (bytes - 4096)] = (unsigned char)vs_random(&seed);
        spit(scratch("broken/victim.so"), copy, left);
        look_up("broken.vst", NULL, &names);
        assert_non_null(find(&names, "leaf"));
        let_go(&names);
    }
    free(whole);
    free(copy);
}

TEST(plt_stubs_are_called_by_what_they_lead_to)
{
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

/* The name of the place *after* symbol *name* of FILE in the scratch folder. */
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

TEST(the_frame_of_a_signal_is_named_with_and_without_symbols)
{
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

TEST(a_lambda_is_named_by_the_function_it_is_in)
{
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

TEST(a_server_that_does_not_answer_costs_the_time_given_and_no_more)
{
    SKIP_UNDER_TSAN();
    if (!dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL)) /* never closed, for LeakSanitizer */
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
    assert_no_names("late.vst", NULL, "not on this machine"); /* no server is contacted */
    struct vs_symbols_options options = {.debuginfod = true, .budget_ms = 1000};
    struct names names;
    look_up("late.vst", &options, &names);
    assert_null(find(&names, ENTER));
    assert_non_null(strstr(names.note, "not looked up within"));
    let_go(&names);
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    close(server);
}
