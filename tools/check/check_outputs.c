/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the result of a check in every format that was asked for: the main one to standard output,
 * the others to files, each completely or not at all. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "tools/check/check_command.h"
#include "tools/common/command.h"
#include "tools/common/whole_file.h"

static void render(const struct vs_check_command *command, const struct vs_check_result *result,
                   enum vs_check_format format, FILE *out)
{
    switch (format) {
    case VS_CHECK_JSON: vs_check_json(result, out); return;
    case VS_CHECK_GITHUB: vs_check_github(result, out); return;
    case VS_CHECK_JUNIT: vs_check_junit(result, out); return;
    case VS_CHECK_MARKDOWN: vs_check_markdown(result, out); return;
    case VS_CHECK_GITLAB: vs_check_code_quality(result, out); return;
    case VS_CHECK_SARIF: vs_check_sarif(result, out); return;
    case VS_CHECK_OPENMETRICS: vs_check_openmetrics(result, out); return;
    default: break;
    }
    struct vs_style style = vs_tool_style(&command->colour, out);
    vs_check_text(result, command->failures_only && out == command->out, &style);
}

/* The checkout of GitHub and GitLab, otherwise the present folder; resolved, because debug
 * information has the real path. */
static const char *find_root(const struct vs_check_command *command, char *out)
{
    static const char *const variables[] = {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"};
    const char *root = command->root;
    for (size_t i = 0; !root && i < 2; i++) {
        root = vs_environment(variables[i]);
        if (root && !*root)
            root = NULL;
    }
    if (!realpath(root ? root : ".", out))
        snprintf(out, PATH_MAX, "%s", root ? root : "");
    return out;
}

int vs_check_write(const struct vs_check_command *command, struct vs_check_result *result, int code)
{
    char root[PATH_MAX];
    result->root = find_root(command, root);
    result->exit_code = code;
    if (command->out) {
        render(command, result, command->format, command->out);
        code = vs_tool_finish(command->who, command->out, code);
    }
    for (size_t i = 0; i < command->file_count; i++) {
        const struct vs_check_file *to = &command->files[i];
        struct vs_whole_file file;
        if (!vs_tool_may_overwrite(command->who, to->path) ||
            !vs_whole_file_open(command->who, to->path, false, &file)) {
            code = VS_EXIT_UNUSABLE;
            continue;
        }
        render(command, result, to->format, file.stream);
        if (vs_whole_file_end(command->who, &file, VS_EXIT_OK) != VS_EXIT_OK)
            code = VS_EXIT_UNUSABLE;
    }
    return code;
}
