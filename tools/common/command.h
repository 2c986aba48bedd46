/* SPDX-License-Identifier: Apache-2.0
 *
 * A verb of the `vramscope` command. Each cmd_VERB.c defines one struct vs_command called
 * vs_cmd_VERB; verb_table.h lists them. Exit codes of every verb but `run`: 0 done, 1 negative
 * result (check: a budget exceeded), 2 unreadable input, wrong usage or an internal failure. */
#ifndef VS_COMMAND_H
#define VS_COMMAND_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/report/report.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"
#include "viewer/common/text_style.h"

#define VS_EXIT_OK 0
#define VS_EXIT_NO 1
#define VS_EXIT_UNUSABLE 2

struct vs_command {
    const char *name;    /* "report" */
    const char *summary; /* one line of `vramscope --help` */
    const char *usage;   /* the text of `vramscope VERB --help`, ends with a newline */
    /* argv[0] is "vramscope VERB"; the rest are the arguments after the verb. */
    int (*main)(int argc, char **argv);
    bool symbols; /* has the options of symbol_tool.h, which are applied and removed before */
};

#define VS_VERB(name) extern const struct vs_command vs_cmd_##name;
#include "tools/common/verb_table.h"
#undef VS_VERB

/* vs_tool_print: prints one line on standard output; a long one is broken after the first ": ", and
 * where it has to be. Control characters, which may occur in file names, become '?'. */
void vs_tool_print(const char *format, ...) VS_PRINTF(1, 2);

/* vs_tool_condition: reads all of the trace at *path* to find how it ends; *why* has
 * VS_READER_WHY_MAX bytes. Returns VS_EXIT_UNUSABLE, with a message, when it cannot be read. */
int vs_tool_condition(const char *who, const char *path, enum vs_condition *condition, char *why);

/* vs_tool_fail: prints one line "vramscope VERB: …" on standard error. *who* is argv[0]. Returns
 * VS_EXIT_UNUSABLE. */
int vs_tool_fail(const char *who, const char *format, ...) VS_PRINTF(2, 3);

/* vs_tool_failure: the text of the latest vs_tool_fail or vs_tool_usage, for documents that repeat it; ""
 * before the first. */
const char *vs_tool_failure(void);

/* vs_tool_usage: like vs_tool_fail, with "; try 'vramscope VERB --help'" appended. */
int vs_tool_usage(const char *who, const char *format, ...) VS_PRINTF(2, 3);

/* vs_tool_bad_option: reports getopt_long's '?' and ':' (opterr = 0). */
int vs_tool_bad_option(char **argv, int answer);

/* vs_tool_open: opens a trace. false, with a message: exit with VS_EXIT_UNUSABLE. */
bool vs_tool_open(const char *who, const char *path, struct vs_reader **out);

/* vs_tool_usable: false, with a message, when the trace is truncated or damaged and *partial* is
 * false; *flag* is the option that would allow it. */
bool vs_tool_usable(const char *who, const char *path, enum vs_condition condition,
                    const char *condition_text, bool partial, const char *flag);

/* vs_tool_report: opens *path* and builds its report, with all the checks above. *reader* stays
 * open. false: nothing is open, exit with VS_EXIT_UNUSABLE. */
bool vs_tool_report(const char *who, const char *path, bool partial, const char *flag,
                    size_t sites_max, struct vs_reader **reader, struct vs_report **report);

/* vs_tool_report_part: likewise, for the part of the trace selected by *part*, with *options* but
 * for their window. */
struct vs_part_args;
bool vs_tool_report_part(const char *who, const char *path, bool partial, const char *flag,
                         const struct vs_report_options *options, const struct vs_part_args *part,
                         struct vs_reader **reader, struct vs_report **report);

/* --color: whether it has a value other than auto, and which. */
struct vs_tool_colour {
    bool given, colour;
};

/* vs_tool_colour: parses "auto", "always" or "never"; false for anything else. */
bool vs_tool_colour(const char *word, struct vs_tool_colour *out);

/* vs_tool_style: the style of text on *out*. */
struct vs_style vs_tool_style(const struct vs_tool_colour *colour, FILE *out);
/* vs_tool_style_full: that of text on stdout, with --top (0: not given) and --full. */
struct vs_style vs_tool_style_full(const struct vs_tool_colour *colour, size_t top, bool full);

/* vs_tool_count: parses a whole number from *min* to *max*; false otherwise. */
bool vs_tool_count(const char *text, unsigned long long min, unsigned long long max,
                   unsigned long long *out);

/* vs_tool_output: whether **output* (-o; NULL: none) may be written for the trace at *path*. Only a
 * trace may be replaced; false, with a message, for any other existing file. **output* becomes NULL
 * when it is that trace. */
bool vs_tool_output(const char *who, const char *path, const char **output);

/* vs_tool_is_same_file: whether both paths are one existing file. */
bool vs_tool_is_same_file(const char *a, const char *b);

/* vs_tool_may_overwrite: false, with a message, when *output* is a trace or a FILE.live, which a
 * program may have mapped: only a trace may replace it. */
bool vs_tool_may_overwrite(const char *who, const char *output);

/* vs_tool_discard_on_signals: from here on an interrupt removes the unfinished new trace before it
 * ends the process. */
void vs_tool_discard_on_signals(void);

/* vs_tool_over_limit: prints a line when the trace at *path* is now larger than its size limit
 * while recording (--max-trace-size); on standard output, or by *who* on standard error. */
void vs_tool_over_limit(const char *who, const char *path);

/* VS_TOOL_FILE: a FILE * that is closed at the end of its block, unless NULL. */
#define VS_TOOL_FILE __attribute__((cleanup(vs_tool_close), unused)) FILE *
static inline void vs_tool_close(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* vs_tool_entry: the next entry of *folder*, which may be NULL; NULL at the end, where *folder* is closed. */
struct dirent *vs_tool_entry(DIR **folder);

/* vs_tool_finish: flushes *out*; VS_EXIT_UNUSABLE with a message when that fails, otherwise
 * *code*. */
int vs_tool_finish(const char *who, FILE *out, int code);

/* --- own_state.c: settings of the process that the command changes at its start and restores for the
 * programs it starts: signals that would end it while it writes a file or would hide how a program ended,
 * and the limit of open files --- */

/* vs_own_state_begin: changes the settings; called first in main. */
void vs_own_state_begin(void);

/* vs_own_state_end: restores the settings; in a child, before exec. Async-signal-safe. */
void vs_own_state_end(void);

#endif
