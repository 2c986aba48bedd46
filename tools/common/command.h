/* SPDX-License-Identifier: Apache-2.0
 *
 * A verb of the `vramscope` command. Each cmd_VERB.c defines one struct
 * vs_command called vs_cmd_VERB; verb_table.h lists them. Exit codes of every verb but
 * `run`: 0 done, 1 the answer is no (check: a budget exceeded), 2 unusable input,
 * bad usage or a failure of ours. */
#ifndef VS_COMMAND_H
#define VS_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/report/report.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

#define VS_EXIT_OK 0
#define VS_EXIT_NO 1
#define VS_EXIT_UNUSABLE 2

struct vs_command {
    const char *name;    /* "report" */
    const char *summary; /* one line of `vramscope --help` */
    const char *usage;   /* whole text of `vramscope VERB --help`, ends with a newline */
    /* argv[0] is "vramscope VERB"; the rest are the arguments after the verb. */
    int (*main)(int argc, char **argv);
};

#define VS_VERB(name) extern const struct vs_command vs_cmd_##name;
#include "tools/common/verb_table.h"
#undef VS_VERB

/* vs_tool_say: one line on standard output; control characters, which the name of a file may have,
 * become '?'. */
void vs_tool_say(const char *format, ...) VS_PRINTF(1, 2);

/* vs_tool_condition: how the trace at *path* ends, by reading all of it; *why* has
 * VS_READER_WHY_MAX bytes. VS_EXIT_UNUSABLE, and says so, when it cannot be read. */
int vs_tool_condition(const char *who, const char *path, enum vs_condition *condition, char *why);

/* vs_tool_fail: one line "vramscope VERB: …" on standard error. *who* is argv[0].
 * Returns VS_EXIT_UNUSABLE. */
int vs_tool_fail(const char *who, const char *format, ...) VS_PRINTF(2, 3);

/* vs_tool_usage: as vs_tool_fail, with "; try 'vramscope VERB --help'" added. */
int vs_tool_usage(const char *who, const char *format, ...) VS_PRINTF(2, 3);

/* vs_tool_bad_option: for getopt_long's '?' and ':' (opterr = 0). */
int vs_tool_bad_option(char **argv, int answer);

/* vs_tool_open: open a trace; says why not. false: exit with VS_EXIT_UNUSABLE. */
bool vs_tool_open(const char *who, const char *path, struct vs_reader **out);

/* vs_tool_usable: false, and says so, when the trace is cut off or damaged and
 * *partial* is false; *flag* is the option that would allow it. */
bool vs_tool_usable(const char *who, const char *path, enum vs_condition condition,
                    const char *condition_text, bool partial, const char *flag);

/* vs_tool_report: open *path* and build its report, with all the checks above.
 * *reader* stays open. false: nothing is open, exit with VS_EXIT_UNUSABLE. */
bool vs_tool_report(const char *who, const char *path, bool partial, const char *flag,
                    size_t sites_max, struct vs_reader **reader, struct vs_report **report);

/* vs_tool_report_part: likewise, of the part of the trace that *part* names. */
struct vs_part_args;
bool vs_tool_report_part(const char *who, const char *path, bool partial, const char *flag,
                         size_t sites_max, const struct vs_part_args *part,
                         struct vs_reader **reader, struct vs_report **report);

/* vs_tool_colour: "auto", "always" or "never" into *colour*, which holds auto's
 * answer; false for anything else. */
bool vs_tool_colour(const char *word, bool *colour);

/* vs_tool_count: a whole number from *min* to *max*; false otherwise. */
bool vs_tool_count(const char *text, unsigned long long min, unsigned long long max,
                   unsigned long long *out);

/* vs_tool_output: may **output* (-o; NULL: none) be written for the trace at *path*? Only a trace
 * or nothing is replaced; false, and says so, otherwise. **output* becomes NULL when it is that
 * trace. */
bool vs_tool_output(const char *who, const char *path, const char **output);

/* vs_tool_may_overwrite: false, said, when *output* is a trace or a FILE.live, which a program may
 * have mapped: only what is no trace may be written over it. */
bool vs_tool_may_overwrite(const char *who, const char *output);

/* vs_tool_discard_on_signals: an interrupt from here on removes the half written new trace before
 * it ends the process. */
void vs_tool_discard_on_signals(void);

/* vs_tool_over_limit: a line when the trace at *path* is larger now than it was to be while it was
 * recorded (--max-trace-size); on standard output, or by *who* on standard error. */
void vs_tool_over_limit(const char *who, const char *path);

/* vs_tool_finish: flush *out*; VS_EXIT_UNUSABLE with a line when that fails, else
 * *code*. */
int vs_tool_finish(const char *who, FILE *out, int code);

#endif
