/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope options: every option of the recorder, its present value and the source of that value.
 */
#include <getopt.h>

#include "base/vs_option.h"
#include "tools/common/tool_options.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

#define INDENT "               " /* of the lines below an option's name */

static const char usage[] =
    "usage: vramscope options [--json]\n"
    "\n"
    "Lists every option with its value, where the value comes from (default or\n"
    "environment), its variable (VRAMSCOPE_...), its unit or allowed words, and what\n"
    "it does. Each is also a flag of `vramscope run`: --NAME VALUE, with '-' for '_'.\n"
    "\n"
    "  --json          JSON (schema vramscope.options/1)\n"
    "\n"
    "Exit codes: 0 printed, 2 wrong usage.\n";

static void warn(const char *sentence, void *arg)
{
    fprintf(stderr, "%s: %s\n", (const char *)arg, sentence);
}

static const char *source_name(enum vs_option_source source)
{
    return source == VS_FROM_ENVIRONMENT ? "environment"
           : source == VS_FROM_COMMAND   ? "command"
                                         : "default";
}

static int options_main(int argc, char **argv)
{
    static struct vs_options options; /* large: one text per option */
    bool json = false;
    const struct vs_tool_option flags[] = {{"json", .flag = &json}, {0}};
    int code = vs_tool_options(argc, argv, usage, flags);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    if (optind != argc)
        return vs_tool_usage(argv[0], "takes no arguments");
    vs_options_init(&options);
    vs_options_load_environment(&options, warn, argv[0]);
    char env[VS_OPTION_ENV_MAX];
    if (json) {
        static const char *const types[] = {
            [VS_OPTION_STRING] = "string", [VS_OPTION_BOOL] = "bool", [VS_OPTION_COUNT] = "count",
            [VS_OPTION_SIZE] = "size", [VS_OPTION_CHOICE] = "choice", [VS_OPTION_LIMIT] = "limit",
            [VS_OPTION_STEPS] = "steps"};
        struct vs_json out = {.out = stdout, .pretty = true};
        vs_json_begin(&out, NULL, VS_J_TEXT("schema", "vramscope.options/1"));
        for (int i = 0; vs_json_next(&out, "options", i, VS_OPT_COUNT); i++) {
            const struct vs_option_info *info = vs_option_describe((enum vs_option_id)i);
            bool ranged = info->type == VS_OPTION_COUNT || info->type == VS_OPTION_SIZE;
            vs_option_env_name((enum vs_option_id)i, env);
            vs_json_object(&out, NULL, VS_J_TEXT("name", info->name),
                           VS_J_TEXT("value", options.text[i]),
                           VS_J_TEXT("source", source_name(options.source[i])),
                           VS_J_TEXT("default", info->fallback), VS_J_TEXT("environment", env),
                           VS_J_TEXT("type", types[info->type]), VS_J_TEXT("unit", info->unit),
                           VS_J_UINT_IF(ranged, "min", info->min),
                           VS_J_UINT_IF(ranged, "max", info->max), VS_J_TEXT("help", info->help));
        }
        vs_json_end_object(&out);
    } else {
        struct vs_style style;
        vs_style_init(&style, stdout);
        for (int i = 0; i < VS_OPT_COUNT; i++) {
            const struct vs_option_info *info = vs_option_describe((enum vs_option_id)i);
            bool set = options.source[i] != VS_FROM_DEFAULT;
            printf("%s%-14s%s %s%s%s  (%s)\n", vs_paint(&style, VS_BOLD), info->name,
                   vs_unpaint(&style), vs_paint(&style, set ? VS_WARN : VS_PLAIN),
                   *options.text[i] ? options.text[i] : "\"\"", vs_unpaint(&style),
                   source_name(options.source[i]));
            /* What the option does, and in brackets its unit, range or words. */
            const char *unit = info->type != VS_OPTION_BOOL ? info->unit
                               : *info->unit                ? "on|off|api"
                                                            : "on|off";
            char range[64] = "";
            if (info->type == VS_OPTION_COUNT)
                snprintf(range, sizeof range, "%s%llu to %llu", *unit ? ", " : "",
                         (unsigned long long)info->min, (unsigned long long)info->max);
            if (*unit || *range)
                vs_text_lines(&style, INDENT, "%s [%s%s]", info->help, unit, range);
            else
                vs_text_lines(&style, INDENT, "%s", info->help);
            printf("%s%s%s%s\n", INDENT, vs_paint(&style, VS_DIM),
                   vs_option_env_name((enum vs_option_id)i, env), vs_unpaint(&style));
        }
    }
    return vs_tool_finish(argv[0], stdout, VS_EXIT_OK);
}

const struct vs_command vs_cmd_options = {
    "options", "list every option, its value and where the value comes from", usage, options_main, false};
