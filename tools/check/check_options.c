/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of `vramscope check`. Those that a budget file has as keys come from the same table
 * (budget_key.h). Files are read before options are applied: limits add up, of other settings the
 * last one counts. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "tools/check/check_command.h"
#include "tools/common/command.h"

#define KEY_BASE 1000 /* getopt's values of the keys */

static const char *const format_names[VS_CHECK_FORMATS] = {
    "text", "json", "github", "junit", "markdown", "gitlab", "sarif", "openmetrics"};
#define FORMATS_WANTED "text, json, github, junit, markdown, gitlab, sarif or openmetrics"

/* What was given, until all is known. */
struct given_key {
    const struct vs_budget_key *key;
    const char *value;
};

struct given {
    struct given_key *keys;
    size_t key_count;
    const char **files;
    size_t file_count;
    struct vs_budget_scope scope;
};

static bool parse_format(const char *word, size_t length, enum vs_check_format *out)
{
    for (int i = 0; i < VS_CHECK_FORMATS; i++) {
        if (strlen(format_names[i]) == length && memcmp(word, format_names[i], length) == 0) {
            *out = (enum vs_check_format)i;
            return true;
        }
    }
    return false;
}

int vs_check_parse_output(struct vs_check_command *command, const char *text)
{
    const char *sign = strchr(text, '='), *option = command->in_run ? "--check-output" : "--output";
    struct vs_check_file file;
    if (!sign || !sign[1] || !parse_format(text, (size_t)(sign - text), &file.format))
        return vs_tool_usage(command->who, "%s takes FORMAT=FILE with a format of " FORMATS_WANTED
                             ", not '%s'", option, text);
    if (command->file_count == VS_CHECK_OUTPUTS_MAX)
        return vs_tool_usage(command->who, "%s may be given %d times", option, VS_CHECK_OUTPUTS_MAX);
    file.path = sign + 1;
    command->files[command->file_count++] = file;
    return 0;
}

static int parse_scope(struct vs_check_command *command, struct given *given, int c)
{
    unsigned long long device;
    if (c == 'd') {
        if (!vs_tool_count(optarg, 0, 1 << 20, &device))
            return vs_tool_usage(command->who, "--device takes a device number");
        given->scope.one_device = command->budget.only.one_device = true;
        given->scope.device = command->budget.only.device = device;
        return 0;
    }
    if (!*optarg)
        return vs_tool_usage(command->who, "--%s takes a name", c == 's'   ? "process"
                                                              : c == 'n' ? "test" : "phase");
    if (c == 's') {
        given->scope.process = optarg;
        return 0;
    }
    if (given->scope.phase && given->scope.test != (c == 'n'))
        return vs_tool_usage(command->who, "give --phase or --test, not both");
    given->scope.phase = optarg;
    given->scope.test = c == 'n';
    return 0;
}

static int parse_one(struct vs_check_command *command, struct given *given, int c, char **argv,
                     const char *usage)
{
    switch (c) {
    case 'd':
    case 'a':
    case 'n':
    case 's': return parse_scope(command, given, c);
    case 'b': given->files[given->file_count++] = optarg; return 0;
    case 'f':
        if (!parse_format(optarg, strlen(optarg), &command->format))
            return vs_tool_usage(argv[0], "--format takes " FORMATS_WANTED ", not '%s'", optarg);
        return 0;
    case 'o': return vs_check_parse_output(command, optarg);
    case 'u': command->update_baseline = true; return 0;
    case 'r': command->root = optarg; return 0;
    case 'p': command->budget.partial = true; return 0;
    case 'c':
        if (!vs_tool_colour(optarg, &command->colour))
            return vs_tool_usage(argv[0], "--color takes auto, always or never");
        return 0;
    case 'h': fputs(usage, stdout); return -1;
    default: break;
    }
    if (c < KEY_BASE)
        return vs_tool_bad_option(argv, c);
    const struct vs_budget_key *key = &vs_budget_keys[c - KEY_BASE];
    given->keys[given->key_count++] = (struct given_key){key, key->flag ? "true" : optarg};
    return 0;
}

int vs_check_read_budget(struct vs_check_command *command, const char *path)
{
    char why[VS_BUDGET_WHY_MAX];
    command->budget_path = path;
    enum vs_err err = vs_budget_file_read(&command->budget, path, why);
    return err ? vs_tool_fail(command->who, "%s", err == VS_ERR_ARG ? why : vs_err_text(err)) : 0;
}

static int apply(struct vs_check_command *command, const struct given *given)
{
    char why[VS_BUDGET_WHY_MAX], from[64];
    int code = 0;
    for (size_t i = 0; !code && i < given->file_count; i++)
        code = vs_check_read_budget(command, given->files[i]);
    for (size_t i = 0; !code && i < given->key_count; i++) {
        const struct given_key *one = &given->keys[i];
        snprintf(from, sizeof from, "--%s", one->key->name);
        enum vs_err err = vs_budget_set(&command->budget, one->key, one->value, &given->scope, from, why);
        if (err)
            code = err == VS_ERR_ARG ? vs_tool_usage(command->who, "%s %s", from, why)
                                     : vs_tool_fail(command->who, "%s", vs_err_text(err));
    }
    return code;
}

int vs_check_parse(struct vs_check_command *command, int argc, char **argv, const char *usage,
                   int *first)
{
    /* The fixed options, then one per key; ended by zeros. */
    static const struct option fixed[] = {
        {"device", required_argument, NULL, 'd'},  {"phase", required_argument, NULL, 'a'},
        {"test", required_argument, NULL, 'n'},    {"process", required_argument, NULL, 's'},
        {"budget", required_argument, NULL, 'b'},  {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},  {"update-baseline", no_argument, NULL, 'u'},
        {"root", required_argument, NULL, 'r'},    {"color", required_argument, NULL, 'c'},
        {"allow-partial", no_argument, NULL, 'p'}, /* former name of --partial */
        {"help", no_argument, NULL, 'h'}};
    size_t count = sizeof fixed / sizeof *fixed;
    struct option *options = vs_xcalloc(count + vs_budget_key_count + 1, sizeof *options);
    memcpy(options, fixed, sizeof fixed);
    for (size_t i = 0; i < vs_budget_key_count; i++)
        options[count + i] = (struct option){
            vs_budget_keys[i].name, vs_budget_keys[i].flag ? no_argument : required_argument, NULL,
            KEY_BASE + (int)i};
    struct given given = {.keys = vs_xcalloc((size_t)argc + 1, sizeof *given.keys),
                          .files = vs_xcalloc((size_t)argc + 1, sizeof *given.files)};
    int c, code = 0;
    opterr = 0;
    while (!code && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1)
        code = parse_one(command, &given, c, argv, usage);
    if (!code)
        code = apply(command, &given);
    *first = optind;
    free(options);
    free(given.keys);
    free(given.files);
    return code;
}

int vs_check_ready(struct vs_check_command *command)
{
    vs_budget_finish(&command->budget);
    if (command->update_baseline && !command->budget.baseline)
        return vs_tool_usage(command->who, "--update-baseline needs --baseline FILE");
    if (vs_budget_empty(&command->budget) && command->budget_path)
        return vs_tool_fail(command->who, "%s sets no limit, so every run would pass; add one, such as "
                            "max-peak = \"6GiB\", or a baseline", command->budget_path);
    if (vs_budget_empty(&command->budget))
        return vs_tool_usage(command->who, "give a limit such as --max-peak SIZE, --budget FILE or --baseline FILE");
    return 0;
}

void vs_check_command_free(struct vs_check_command *command)
{
    vs_budget_free(&command->budget);
}
