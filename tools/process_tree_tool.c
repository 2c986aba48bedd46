/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#define _GNU_SOURCE
#include "process_tree_tool.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "viewer/process_tree_text.h"

static bool add_file(struct vs_trace_list *list, char *path)
{
    if (path && list->count == list->capacity) {
        size_t wanted = list->capacity ? list->capacity * 2 : 16;
        char **larger = realloc(list->paths, wanted * sizeof *larger);
        if (larger) {
            list->paths = larger;
            list->capacity = wanted;
        }
    }
    if (!path || list->count == list->capacity) {
        free(path);
        return false;
    }
    list->paths[list->count++] = path;
    return true;
}

static int is_trace_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && !strcmp(entry->d_name + length - 4, ".vst");
}

static bool add_folder(const char *who, struct vs_trace_list *list, const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, is_trace_name, alphasort);
    bool good = count > 0;
    if (!good)
        vs_tool_fail(who, "%s: there is no .vst file in this folder", path);
    for (int i = 0; i < count; i++) {
        char *full = NULL;
        if (good && (asprintf(&full, "%s/%s", path, names[i]->d_name) < 0 || !add_file(list, full)))
            good = false;
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return good;
}

bool vs_trace_list_add(const char *who, struct vs_trace_list *list, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_folder(who, list, path);
    return add_file(list, strdup(path));
}

void vs_trace_list_free(struct vs_trace_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct vs_trace_list){0};
}

bool vs_tool_tree(const char *who, const struct vs_trace_list *list,
                    const struct vs_style *style, bool json)
{
    struct vs_tree *tree;
    char why[VS_READER_WHY_MAX] = "";
    enum vs_err err =
        vs_tree_build((const char *const *)list->paths, list->count, &tree, why);
    if (err) {
        vs_tool_fail(who, "%s", *why ? why : vs_err_text(err));
        return false;
    }
    if (json)
        vs_tree_json(tree, style->out);
    else
        err = vs_tree_text(tree, style);
    for (size_t i = 0; i < tree->count; i++) {
        const struct vs_tree_member *m = &tree->members[i];
        if (m->condition == VS_TRACE_TRUNCATED || m->condition == VS_TRACE_DAMAGED)
            fprintf(stderr, "%s: %s: is cut off or damaged; what is readable was counted\n", who, m->path);
    }
    vs_tree_free(tree);
    if (err)
        vs_tool_fail(who, "%s", vs_err_text(err));
    return !err;
}
