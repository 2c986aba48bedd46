/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope import: a trace from another tool's record of GPU memory. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "analysis/import/import.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/common/tool_options.h"
#include "tools/common/whole_file.h"

static const char usage[] =
    "usage: vramscope import [OPTIONS] FILE\n"
    "\n"
    "Makes a trace of another tool's record of GPU memory, for report, view, oom,\n"
    "replay, diff and export. FILE is a memory snapshot of PyTorch\n"
    "(torch.cuda.memory._dump_snapshot, after _record_memory_history), a CSV log of\n"
    "RMM (logging_resource_adaptor), the SQLite export of Nsight Systems (nsys\n"
    "profile --cuda-memory-usage=true, then nsys export --type sqlite), or a heap\n"
    "profile of pprof (jax.profiler.save_device_memory_profile). Nothing in FILE is\n"
    "executed: a pickle that names a class or a function is refused. \"-\": standard\n"
    "input.\n"
    "\n"
    "  -o, --output OUT.vst  default: FILE with .vst instead of its extension\n"
    "      --format FORMAT   auto (default), torch-snapshot, rmm-csv, nsys-sqlite or\n"
    "                        pprof\n"
    "      --process PID     Nsight Systems: of this process; default: of the one\n"
    "                        with most memory events\n"
    "  -q, --quiet           print errors only\n"
    "\n"
    "Exit codes: 0 written; 2 FILE cannot be read, OUT.vst cannot be written, or\n"
    "wrong usage (an existing OUT.vst is unchanged then).\n";

struct import_arguments {
    const char *output;
    unsigned format; /* enum vs_import_format */
    unsigned long long process;
    bool quiet;
};

static int parse(int argc, char **argv, struct import_arguments *args)
{
    const struct vs_tool_option options[] = {{"output", 'o', .text = &args->output},
                                             {"format", 'f', .word = &args->format,
                                              .words = "auto, torch-snapshot, rmm-csv, nsys-sqlite, pprof"},
                                             {"process", .count = &args->process, .min = 1, .max = 0xffffff,
                                              .takes = "the number of a process", .quoted = true},
                                             {"quiet", 'q', .flag = &args->quiet},
                                             {0}};
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    if (argc - optind != 1)
        return vs_tool_usage(argv[0], argc == optind ? "no file given" : "takes one file");
    if (!args->output && strcmp(argv[optind], "-") == 0)
        return vs_tool_usage(argv[0], "standard input has no name: give the trace's with -o");
    return VS_EXIT_OK;
}

static int report_failure(const char *who, const char *path, const char *output, enum vs_err err,
                          const char *why)
{
    int saved_errno = errno;
    if (err == VS_ERR_IO && !*why)
        return vs_tool_fail(who, "cannot write %s: %s", output, strerror(saved_errno));
    if (err == VS_ERR_IO)
        return vs_tool_fail(who, "cannot read %s: %s", path, why);
    return vs_tool_fail(who, "%s: %s", path, *why ? why : vs_err_text(err));
}

static int convert(const char *who, FILE *in, const char *path, const char *output,
                   const struct import_arguments *args)
{
    char why[VS_IMPORT_WHY_MAX];
    struct vs_import_result result;
    struct vs_whole_file out;
    if (!vs_whole_file_open(who, output, true, &out))
        return VS_EXIT_UNUSABLE;
    vs_whole_file_like(&out, in == stdin ? NULL : path);
    enum vs_err err = vs_import(in, out.stream, path, (enum vs_import_format)args->format, args->process, &result, why);
    int code = err ? report_failure(who, path, output, err, why) : VS_EXIT_OK;
    code = vs_whole_file_end(who, &out, code);
    if (code == VS_EXIT_OK && !args->quiet) {
        const struct vs_import_result *r = &result;
        vs_tool_print("%s: %s events from %s", output, vs_count_text(r->events), path);
        if (r->history)
            vs_tool_print("  history: %s, %s%s", vs_number_text(r->allocs, "allocation"),
                          vs_number_text(r->frees, "free"), r->failures ? "" : ", no failure");
        else if (r->format == VS_IMPORT_PPROF)
            vs_tool_print("  in use when it was written: %s in %s; a profile has no history and no peak",
                          vs_size_text(r->start_bytes), vs_number_text(r->start_blocks, "block"));
        else
            vs_tool_print("  no history, only the state when the snapshot was taken: call "
                          "torch.cuda.memory._record_memory_history() early in the program");
        if (r->failures)
            vs_tool_print("  out of memory: %s×; vramscope oom %s explains %s",
                          vs_count_text(r->failures), output, r->failures > 1 ? "the last" : "it");
        if (r->history && r->start_blocks)
            vs_tool_print("  in use before the history begins: %s in %s", vs_size_text(r->start_bytes),
                          vs_number_text(r->start_blocks, "block"));
        if (r->history && r->overwritten)
            vs_tool_print("  the history has lost its beginning: its length is max_entries of "
                          "torch.cuda.memory._record_memory_history");
        if (r->history && !r->timed)
            vs_tool_print("  the history has no times: its entries follow each other by 1 µs");
        if (r->unmatched)
            vs_tool_print("  left out: %s of memory whose allocation is not in the file",
                          vs_number_text(r->unmatched, "free"));
        if (r->of_others)
            vs_tool_print("  left out: %s of other processes; --process PID chooses one",
                          vs_number_text(r->of_others, "event"));
        if (r->skipped && r->format == VS_IMPORT_NSYS_SQLITE)
            vs_tool_print("  left out: %s that the import does not read (man vramscope-import)",
                          vs_number_text(r->skipped, "event"));
        else if (r->skipped && r->format == VS_IMPORT_PPROF)
            vs_tool_print("  left out: %s of memory of the host", vs_number_text(r->skipped, "sample"));
        else if (r->skipped)
            vs_tool_print("  left out: %s not of the format, the first is line %llu",
                          vs_number_text(r->skipped, "line"), (unsigned long long)r->skipped_first);
        if (r->beyond)
            vs_tool_print("  left out: %s outside the limits (man vramscope-import)", vs_number_text(r->beyond, "sample"));
        vs_tool_print("next: vramscope view %s --open", output);
    }
    return vs_tool_finish(who, stdout, code);
}

static int import_main(int argc, char **argv)
{
    struct import_arguments args = {.format = VS_IMPORT_AUTO};
    char made[PATH_MAX];
    int code = parse(argc, argv, &args);
    if (code)
        return code < 0 ? VS_EXIT_OK : code;
    const char *path = argv[optind], *output = args.output;
    if (!output) {
        /* "dir/snapshot.pickle" becomes "dir/snapshot.vst". */
        const char *base = vs_text_base_name(path);
        const char *dot = strrchr(base, '.');
        size_t length = dot && dot > base ? (size_t)(dot - path) : strlen(path);
        if (snprintf(made, PATH_MAX, "%.*s.vst", (int)length, path) >= PATH_MAX)
            return vs_tool_usage(argv[0], "the path is too long; name the trace with -o");
        output = made;
    }
    const char *name = output;
    if (!vs_tool_output(argv[0], path, &output))
        return VS_EXIT_UNUSABLE;
    if (!output)
        return vs_tool_fail(argv[0], "%s is the file itself; give another file with -o", name);
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in)
        return vs_tool_fail(argv[0], "cannot open %s: %s", path, strerror(errno));
    code = convert(argv[0], in, standard ? "standard input" : path, output, &args);
    if (!standard)
        fclose(in);
    return code;
}

const struct vs_command vs_cmd_import = {
    "import", "make a trace of a PyTorch snapshot, RMM log, nsys export or pprof", usage, import_main, false};
