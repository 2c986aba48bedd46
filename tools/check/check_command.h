/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope check`, in parts that `vramscope run --check` uses as well: the options, the traces,
 * the documents that are written. */
#ifndef VS_CHECK_COMMAND_H
#define VS_CHECK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/budget/budget_key.h"
#include "tools/common/command.h"
#include "viewer/check/check_output.h"

enum vs_check_format {
    VS_CHECK_TEXT, VS_CHECK_JSON, VS_CHECK_GITHUB, VS_CHECK_JUNIT, VS_CHECK_MARKDOWN,
    VS_CHECK_GITLAB, VS_CHECK_SARIF, VS_CHECK_OPENMETRICS, VS_CHECK_FORMATS
};

#define VS_CHECK_OUTPUTS_MAX 16

struct vs_check_file {
    enum vs_check_format format;
    const char *path;
};

/* Zero-initialise. */
struct vs_check_command {
    const char *who;              /* of messages: "vramscope check" */
    bool in_run;                  /* `vramscope run --check`: its settings are keys of the budget file */
    struct vs_budget budget;
    const char *budget_path;      /* the budget file that was read last; NULL: none. Not owned */
    enum vs_check_format format;  /* of *out* */
    FILE *out;                    /* where the main document goes; NULL: nowhere */
    struct vs_check_file files[VS_CHECK_OUTPUTS_MAX];
    size_t file_count;
    bool update_baseline;
    bool failures_only;           /* the text on *out* has only limits that are exceeded */
    struct vs_tool_colour colour;
    const char *root;             /* --root; NULL: by the environment */
};

/* vs_check_parse: the options of `vramscope check`; the traces are argv[*first …]. Returns 0, an exit
 * code after a message, or -1 after printing *usage* (--help). */
int vs_check_parse(struct vs_check_command *command, int argc, char **argv, const char *usage,
                   int *first);

/* vs_check_parse_output: adds "FORMAT=FILE". Returns 0, or an exit code after a message. */
int vs_check_parse_output(struct vs_check_command *command, const char *text);

/* vs_check_read_budget: adds a budget file. Returns 0, or an exit code after a message. */
int vs_check_read_budget(struct vs_check_command *command, const char *path);

/* vs_check_ready: after all keys: whether there is something to check. Returns 0, or an exit code
 * after a message. */
int vs_check_ready(struct vs_check_command *command);

/* vs_check_baseline_readable: before a program starts: whether the budget's baseline, if it names one,
 * can be read; *copies*: whether it has copies. Returns 0, or an exit code after a message. */
int vs_check_baseline_readable(const struct vs_check_command *command, bool *copies);

/* vs_check_traces: checks *count* traces, writes the documents, updates the baseline. Returns the
 * exit code. */
int vs_check_traces(struct vs_check_command *command, char *const *paths, size_t count);

/* vs_check_write: writes every document of *result*. Returns *code*, or VS_EXIT_UNUSABLE after a
 * message. */
int vs_check_write(const struct vs_check_command *command, struct vs_check_result *result, int code);

void vs_check_command_free(struct vs_check_command *command);

/* --- budget_file.c: a budget file (TOML, docs/budgets.md); [[limit]] applies to its device, phase,
 * test or process --- */

/* vs_budget_file_read: adds the limits and settings of the file at *path* to *budget*; a baseline is
 * relative to the file's folder. VS_ERR_ARG, with "FILE:LINE: the error; what to do" in *why*
 * (VS_BUDGET_WHY_MAX bytes); VS_ERR_NOMEM. */
enum vs_err vs_budget_file_read(struct vs_budget *budget, const char *path, char *why)
    VS_MUST_CHECK;

#endif
