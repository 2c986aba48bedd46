/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/process_tree_tool.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reading/vs_vec.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "viewer/report/answer_text.h"

static void add_file(struct vs_trace_list *list, char *path)
{
    *(char **)vs_vec_push(&list->paths, &list->count, &list->capacity, sizeof *list->paths) = path;
}

static int is_trace_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && vs_text_ends(entry->d_name, ".vst");
}

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool add_folder(const char *who, struct vs_trace_list *list, const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, is_trace_name, alphasort);
    size_t before = list->count;
    for (int i = 0; i < count; i++) {
        char *full = vs_xprintf("%s/%s", path, names[i]->d_name);
        if (is_folder(full))
            free(full);
        else
            add_file(list, full);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    if (list->count == before)
        vs_tool_fail(who, "%s: no .vst file in this folder; record a trace there with: vramscope run -o FILE.vst "
                     "-- PROGRAM", path);
    return list->count > before;
}

bool vs_trace_list_add(const char *who, struct vs_trace_list *list, const char *path)
{
    if (is_folder(path))
        return add_folder(who, list, path);
    add_file(list, vs_xstrdup(path));
    return true;
}

void vs_trace_list_free(struct vs_trace_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct vs_trace_list){0};
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : st.st_size;
}

void vs_trace_list_single(const char *who, struct vs_trace_list *list)
{
    struct known { bool has; uint8_t uuid[16]; } *known = vs_xcalloc(list->count + 1, sizeof *known);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct known one = {0};
        size_t same = kept;
        one.has = vs_trace_uuid(list->paths[i], one.uuid);
        for (size_t j = 0; one.has && j < kept && same == kept; j++)
            same = known[j].has && !memcmp(known[j].uuid, one.uuid, sizeof one.uuid) ? j : same;
        if (same < kept) {
            if (size_of(list->paths[i]) > size_of(list->paths[same])) { /* the other one is truncated */
                char *swap = list->paths[i];
                list->paths[i] = list->paths[same];
                list->paths[same] = swap;
            }
            vs_tool_fail(who, "%s: the same trace as %s, counted once", list->paths[i],
                         list->paths[same]);
            free(list->paths[i]);
            continue;
        }
        known[kept] = one;
        list->paths[kept++] = list->paths[i];
    }
    list->count = kept;
    free(known);
}

bool vs_trace_list_readable(const char *who, struct vs_trace_list *list, bool partial)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct vs_reader *reader;
        if (vs_tool_open(who, list->paths[i], &reader)) {
            vs_reader_close(reader);
            list->paths[kept++] = list->paths[i];
        } else {
            free(list->paths[i]);
        }
    }
    size_t unusable = list->count - kept;
    list->count = kept;
    if (unusable && kept && !partial)
        vs_tool_fail(who, "add --partial to skip %s", unusable == 1 ? "this trace" : "these traces");
    return kept && (!unusable || partial);
}

bool vs_trace_list_runs(const char *who, const struct vs_trace_list *list,
                        bool (*show)(void *context, struct vs_trace_list *run), void *context)
{
    char why[VS_READER_WHY_MAX] = "";
    unsigned *numbers = vs_xcalloc(list->count + 1, sizeof *numbers), runs = 0;
    struct vs_trace_list one = {.paths = vs_xcalloc(list->count + 1, sizeof *one.paths)};
    enum vs_err err = vs_tree_runs((const char *const *)list->paths, list->count, numbers, &runs, why);
    bool good = !err;
    if (err)
        vs_tool_fail(who, "%s", *why ? why : vs_err_text(err));
    for (unsigned r = 0; r < runs && good; r++) {
        one.count = 0;
        for (size_t i = 0; i < list->count; i++)
            if (numbers[i] == r)
                one.paths[one.count++] = list->paths[i];
        if (runs > 1)
            printf("%srun %u of %u: %zu process%s\n", r ? "\n" : "", r + 1, runs, one.count, one.count == 1 ? "" : "es");
        good = show(context, &one);
    }
    free(numbers);
    free(one.paths);
    return good;
}

static bool show_tree(const char *who, const struct vs_trace_list *list, const struct vs_style *style,
                      bool json, bool partial)
{
    struct vs_tree *tree;
    char why[VS_READER_WHY_MAX] = "";
    enum vs_err err = vs_tree_build((const char *const *)list->paths, list->count, NULL, &tree, why);
    if (err) {
        vs_tool_fail(who, "%s", *why ? why : vs_err_text(err));
        return false;
    }
    bool whole = true;
    for (size_t i = 0; i < tree->count; i++) {
        const struct vs_tree_member *m = &tree->members[i];
        if (m->condition != VS_TRACE_TRUNCATED && m->condition != VS_TRACE_DAMAGED)
            continue;
        vs_tool_fail(who, "%s is cut off or damaged; %s", m->path,
                     partial ? "only its readable events are counted"
                             : "add --partial to count its readable events");
        whole = false;
    }
    bool good = whole || partial;
    if (good && json)
        vs_tree_json(tree, style->out);
    else if (good)
        vs_tree_text(tree, style);
    vs_tree_free(tree);
    return good;
}

struct tree_of_run {
    const char *who;
    const struct vs_style *style;
    bool partial;
};

static bool show_run(void *context, struct vs_trace_list *run)
{
    const struct tree_of_run *of = context;
    return show_tree(of->who, run, of->style, false, of->partial);
}

bool vs_tool_tree(const char *who, struct vs_trace_list *list,
                  const struct vs_style *style, bool json, bool partial)
{
    struct tree_of_run of = {who, style, partial};
    if (!vs_trace_list_readable(who, list, partial))
        return false;
    if (json || style->out != stdout) /* the summary of a run has one */
        return show_tree(who, list, style, json, partial);
    return vs_trace_list_runs(who, list, show_run, &of);
}
