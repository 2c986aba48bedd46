/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress is printed only on terminals, and only for work that takes more than a
 * second: one line on standard error, redrawn in place and cleared at the end. */
#include "tools/common/symbol_tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/naming/library.h"
#include "base/vs_output_file.h"
#include "tools/common/command.h"
#include "trace/symbols/symbols.h"

#define PROGRESS_FROM_MS 1000u
#define BAR_WIDTH 20u

static struct vs_symbols_options chosen;
static char debug_dirs[4 * PATH_MAX], cache_dir[PATH_MAX];
static bool drawn;

static void draw(void *arg, const struct vs_symbols_progress *progress)
{
    char bar[BAR_WIDTH + 1];
    (void)arg;
    if (progress->spent_ms < PROGRESS_FROM_MS || !isatty(STDERR_FILENO))
        return;
    unsigned full = chosen.budget_ms ? progress->spent_ms * BAR_WIDTH / chosen.budget_ms : 0;
    for (unsigned i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\x1b[Kreading function names: %zu addresses, %.40s", progress->resolved,
            progress->module);
    if (chosen.budget_ms)
        fprintf(stderr, "  [%s] %u of %u s", bar, progress->spent_ms / 1000,
                chosen.budget_ms / 1000);
    else
        fprintf(stderr, "  %u s", progress->spent_ms / 1000);
    fflush(stderr);
    drawn = true;
}

void vs_symbol_tool_done(void)
{
    if (drawn)
        fputs("\r\x1b[K", stderr);
    drawn = false;
}

static bool add_debug_dir(const char *dir)
{
    size_t n = strlen(debug_dirs), more = strlen(dir);
    if (n + more + 2 > sizeof debug_dirs)
        return false;
    if (n)
        debug_dirs[n++] = ':';
    memcpy(debug_dirs + n, dir, more + 1);
    return true;
}

void vs_symbol_tool_configure(const struct vs_options *options)
{
    debug_dirs[0] = '\0';
    vs_library_add(options->text[VS_OPT_library]);
    add_debug_dir(options->text[VS_OPT_debug_dir]);
    chosen = (struct vs_symbols_options){
        .debug_dirs = debug_dirs,
        .cache_dir = options->number[VS_OPT_symbol_cache] && vs_folder_cache("symbols", cache_dir, sizeof cache_dir)
                         ? cache_dir : NULL,
        .budget_ms = (unsigned)options->number[VS_OPT_symbol_seconds] * 1000,
        .progress = draw};
    vs_symbols_configure(&chosen);
}

void vs_symbol_tool_environment(void)
{
    static struct vs_options options;
    vs_options_init(&options);
    vs_options_load_environment(&options, NULL, NULL);
    vs_symbol_tool_configure(&options);
}

void vs_symbol_tool_prefer_files(void)
{
    chosen.prefer_files = true;
    vs_symbols_configure(&chosen);
}

/* The value of *flag* at argv[i], as "--flag VALUE" or "--flag=VALUE"; *used*: how many words, 0
 * when argv[i] is another flag. NULL with *used* set: the value is missing. */
static const char *value_of(char **argv, int argc, int i, const char *flag, int *used)
{
    size_t n = strlen(flag);
    *used = 0;
    if (strncmp(argv[i], flag, n) != 0 || (argv[i][n] && argv[i][n] != '='))
        return NULL;
    *used = argv[i][n] || i + 1 >= argc ? 1 : 2;
    return argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : NULL;
}

bool vs_symbol_tool_library(const char *list)
{
    return vs_library_add(list);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Parses the flag at argv[i]. Returns the number of words, 0 when it is another flag, -1 when it is
 * wrong. */
static int take_flag(char **argv, int argc, int i)
{
    static const char *const with_value[] = {"--debug-dir", "--sysroot", "--symbol-seconds",
                                             "--library"};
    unsigned long long seconds;
    if (strcmp(argv[i], "--no-symbol-cache") == 0)
        return chosen.cache_dir = NULL, 1;
    if (strcmp(argv[i], "--debuginfod") == 0)
        return chosen.debuginfod = true, 1;
    for (int k = 0; k < 4; k++) {
        int used;
        const char *value = value_of(argv, argc, i, with_value[k], &used);
        if (!used)
            continue;
        if (!value || !*value)
            return vs_tool_usage(argv[0], "%s needs a value", with_value[k]), -1;
        if (k < 2 && !strchr(value, ':') && !is_folder(value))
            return vs_tool_usage(argv[0], "%s: no such folder: %s", with_value[k], value), -1;
        if (k == 0 && !add_debug_dir(value))
            return vs_tool_usage(argv[0], "too many --debug-dir folders"), -1;
        if (k == 3 && !vs_library_add(value))
            return vs_tool_usage(argv[0], "too many --library prefixes"), -1;
        if (k == 1)
            chosen.sysroot = value;
        if (k == 2 && !vs_tool_count(value, 0, 86400, &seconds))
            return vs_tool_usage(argv[0], "--symbol-seconds takes a number from 0 to 86400"), -1;
        if (k == 2)
            chosen.budget_ms = (unsigned)seconds * 1000;
        return used;
    }
    return 0;
}

bool vs_symbol_tool_flags(int *argc, char **argv)
{
    int kept = 1, i = 1;
    while (i < *argc && strcmp(argv[i], "--") != 0) {
        int used = take_flag(argv, *argc, i);
        if (used < 0)
            return false;
        if (!used)
            argv[kept++] = argv[i++];
        i += used;
    }
    while (i < *argc)
        argv[kept++] = argv[i++];
    argv[kept] = NULL;
    *argc = kept;
    vs_symbols_configure(&chosen);
    return true;
}
