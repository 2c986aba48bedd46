/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of one run, from the files in its folder: traces, notes, and the end of the standard
 * error, which is shown if there is no other explanation. */
#define _GNU_SOURCE
#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/fit/fit_internal.h"
#include "trace/read/reader.h"

#define ERRORS_MAX 65536 /* bytes of standard error that are looked at, from its end */
#define ERROR_LINES 12

/* The last bytes of a file; of a line that was overwritten in the terminal (progress bars), its last
 * state. NULL: unreadable. Freed by the caller. */
static char *read_end(const char *path)
{
    VS_TOOL_FILE file = fopen(path, "r");
    struct stat st;
    char *bytes = file ? vs_xcalloc(1, ERRORS_MAX + 1) : NULL;
    size_t n = 0, kept = 0;
    if (bytes && !fstat(fileno(file), &st) &&
        !fseek(file, st.st_size > ERRORS_MAX ? (long)st.st_size - ERRORS_MAX : 0, SEEK_SET))
        n = fread(bytes, 1, ERRORS_MAX, file);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\r' && i + 1 < n && bytes[i + 1] != '\n')
            while (kept && bytes[kept - 1] != '\n')
                kept--;
        else if (bytes[i] && bytes[i] != '\r')
            bytes[kept++] = bytes[i];
    }
    while (kept && bytes[kept - 1] == '\n')
        kept--;
    bytes[kept] = 0;
    return bytes;
}

/* The last one of a Python traceback: "ValueError: …", "[rank0]: a.b.Error: …". */
#define EXCEPTION "^(\\[rank[^]]*\\]: )?[[:alnum:]_.]*(Error|[[:alnum:]_.]Exception):.*$"

/* The line of *text*, before *end*, that *expression* matches and that does not contain *but*: the last of them, or
 * the first. NULL: none. *length*: of it. */
static const char *find_line(const char *text, const char *end, const char *expression, const char *but, bool last,
                             int *length)
{
    const char *found = NULL;
    regex_t compiled;
    regmatch_t at;
    *length = 0;
    if (regcomp(&compiled, expression, REG_EXTENDED | REG_NEWLINE))
        return NULL;
    while ((last || !found) && text < end && !regexec(&compiled, text, 1, &at, 0) && text + at.rm_so < end) {
        size_t bytes = (size_t)(at.rm_eo - at.rm_so);
        if (!memmem(text + at.rm_so, bytes, but, strlen(but))) {
            found = text + at.rm_so;
            *length = (int)bytes;
        }
        text += at.rm_eo + 1;
    }
    regfree(&compiled);
    return found;
}

/* The last lines of the program's standard error. A launcher, whose own exception is about a worker's, writes a lot
 * after its workers' exceptions: the last of those is put before, and before it the first message of ours. What a
 * library of the simulated GPU says about a call that it refused is the cause of the exception that follows; "does
 * not support" is listed below the table. */
static char *read_errors(const char *path, struct vs_fit_run *run)
{
    char *all = read_end(path), *text = NULL, *start;
    int lines = 1, first, length;
    if (!all)
        return NULL;
    const char *end = start = all + strlen(all);
    for (; start > all; start--)
        if (start[-1] == '\n' && lines++ == ERROR_LINES)
            break;
    const char *cause = find_line(all, start, "^vramscope: .*$", "does not support", false, &first);
    const char *exception = find_line(start, end, EXCEPTION, "ChildFailedError:", true, &length);
    exception = exception ? NULL : find_line(all, start, EXCEPTION, "ChildFailedError:", true, &length);
    run->wants_devices = strstr(all, "invalid device ordinal") != NULL;
    text = vs_xprintf("%.*s%s%.*s%s%s", first, cause ? cause : "", cause ? "\n…\n" : "", exception ? length : 0,
                      exception ? exception : "", exception ? "\n…\n" : "", start);
    free(all);
    return text;
}

/* A cause that the program's own message does not name. */
static void add_hint(const char *who, struct vs_fit_run *run)
{
    const char *hint = NULL;
    const char *errors = run->errors ? run->errors : "";
    if (run->wants_devices)
        hint = "the program wants more GPUs than there are; add devices=N, as in --gpu "
               "h100-80g,devices=4";
    else if (run->started && !run->trace_count && (run->status < 125 || run->status > 127) &&
             (!*errors || strstr(errors, "nsufficient") || strstr(errors, "no CUDA-capable device") ||
              strstr(errors, "no CUDA device"))) /* it found no GPU, or looked for none */
        hint = "the program did not use a GPU";
    if (!hint)
        return;
    char *text = vs_xprintf("%s%s%s: %s", errors, *errors ? "\n" : "", who, hint);
    free(run->errors);
    run->errors = text;
}

static int add_trace(const struct vs_fit_job *job, const char *path, struct vs_fit_run *run)
{
    struct vs_reader *reader;
    struct vs_fit_trace *trace = NULL;
    char rank[32];
    const char *name = strrchr(path, '/') + 1;
    snprintf(rank, sizeof rank, "%.*s", (int)strcspn(name, "."), name);
    if (!vs_tool_open(job->who, path, &reader))
        return VS_EXIT_UNUSABLE;
    enum vs_err err = vs_fit_trace_build(reader, path, rank, &trace);
    vs_reader_close(reader);
    if (err)
        return vs_tool_fail(job->who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    if (!trace->device_count) {
        vs_fit_trace_free(trace);
        return 0;
    }
    VS_VEC_ADD(run->traces, run->trace_count, run->trace_capacity, trace);
    return 0;
}

static int is_trace(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && vs_text_ends(entry->d_name, ".vst");
}

/* What the post-mortem of the failed process replayed, with the allocator's settings first. Without it
 * the answer stays as it is: a trace with a part of the allocations has no diagnosis. */
void vs_fit_add_remedy(const struct vs_fit_job *job, struct vs_fit_run *run)
{
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_oom *oom = NULL;
    if (run->answer != VS_FIT_NO || *run->why || run->worst->partial ||
        !vs_tool_report(job->who, run->worst->path, true, "", 0, &reader, &report))
        return;
    if (vs_oom_tool_build(reader, report, NULL, run->worst_device->failure.number, true, &oom))
        oom = NULL;
    for (size_t i = 0; oom && !run->remedy.text && i < oom->remedy_count; i++) {
        const struct vs_remedy *remedy = &oom->remedies[i];
        if (remedy->replayed && remedy->fits)
            run->remedy = (struct vs_fit_remedy){vs_xstrdup(remedy->text), remedy->kind, remedy->bytes};
    }
    vs_oom_free(oom);
    vs_report_free(report);
    vs_reader_close(reader);
}

int vs_fit_read_result(const struct vs_fit_job *job, const struct vs_fit_process *process)
{
    struct vs_fit_run *run = process->run;
    char path[2 * PATH_MAX];
    /* In the order of ranks. */
    struct dirent **entries = NULL;
    int status = 0, count = scandir(process->folder, &entries, is_trace, versionsort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", process->folder, entries[i]->d_name);
        if (!status)
            status = add_trace(job, path, run);
        free(entries[i]);
    }
    free(entries);
    if (status)
        return status;
    snprintf(path, sizeof path, "%s/notes.txt", process->folder);
    enum vs_err err = vs_fit_notes_read(path, &run->notes);
    /* What the processes read although no kernel had computed it. */
    for (size_t t = 0; !err && t < run->trace_count; t++)
        for (unsigned i = 0; i < run->traces[t]->read_count; i++) {
            const struct vs_fit_read *read = &run->traces[t]->reads[i];
            char text[256], size[VS_SIZE_TEXT_MAX] = "perhaps managed memory";
            if (read->bytes)
                vs_size_format(size, read->bytes);
            snprintf(text, sizeof text, "%s, after kernel %.200s", size, read->kernel);
            vs_fit_notes_add_read(&run->notes, *read->where ? read->where : "(no call site)", text,
                                  read->count);
        }
    if (!err)
        err = vs_fit_decide(run);
    if (err)
        return vs_tool_fail(job->who, "cannot read the result of the run: %s", vs_err_text(err));
    snprintf(path, sizeof path, "%s/stderr.txt", process->folder);
    run->errors = read_errors(path, run);
    if (run->answer == VS_FIT_UNKNOWN)
        add_hint(job->who, run);
    return 0;
}
