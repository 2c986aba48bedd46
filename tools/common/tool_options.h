/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a verb as a table: a row for each, with the variable that it sets. */
#ifndef VS_TOOL_OPTIONS_H
#define VS_TOOL_OPTIONS_H

#include <stdbool.h>

#include "base/vs_option.h"
#include "tools/common/command.h"
#include "tools/common/trace_part.h"

/* One of *flag* to *run* is set and says what the option takes. */
struct vs_tool_option {
    const char *name; /* without "--"; NULL ends the table */
    char letter;      /* of its short form; 0: none */
    bool *flag;        /* takes nothing, sets true */
    const char **text; /* any text */
    unsigned long long *count, min, max; /* a number from *min* to *max* */
    struct vs_tool_colour *colour;       /* auto, always or never */
    struct vs_part_args *part;           /* --at, --from and --to: a time */
    bool (*parse)(const char *text, void *to); /* false: not valid */
    int (*run)(const char *who, const char *text, void *to); /* likewise; prints, returns an exit code */
    void *to;
    bool bare, optional; /* *run* gets NULL: always, or without a value */
    const char *takes;   /* the message for *count* and *parse*: "--NAME takes TAKES" … */
    bool quoted, plain;  /* … "not 'VALUE'", or "not VALUE" */
    unsigned *word;      /* which of *words*, "a, b, c", it is */
    const char *words;
    bool *given;         /* set to true */
};

/* vs_tool_options: reads the options; optind is then the first word after them. Returns 0, -1 after
 * --help, or VS_EXIT_UNUSABLE with a message. */
int vs_tool_options(int argc, char **argv, const char *usage, const struct vs_tool_option *table);

/* vs_tool_option: of a verb that has other options besides those of *table*, which needs their exact names:
 * sets argv[0] if it is one of these. Returns how many arguments it took, 0 if it is another one, or -1
 * after a message. *left*: of argv. */
int vs_tool_option(const char *who, const struct vs_tool_option *table, char **argv, int left);

/* vs_tool_run_option: the option of `run` at *argv*, "--NAME[=VALUE]" or "--no-NAME", and its *value*, which may be the
 * next word. Returns how many words that are; 0: the value is missing, -1: there is no such option. */
int vs_tool_run_option(char **argv, int left, enum vs_option_id *id, const char **value);

/* vs_tool_is_option: a word that begins with "--" is not a value; such a value can be given as --NAME=VALUE. */
static inline bool vs_tool_is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-';
}

#endif
