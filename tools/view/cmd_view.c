/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope view: a trace as one HTML page. */
#include <getopt.h>
#include <string.h>

#include "tools/common/symbol_tool.h"
#include "tools/common/tool_options.h"
#include "tools/view/view_live.h"
#include "tools/view/view_trace.h"

static const char usage[] =
    "usage: vramscope view [OPTIONS] TRACE [TRACE]\n"
    "       vramscope view --live [OPTIONS] PID | TRACE\n"
    "\n"
    "Writes a trace as one HTML page for a browser: the verdict and the peak, memory\n"
    "over time, every block by address, call site, phase or kind, flame graphs and\n"
    "tables of any time. The page needs no network and no other file. A second trace\n"
    "is shown beside the first. It contains lines of the program's source files.\n"
    "\n"
    "  -o, --output FILE     default: TRACE.html beside the trace;\n"
    "                        \"-\" is standard output\n"
    "      --open            open the page in the browser (xdg-open)\n"
    "      --from T, --to T  the blocks of this span only, both ends included; the\n"
    "                        curves are always whole.\n"
    "                        T: 12.5s, 850ms, 3m20s, -10s (before the end), 80%,\n"
    "                        @1234 (event)\n"
    "      --events N        events whose blocks are on the page (10,000,000): of a\n"
    "                        longer trace those around the failed allocation or\n"
    "                        the peak\n"
    "      --what-if N|off   other settings and changes of call sites that are\n"
    "                        replayed for the page (default: by the length of the\n"
    "                        trace)\n"
    "      --serve           serve the page at 127.0.0.1 instead of writing it: it\n"
    "                        can then show every part of a long trace; Ctrl-C ends\n"
    "                        the server\n"
    "      --live            serve the page of a running program, which follows it\n"
    "                        and stays when it has ended; the program is not slowed\n"
    "      --port N          the server's port (default: a free one)\n"
    "      --no-source       without lines of the source files that the trace names\n"
    "      --editor NAME     links to source lines open this editor: vscode, idea,\n"
    "                        pycharm, none, or an address with {path} and {line}\n"
    "                        (default: VRAMSCOPE_EDITOR, or else vscode)\n"
    "      --partial         use the readable events of a trace that is cut off or\n"
    "                        damaged\n"
    "\n"
    VS_SYMBOL_FLAGS
    "\n"
    "Exit codes: 0 written; 2 a trace is unreadable, FILE cannot be written, or\n"
    "wrong usage (an existing FILE is unchanged then).\n";

struct view_arguments {
    const char *output; /* NULL: the default name */
    bool open, serve, live;
    unsigned long long port;
    const char *first, *second; /* second: NULL for one trace */
    struct vs_view_options options;
};

static int set_whatif(const char *who, const char *text, void *to)
{
    struct vs_view_options *options = to;
    options->no_whatif = strcmp(text, "off") == 0;
    if (options->no_whatif || vs_tool_count(text, 1, 70, &options->whatif_max))
        return 0;
    return vs_tool_usage(who, "--what-if takes a number from 1 to 70, or off, not '%s'", text);
}

static int parse(int argc, char **argv, struct view_arguments *args)
{
    unsigned long long events = 0;
    const struct vs_tool_option options[] = {
        {"output", 'o', .text = &args->output},
        {"open", .flag = &args->open},
        {"from", .part = &args->options.part},
        {"to", .part = &args->options.part},
        {"events", .count = &events, .min = 1, .max = 1000000000, .quoted = true,
         .takes = "a number from 1 to 1000000000"},
        {"what-if", .run = set_whatif, .to = &args->options},
        {"partial", .flag = &args->options.partial},
        {"no-source", .flag = &args->options.no_source},
        {"editor", .text = &args->options.editor},
        {"serve", .flag = &args->serve},
        {"live", .flag = &args->live},
        {"port", .count = &args->port, .min = 1, .max = 65535, .quoted = true,
         .takes = "a number from 1 to 65535"},
        {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    args->options.events_max = events || args->live ? events : VS_PAGE_EVENTS_MAX;
    args->options.served = args->serve;
    if (argc - optind != 1 && argc - optind != 2)
        return vs_tool_usage(argv[0], argc == optind ? "no trace given" : "takes one or two traces");
    if (args->live && (argc - optind != 1 || args->output || vs_part_given(&args->options.part)))
        return vs_tool_usage(argv[0], "--live takes one process or trace, and no -o, --from or --to");
    args->first = argv[optind];
    args->second = argc - optind == 2 ? argv[optind + 1] : NULL;
    if (args->second)
        args->options.sites_max = VS_PAGE_SITES_MAX;
    if (args->second && vs_part_given(&args->options.part))
        return vs_tool_usage(argv[0], "--from and --to take one trace");
    if (args->serve && (args->second || args->output))
        return vs_tool_usage(argv[0], "--serve takes one trace, and no -o");
    if (args->port && !args->serve && !args->live)
        return vs_tool_usage(argv[0], "--port has a meaning only with --serve and --live");
    if (args->open && args->output && strcmp(args->output, "-") == 0)
        return vs_tool_usage(argv[0], "--open needs a file; standard output cannot be opened");
    return vs_view_editor(argv[0], args->options.editor) ? VS_EXIT_OK : VS_EXIT_UNUSABLE;
}

/* Both traces stay open until the page is written: their call sites are compared. */
static int write_page(const char *who, const struct view_arguments *args, const char *path)
{
    const char *traces[2] = {args->first, args->second};
    struct vs_view_trace open[2];
    struct vs_page_data *data[2] = {NULL, NULL};
    int count = 0, code = VS_EXIT_OK;
    while (!code && count < 2 && traces[count]) {
        if (!vs_view_open(who, traces[count], &args->options, &open[count])) {
            code = VS_EXIT_UNUSABLE;
            break;
        }
        data[count] = vs_view_page(&open[count], &args->options);
        code = data[count++] ? VS_EXIT_OK : VS_EXIT_UNUSABLE;
    }
    if (!code && data[1])
        vs_page_compare(data[0], open[0].report, data[1], open[1].report);
    while (count > 0)
        vs_view_close(&open[--count]);
    const struct vs_view_page_file file = {path, {args->first, args->second}, {data[0], data[1]}};
    code = code ? code : vs_view_write(who, &file, stdout);
    vs_page_data_free(data[0]);
    vs_page_data_free(data[1]);
    return code;
}

static int serve_trace(const char *who, const struct view_arguments *args)
{
    const struct vs_serve_options serve = {.port = (unsigned)args->port, .open = args->open};
    struct vs_view_trace trace;
    if (!vs_view_open(who, args->first, &args->options, &trace))
        return VS_EXIT_UNUSABLE;
    int code = vs_view_serve(&trace, &args->options, &serve);
    vs_view_close(&trace);
    return code;
}

static int serve_live(const char *who, struct view_arguments *args)
{
    struct vs_view_live live;
    if (!vs_view_live_open(who, args->first, &args->options, &live))
        return VS_EXIT_UNUSABLE;
    const struct vs_serve_options serve = {(unsigned)args->port, args->open, &live};
    int code = vs_view_serve(&live.trace, &live.options, &serve);
    vs_view_live_close(&live);
    return code;
}

static int view_main(int argc, char **argv)
{
    struct view_arguments args = {0};
    char name[PATH_MAX];
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    if (args.live)
        return serve_live(argv[0], &args);
    if (args.serve)
        return serve_trace(argv[0], &args);
    if (!args.output && !vs_view_name(argv[0], args.first, args.second, name))
        return VS_EXIT_UNUSABLE;
    const char *path = !args.output                     ? name
                       : strcmp(args.output, "-") == 0 ? NULL
                                                        : args.output;
    if (path && !vs_view_may_write(argv[0], path, args.first, args.second))
        return VS_EXIT_UNUSABLE;
    code = write_page(argv[0], &args, path);
    if (!code && args.open)
        vs_view_show(argv[0], path, path);
    return code;
}

const struct vs_command vs_cmd_view = {
    "view", "write a trace as one HTML page for a browser", usage, view_main, true};
