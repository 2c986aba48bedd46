/* SPDX-License-Identifier: Apache-2.0
 *
 * The order is that of debuggers: first by build id, because such a file cannot
 * belong to another build; then by debug link. */
#define _GNU_SOURCE
#include "trace/symbols/elf_object.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/vs_option.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

struct debug_files_search {
    const struct vs_debug_query *query;
    vs_debug_candidate *use;
    void *arg;
};

bool vs_debug_files_is_build_id(const char *text)
{
    size_t n = strspn(text, "0123456789abcdef");
    return text[n] == '\0' && n >= 4 && n < VS_BUILD_ID_HEX_MAX && n % 2 == 0;
}

static bool try_path(const struct debug_files_search *s, const char *fmt, ...) VS_PRINTF(2, 3);
static bool try_path(const struct debug_files_search *s, const char *fmt, ...)
{
    char path[PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    return n > 0 && n < (int)sizeof path && s->use(s->arg, path);
}

/* Calls *each* for every directory of the colon-separated *list*; true ends the search. */
static bool each_directory(const struct debug_files_search *s, const char *list,
                           bool (*each)(const struct debug_files_search *, const char *dir))
{
    char dir[PATH_MAX];
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n && n < sizeof dir) {
            memcpy(dir, list, n);
            dir[n] = '\0';
            if (each(s, dir))
                return true;
        }
        list += n + (list[n] == ':');
    }
    return false;
}

/* Looks for *file* in the cache directories of debuginfod's client. */
static bool in_client_cache(const struct debug_files_search *s, const char *file)
{
    const char *id = s->query->build_id, *dir;
    if (!vs_debug_files_is_build_id(id))
        return false;
    if ((dir = vs_environment("DEBUGINFOD_CACHE_PATH")) && *dir)
        return try_path(s, "%s/%s/%s", dir, id, file);
    if ((dir = vs_environment("XDG_CACHE_HOME")) && *dir &&
        try_path(s, "%s/debuginfod_client/%s/%s", dir, id, file))
        return true;
    if (!(dir = vs_environment("HOME")) || !*dir)
        return false;
    return try_path(s, "%s/.cache/debuginfod_client/%s/%s", dir, id, file) ||
           try_path(s, "%s/.debuginfod_client_cache/%s/%s", dir, id, file);
}

static bool by_build_id(const struct debug_files_search *s, const char *dir)
{
    const char *id = s->query->build_id;
    if (!vs_debug_files_is_build_id(id))
        return false;
    return try_path(s, "%s/.build-id/%.2s/%s.debug", dir, id, id + 2) ||
           try_path(s, "%s/%s/debuginfo", dir, id);
}

/* The directory part of the module's path, without the last slash. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) : 0;
}

/* Looks by debug link, and by the module's own path, below *dir*. */
static bool by_link(const struct debug_files_search *s, const char *dir)
{
    const struct vs_debug_query *q = s->query;
    int n = directory_length(q->path);
    if (*q->link && (try_path(s, "%s%.*s/%s", dir, n, q->path, q->link) ||
                     try_path(s, "%s/%s", dir, q->link)))
        return true;
    return try_path(s, "%s%s.debug", dir, q->path) ||
           try_path(s, "%s/%s.debug", dir, q->path + n + 1);
}

static bool below_debug_dirs(const struct debug_files_search *s,
                             bool (*each)(const struct debug_files_search *, const char *dir))
{
    const struct vs_symbols_options *options = s->query->options;
    char dir[PATH_MAX];
    if (each_directory(s, options->debug_dirs, each))
        return true;
    if (options->sysroot && snprintf(dir, sizeof dir, "%s" SYSTEM_DEBUG_DIR, options->sysroot) <
                                (int)sizeof dir && each(s, dir))
        return true;
    return each(s, SYSTEM_DEBUG_DIR);
}

static bool beside_module(const struct debug_files_search *s, const char *root)
{
    const struct vs_debug_query *q = s->query;
    int n = directory_length(q->path);
    return *q->link && (try_path(s, "%s%.*s/%s", root, n, q->path, q->link) ||
                        try_path(s, "%s%.*s/.debug/%s", root, n, q->path, q->link));
}

bool vs_debug_files_modules(const struct vs_debug_query *query, vs_debug_candidate *use, void *arg)
{
    struct debug_files_search s = {query, use, arg};
    const char *sysroot = query->options->sysroot;
    if (query->path[0] != '/')
        return strchr(query->path, '/') && try_path(&s, "%s", query->path);
    if (sysroot && try_path(&s, "%s%s", sysroot, query->path))
        return true;
    return try_path(&s, "%s", query->path) || in_client_cache(&s, "executable");
}

bool vs_debug_files_separate(const struct vs_debug_query *query, vs_debug_candidate *use, void *arg)
{
    struct debug_files_search s = {query, use, arg};
    const char *sysroot = query->options->sysroot;
    if (strchr(query->link, '/') || !strchr(query->path, '/'))
        return false; /* a link must be a file name, not a path */
    return below_debug_dirs(&s, by_build_id) || in_client_cache(&s, "debuginfo") ||
           (sysroot && beside_module(&s, sysroot)) || beside_module(&s, "") ||
           below_debug_dirs(&s, by_link);
}

int vs_debug_files_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool sign_file(void *arg, const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    uint64_t facts[] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                        (uint64_t)st.st_mtim.tv_nsec};
    *(uint64_t *)arg = XXH64(facts, sizeof facts, XXH64(path, strlen(path), 0)) | 1;
    return true;
}

struct vs_debug_signature vs_debug_files_sign(const struct vs_debug_query *query)
{
    struct vs_debug_signature signature = {0, 0};
    vs_debug_files_modules(query, sign_file, &signature.module);
    vs_debug_files_separate(query, sign_file, &signature.separate);
    return signature;
}
