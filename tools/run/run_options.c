/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `vramscope run`: options before the program's name, which take precedence over
 * the environment, and a line for options without effect together. */
#include <stdio.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"
#include "tools/common/report_names.h"
#include "tools/common/tool_options.h"
#include "tools/run/run_internal.h"

/* The limit is rejected instead of warned about (check_limit). */
static void warn_environment(const char *sentence, void *arg)
{
    char name[VS_OPTION_ENV_MAX];
    size_t length = strlen(vs_option_env_name(VS_OPT_limit, name));
    (void)arg;
    if (strncmp(sentence, name, length) != 0 || sentence[length] != ':')
        fprintf(stderr, "vramscope run: %s\n", sentence);
}

/* Parses one "--name[=value]"; *used* is the number of arguments. */
static int parse_flag(struct vs_run *run, char **argv, int left, int *used)
{
    const char *value;
    char why[VS_OPTION_TEXT_MAX];
    enum vs_option_id id;
    *used = vs_tool_run_option(argv, left, &id, &value);
    if (*used < 0)
        return vs_run_fail("unknown option %s; `vramscope options` lists them", argv[0]);
    if (!*used)
        return vs_run_fail("option %s needs a value", argv[0]);
    /* an empty variable in a script must not remove the limit */
    if (id == VS_OPT_limit && !*value)
        return vs_run_fail("%s needs a value such as 8GiB or 50%%", "--limit");
    char joined[2 * VS_OPTION_TEXT_MAX];
    if (id == VS_OPT_library && run->options.source[id] == VS_FROM_COMMAND) { /* may be repeated */
        snprintf(joined, sizeof joined, "%s,%.*s", run->options.text[id], VS_OPTION_TEXT_MAX - 2, value);
        value = joined;
    }
    if (vs_options_set(&run->options, id, value, VS_FROM_COMMAND, why))
        return vs_run_fail("%s", why);
    return 0;
}

/* A program meant to be limited must not run without a limit: an invalid limit in the environment,
 * which the library would ignore, is treated like one given here. */
static int check_limit(const struct vs_run *run)
{
    char name[VS_OPTION_ENV_MAX], why[VS_OPTION_TEXT_MAX], message[2 * VS_OPTION_TEXT_MAX];
    const char *text = vs_environment(vs_option_env_name(VS_OPT_limit, name));
    struct vs_options unused;
    if (!text || run->options.source[VS_OPT_limit] == VS_FROM_COMMAND ||
        vs_options_set(&unused, VS_OPT_limit, text, VS_FROM_ENVIRONMENT, why) == VS_OK)
        return 0;
    snprintf(message, sizeof message, "%s: %s", name, why);
    return vs_run_fail("%s", message);
}

/* A mistaken key of --alloc-conf must not be found after hours. */
static int check_alloc_conf(const struct vs_run *run)
{
    const char *text = run->options.text[VS_OPT_alloc_conf];
    char hint[VS_NAME_HINT_MAX];
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    if (!*text || run->options.source[VS_OPT_alloc_conf] != VS_FROM_COMMAND)
        return 0;
    if (vs_alloc_conf_parse(text, strlen(text), &conf, &messages))
        return vs_run_fail("--alloc-conf '%s': %s", text, messages.error);
    if (!*messages.unknown)
        return 0;
    return vs_run_fail("--alloc-conf: unknown key '%s'; %s", messages.unknown,
                       vs_alloc_conf_hint(hint, messages.unknown));
}

static bool is_check(const char *argument)
{
    size_t length = strcspn(argument, "=");
    return (length == 7 && strncmp(argument, "--check", 7) == 0) ||
           (length == 14 && strncmp(argument, "--check-output", 14) == 0);
}

/* --check FILE and --check-output FORMAT=FILE. The budget and its baseline are read before the program
 * starts: a mistake in them must not be found after hours. */
static int parse_check(struct vs_run *run, char **argv, int left, int *used)
{
    bool output = strncmp(argv[0], "--check-output", 14) == 0;
    const char *sign = strchr(argv[0], '=');
    const char *value = sign ? sign + 1 : left > 1 && !vs_tool_is_option(argv[1]) ? argv[1] : NULL;
    *used = sign ? 1 : 2;
    if (!value || !*value)
        return vs_run_fail("option %s needs %s", output ? "--check-output" : "--check",
                           output ? "a value such as junit=memory.xml" : "the name of a budget file");
    run->check.who = "vramscope run";
    run->check.in_run = true;
    run->checked |= !output;
    int code = output ? vs_check_parse_output(&run->check, value)
                      : vs_check_read_budget(&run->check, value);
    return code ? EXIT_OWN_FAILURE : 0;
}

/* Lines that copy are recorded only on demand: a limit of copies is one, and so is a baseline of them. */
static int finish_check(struct vs_run *run)
{
    char why[VS_OPTION_TEXT_MAX];
    if (!run->checked && (run->check.file_count || run->allow_uncomputed))
        return vs_run_fail("%s needs --check FILE", run->allow_uncomputed ? "--allow-uncomputed" : "--check-output");
    run->check.budget.allow_uncomputed |= run->allow_uncomputed;
    if (!run->checked)
        return 0;
    bool copies = false;
    if (vs_check_ready(&run->check) || vs_check_baseline_readable(&run->check, &copies))
        return EXIT_OWN_FAILURE;
    for (size_t i = 0; i < run->check.budget.count; i++)
        copies |= run->check.budget.limits[i].metric == VS_METRIC_TRANSFERRED ||
                  run->check.budget.limits[i].metric == VS_METRIC_COPIES;
    if (copies && run->options.source[VS_OPT_copy_stacks] == VS_FROM_DEFAULT &&
        vs_options_set(&run->options, VS_OPT_copy_stacks, "on", VS_FROM_COMMAND, why))
        return vs_run_fail("%s", why);
    return 0;
}

int vs_run_parse(struct vs_run *run, int argc, char **argv)
{
    vs_options_init(&run->options);
    vs_options_load_environment(&run->options, warn_environment, NULL);
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        int used = 1, status = 0;
        char why[VS_OPTION_TEXT_MAX];
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0) {
            run->quiet = true;
        } else if (strcmp(argv[i], "--view") == 0 || strncmp(argv[i], "--view=", 7) == 0) {
            run->view = true;
            run->view_file = argv[i][6] ? argv[i] + 7 : NULL;
            if (run->view_file && !*run->view_file)
                return vs_run_fail("%s", "--view= needs the name of a file for the page");
        } else if (strcmp(argv[i], "--no-source") == 0) {
            run->no_source = true;
        } else if (strcmp(argv[i], "--allow-uncomputed") == 0) {
            run->allow_uncomputed = true;
        } else if (is_check(argv[i])) {
            status = parse_check(run, argv + i, argc - i, &used);
        } else if (strncmp(argv[i], "-o", 2) == 0) {
            const char *value = argv[i][2] ? argv[i] + 2 : i + 1 < argc ? argv[i + 1] : NULL;
            used = argv[i][2] ? 1 : 2;
            if (!value || (used == 2 && vs_tool_is_option(value)))
                return vs_run_fail("option %s needs a file name", argv[i]);
            if (vs_options_set(&run->options, VS_OPT_output, value, VS_FROM_COMMAND, why))
                return vs_run_fail("%s", why);
        } else if (strncmp(argv[i], "--", 2) == 0) {
            status = parse_flag(run, argv + i, argc - i, &used);
        } else {
            return vs_run_fail("unknown option %s; try 'vramscope run --help'", argv[i]);
        }
        if (status)
            return status;
        i += used;
    }
    if (i >= argc)
        return vs_run_fail("no program given; usage: %s",
                           "vramscope run [OPTIONS] [--] PROGRAM [ARGUMENTS]");
    run->program = argv + i;
    if (run->no_source && !run->view)
        return vs_run_fail("%s", "--no-source needs --view");
    const struct vs_options *set = &run->options;
    if (!!*set->text[VS_OPT_kernels_steps] + !!*set->text[VS_OPT_kernels_range] + !!set->number[VS_OPT_kernels_signal] > 1)
        return vs_run_fail("%s", "--kernels-steps, --kernels-range and --kernels-signal select the part of the run each in "
                           "its way: give one of them");
    int status = finish_check(run);
    if (!status)
        status = check_alloc_conf(run);
    return status ? status : check_limit(run);
}

/* Whether the text sets an option that only PyTorch's rules use. */
static bool tunes_pytorch(const char *text)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    const struct vs_allocator_config *c = &conf.config;
    return vs_alloc_conf_parse(text, strlen(text), &conf, &messages) == VS_OK &&
           (c->expandable_segments || c->tie);
}

void vs_run_warn_without_effect(const struct vs_run *run)
{
    const struct vs_options *o = &run->options;
    const char *conf = o->text[VS_OPT_alloc_conf];
    const struct vs_policy *policy = vs_policy_named(o->text[VS_OPT_policy]);
    bool chosen = policy != vs_policies[0];
    if (vs_option_is(o, VS_OPT_allocator, "observe") && (chosen || *conf))
        fprintf(stderr, "vramscope run: --allocator=observe only records cudaMalloc, so%s%s %s no "
                        "effect\n", chosen ? " --policy" : "",
                *conf ? " --alloc-conf" : "", chosen && *conf ? "have" : "has");
    else if (!policy->tunable && tunes_pytorch(conf))
        fprintf(stderr, "vramscope run: --alloc-conf=%.200s: keys that tune PyTorch's segments have "
                        "no effect with --policy=%s\n", conf, policy->name);
}

/* When injected, the library receives calls that the driver has already executed. */
void vs_run_warn_observed(const struct vs_run *run)
{
    const struct vs_options *o = &run->options;
    if (!vs_option_is(o, VS_OPT_via, "injection"))
        return;
    const char *asked = vs_option_is(o, VS_OPT_allocator, "caching")        ? "--allocator=caching"
                        : !vs_option_is(o, VS_OPT_policy, vs_policies[0]->name) ? "--policy"
                        : *o->text[VS_OPT_limit]                            ? "--limit"
                        : *o->text[VS_OPT_alloc_conf]                       ? "--alloc-conf"
                                                                            : NULL;
    if (asked)
        fprintf(stderr, "vramscope run: %s has no effect with --via=injection, which only "
                        "records\n", asked);
}
