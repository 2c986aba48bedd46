/* SPDX-License-Identifier: Apache-2.0
 *
 * Cached names: in the cache on disk, which several processes share and which may be damaged, and
 * in the trace itself, which then needs no files. */
#include "unit/trace/symbols_test.h"

#include <sys/wait.h>

#include "trace/symbols/symbol_cache.h"
#include "trace/symbols/symbols.h"

/* --- the cache on disk --- */

/* Options with the cache in that folder; valid until the next call. */
static struct vs_symbols_options cache_in(const char *folder)
{
    static char dir[512];
    snprintf(dir, sizeof dir, "%s", scratch(folder));
    return (struct vs_symbols_options){.cache_dir = dir};
}

TEST(names_are_kept_on_disk)
{
    make_files("kept");
    record("kept.vst", "kept/victim.so");
    struct vs_symbols_options options = cache_in("cache/deep/symbols");
    assert_all_names("kept.vst", &options);
    shell("rm -r kept"); /* only the cache is left */
    assert_all_names("kept.vst", &options);
    assert_no_names("kept.vst", NULL, "not on this machine");
}

TEST(a_debug_file_installed_later_replaces_poorer_names)
{
    make_files("later");
    shell("cd later && objcopy --add-gnu-debuglink=victim.debug stripped.so && rm victim.so && "
          "mv victim.debug away");
    record("later.vst", "later/stripped.so");
    struct vs_symbols_options options = cache_in("later/cache");
    assert_only_exported("later.vst", &options);
    assert_only_exported("later.vst", &options);
    shell("cd later && mv away victim.debug");
    assert_all_names("later.vst", &options);
    shell("cd later && rm victim.debug"); /* better names stay */
    assert_all_names("later.vst", &options);
    shell("cp '%s' later/stripped.so", built("libvs_victim_plugin.so")); /* built anew */
    assert_all_names("later.vst", &options);
}

TEST(a_stripped_copy_of_the_same_build_takes_no_names_away)
{
    make_files("copy");
    record("copy.vst", "copy/victim.so");
    struct vs_symbols_options options = cache_in("copy/cache");
    assert_all_names("copy.vst", &options);
    shell("cd copy && rm victim.debug; cp stripped.so victim.so");
    for (int i = 0; i < 3; i++)
        assert_all_names("copy.vst", &options);
}

TEST(a_damaged_cache_is_passed_over_and_written_anew)
{
    char id[VS_BUILD_ID_HEX_MAX], file[700];
    size_t bytes;
    make_files("damage");
    record("damage.vst", "damage/victim.so");
    build_id_of("damage.vst", "damage/victim.so", id);
    struct vs_symbols_options options = cache_in("damage/cache");
    snprintf(file, sizeof file, "%s/%s", options.cache_dir, id);
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
    shell("rm -r damage/cache && touch damage/cache"); /* not a folder, and none can be created */
    assert_all_names("damage.vst", &options);
}

TEST(the_cache_stays_below_its_size)
{
    shell("mkdir full && cd full && for i in 1 2 3 4; do head -c 1000 /dev/zero > aaaa$i$i; "
          "touch -d \"-$i hours\" aaaa$i$i; done && echo > unrelated && echo > .aaaa11.x1Y2z3 && "
          "echo > .profile && touch -d '-1 day' .aaaa11.x1Y2z3 .profile");
    vs_symbol_cache_trim(scratch("full"), 2500);
    shell("cd full && test -e aaaa11 -a -e aaaa22 -a ! -e aaaa33 -a ! -e aaaa44 -a -e unrelated "
          "-a ! -e .aaaa11.x1Y2z3 -a -e .profile");
}

TEST(several_processes_share_the_cache)
{
    SKIP_UNDER_TSAN();
    make_files("shared");
    record("shared.vst", "shared/victim.so");
    struct vs_symbols_options options = cache_in("shared/cache");
    pid_t children[6];
    for (int i = 0; i < 6; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int k = 0; k < 10; k++) {
                struct names names;
                if (k % 3 == i % 3)
                    vs_symbol_cache_trim(options.cache_dir, 0);
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
    struct vs_symbols_options options = {.debug_dirs = debug_dirs, .prefer_files = true};
    vs_symbols_configure(&options);
    snprintf(target, sizeof target, "%s", to ? scratch(to) : "");
    if (vs_symbolize(scratch(trace), to ? target : NULL, result, why))
        fail_msg("%s", why);
    assert_true(result->places > 3 && result->named <= result->places);
}

TEST(a_symbolized_trace_needs_no_files)
{
    struct vs_symbolize_result result, again;
    size_t first_bytes, second_bytes;
    make_files("travel");
    record("travel.vst", "travel/victim.so");
    symbolize("travel.vst", "copy.vst", NULL, &result);
    free(slurp(scratch("copy.vst"), &first_bytes));
    shell("rm -r travel");
    assert_all_names("copy.vst", NULL);
    assert_no_names("travel.vst", NULL, "not on this machine"); /* unchanged */
    symbolize("copy.vst", NULL, NULL, &again); /* existing names stay when none are found */
    free(slurp(scratch("copy.vst"), &second_bytes));
    assert_int_equal(again.named, result.named);
    assert_int_equal(again.with_lines, result.with_lines);
    assert_int_equal(first_bytes, second_bytes);
    assert_all_names("copy.vst", NULL);
    vs_symbolize_free(&result);
    vs_symbolize_free(&again);
}

TEST(names_in_the_trace_get_better_and_never_worse)
{
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

TEST(a_trace_that_is_cut_off_is_not_replaced)
{
    struct vs_symbolize_result result;
    char why[VS_READER_WHY_MAX] = "", to[512];
    size_t bytes;
    make_files("cut");
    record("cut.vst", "cut/victim.so");
    unsigned char *whole = slurp(scratch("cut.vst"), &bytes);
    spit(scratch("cut.vst"), whole, bytes - 40);
    assert_int_equal(vs_symbolize(scratch("cut.vst"), NULL, &result, why), VS_ERR_CORRUPT);
    assert_non_null(strstr(why, "add -o FILE"));
    vs_symbolize_free(&result);
    assert_holds(scratch("cut.vst"), whole, bytes - 40);
    snprintf(to, sizeof to, "%s", scratch("mended.vst"));
    assert_int_equal(vs_symbolize(scratch("cut.vst"), to, &result, why), VS_OK);
    vs_symbolize_free(&result);
    assert_all_names("mended.vst", NULL);
    free(whole);
}

TEST(what_has_no_name_is_listed)
{
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
