/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the program: a folder of its own, `vramscope run` of this same executable with its
 * traces there, and what those traces say. A separate process, because a run sets its own
 * environment, handles signals and ends with the program. The program's output is not shown; its
 * standard error is kept, and its end is shown if there is no other explanation. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "tools/common/command.h"
#include "tools/common/own_state.h"
#include "tools/fit/fit_internal.h"
#include "trace/read/reader.h"

#define FLAGS_MAX 12     /* of `run`, besides the user's and the program */
#define ERRORS_MAX 65536 /* bytes of standard error that are looked at, from its end */
#define ERROR_LINES 12

struct fit_place {
    char folder[PATH_MAX + 256];
    char errors[PATH_MAX + 272], output[PATH_MAX + 272], notes[PATH_MAX + 272];
};

/* A part of a file name from what the user typed. */
static void append_name(char *path, size_t max, const char *text)
{
    size_t n = strlen(path);
    for (; *text && n + 1 < max; text++)
        path[n++] = isalnum((unsigned char)*text) || strchr(".-_=,", *text) ? *text : '_';
    path[n] = 0;
}

/* Files of an earlier run in a folder that was kept. */
static void remove_old(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        size_t n = strlen(name);
        if ((n > 4 && strcmp(name + n - 4, ".vst") == 0) ||
            (n > 9 && strcmp(name + n - 9, ".vst.live") == 0))
            unlinkat(dirfd(dir), name, 0);
    }
    if (dir)
        closedir(dir);
}

static int new_file(const struct vs_fit_job *job, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        vs_tool_fail(job->who, "cannot create %s: %s", path, strerror(errno));
    return fd;
}

static int make_place(const struct vs_fit_job *job, const char *gpu, const char *value,
                      struct fit_place *place)
{
    snprintf(place->folder, sizeof place->folder, "%s/", job->folder);
    append_name(place->folder, sizeof place->folder, gpu);
    if (value) {
        append_name(place->folder, sizeof place->folder, "-");
        append_name(place->folder, sizeof place->folder, value);
    }
    if (mkdir(place->folder, 0777) && errno != EEXIST)
        return vs_tool_fail(job->who, "cannot create %s: %s", place->folder, strerror(errno));
    remove_old(place->folder);
    snprintf(place->errors, sizeof place->errors, "%s/stderr.txt", place->folder);
    snprintf(place->output, sizeof place->output, "%s/stdout.txt", place->folder);
    snprintf(place->notes, sizeof place->notes, "%s/notes.txt", place->folder);
    int notes = new_file(job, place->notes);
    if (notes < 0)
        return VS_EXIT_UNUSABLE;
    close(notes);
    return 0;
}

/* --- starting `run` --- */

/* A percent sign in a folder's name is none of the trace's pattern. */
static char *trace_pattern(const char *folder)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    for (; *folder; folder++)
        fputs(*folder == '%' ? "%%" : (char[2]){*folder, 0}, out);
    fputs("/%r.%p.vst", out);
    return fclose(out) ? NULL : text;
}

/* What large copies and memsets write takes no host memory, unless the user decides otherwise: then
 * a large model fits a laptop. */
static char *device_spec(const char *gpu)
{
    char *spec = NULL;
    return asprintf(&spec, "--simulate=%s%s", gpu, strstr(gpu, ",data=") ? "" : ",data=small") < 0
               ? NULL : spec;
}

static size_t word_count(char *const *words)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

/* The arguments of `run`: its memory as without vramscope, no kernels, readings of the device often
 * enough to see its highest use. Called in the child, which is replaced: nothing is freed. */
static char **run_arguments(const struct vs_fit_job *job, const char *gpu,
                            const struct fit_place *place, char *const *command)
{
    size_t flags = word_count(job->run_flags), words = word_count(command), n = 0;
    char **arguments = calloc(FLAGS_MAX + flags + words + 1, sizeof *arguments), *notes = NULL;
    char *pattern = trace_pattern(place->folder), *spec = device_spec(gpu);
    if (!arguments || !pattern || !spec || asprintf(&notes, "--simulate-notes=%s", place->notes) < 0)
        return NULL;
    static const char *const fixed[] = {"vramscope", "run", "--quiet", "--allocator=observe",
                                        "--no-kernels", "--sample-ms=5"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = strdup(fixed[i]);
    for (size_t i = 0; i < flags; i++)
        arguments[n++] = job->run_flags[i];
    arguments[n++] = spec;
    arguments[n++] = notes;
    arguments[n++] = strdup("-o");
    arguments[n++] = pattern;
    arguments[n++] = strdup("--");
    for (size_t i = 0; i < words; i++)
        arguments[n++] = command[i];
    return arguments;
}

static void become_run(const struct vs_fit_job *job, const struct fit_place *place,
                       const struct vs_fit_run *run, int errors, int output)
{
    int nothing = open("/dev/null", O_RDONLY);
    char **command = vs_fit_command(job, run->value);
    char **arguments = command ? run_arguments(job, run->gpu, place, command) : NULL;
    vs_own_state_end();
    if (arguments && nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 && dup2(errors, 2) >= 0)
        execv("/proc/self/exe", arguments);
    dprintf(errors, "vramscope fit: cannot start `vramscope run`: %s\n", strerror(errno));
    _exit(125);
}

static int start(const struct vs_fit_job *job, const struct fit_place *place,
                 struct vs_fit_run *run)
{
    int errors = new_file(job, place->errors);
    int output = errors < 0 ? -1 : new_file(job, job->keep ? place->output : "/dev/null");
    int status = 0;
    if (output < 0) {
        if (errors >= 0)
            close(errors);
        return VS_EXIT_UNUSABLE;
    }
    uint64_t began = vs_clock_ns();
    pid_t pid = fork();
    if (pid == 0)
        become_run(job, place, run, errors, output);
    int code = errno;
    close(errors);
    close(output);
    if (pid < 0)
        return vs_tool_fail(job->who, "cannot start a process: %s", strerror(code));
    vs_fit_signals_to(pid);
    if (job->steps)
        run->stopped = vs_fit_wait_for_steps(pid, place->folder, job->steps, &status);
    else
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    vs_fit_signals_to(0);
    run->wall_ns = vs_clock_ns() - began;
    run->started = true;
    run->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

/* --- what it left --- */

/* The last bytes of a file; of a line that was overwritten in the terminal (progress bars), its last
 * state. NULL: unreadable. Freed by the caller. */
static char *read_end(const char *path)
{
    FILE *file = fopen(path, "r");
    struct stat st;
    char *bytes = file ? malloc(ERRORS_MAX + 1) : NULL;
    size_t n = 0, kept = 0;
    if (bytes && !fstat(fileno(file), &st) &&
        !fseek(file, st.st_size > ERRORS_MAX ? (long)st.st_size - ERRORS_MAX : 0, SEEK_SET))
        n = fread(bytes, 1, ERRORS_MAX, file);
    if (file)
        fclose(file);
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

/* Whether a line is the last one of a Python traceback: "ValueError: …", "[rank0]: a.b.Error: …". */
static bool names_exception(const char *line)
{
    size_t length = strcspn(line, "\n");
    if (strncmp(line, "[rank", 5) == 0) {
        const char *after = memmem(line, length, "]: ", 3);
        length -= after ? (size_t)(after + 3 - line) : 0;
        line = after ? after + 3 : line;
    }
    size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (name < 5 || name >= length || line[name] != ':')
        return false;
    if (name >= 16 && strncmp(line + name - 16, "ChildFailedError", 16) == 0)
        return false; /* torchrun's, about a worker's */
    return strncmp(line + name - 5, "Error", 5) == 0 ||
           (name > 9 && strncmp(line + name - 9, "Exception", 9) == 0);
}

/* What a library of the simulated GPU says about a call that it refused: the cause of the exception
 * that follows. "does not support" is listed below the table. */
static bool names_cause(const char *line)
{
    size_t length = strcspn(line, "\n");
    return strncmp(line, "vramscope: ", 11) == 0 && !memmem(line, length, "does not support", 16);
}

/* The last lines of the program's standard error. A launcher writes a lot after its workers'
 * exceptions: the last of those is put before, and before it the first message of ours. */
static char *read_errors(const char *path, struct vs_fit_run *run)
{
    char *all = read_end(path), *text = NULL, *start;
    const char *exception = NULL, *cause = NULL;
    int lines = 1;
    if (!all)
        return NULL;
    for (start = all + strlen(all); start > all; start--)
        if (start[-1] == '\n' && lines++ == ERROR_LINES)
            break;
    for (const char *line = all; line < start; line += strcspn(line, "\n") + 1) {
        if (names_exception(line))
            exception = line;
        if (names_cause(line) && !cause)
            cause = line;
    }
    for (const char *line = start; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (names_exception(line))
            exception = NULL; /* it is shown anyway */
    run->wants_devices = strstr(all, "invalid device ordinal") != NULL;
    int length = exception ? (int)strcspn(exception, "\n") : 0, first = cause ? (int)strcspn(cause, "\n") : 0;
    if (asprintf(&text, "%.*s%s%.*s%s%s", first, cause ? cause : "", cause ? "\n…\n" : "", length,
                 exception ? exception : "", exception ? "\n…\n" : "", start) < 0)
        text = NULL;
    free(all);
    return text;
}

/* Whether the messages are those of a program that found no simulated GPU, or none at all. */
static bool lacks_driver(const char *errors)
{
    static const char *const parts[] = {"nsufficient", "no CUDA-capable device", "no CUDA device"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(errors, parts[i]))
            return true;
    return !*errors;
}

/* A cause that the program's own message does not name. */
static void add_hint(struct vs_fit_run *run)
{
    const char *hint = NULL;
    char *text = NULL;
    const char *errors = run->errors ? run->errors : "";
    if (run->wants_devices)
        hint = "the program wants more GPUs than there are; add devices=N, as in --gpu "
               "h100-80g,devices=4";
    else if (run->started && !run->trace_count && (run->status < 125 || run->status > 127) &&
             lacks_driver(errors))
        hint = "the program did not use a GPU. If it should have: one that links NVIDIA's CUDA "
               "runtime statically (nvcc's default) cannot use the simulated GPU; build it with "
               "nvcc -cudart shared";
    if (!hint || asprintf(&text, "%s%svramscope fit: %s", errors, *errors ? "\n" : "", hint) < 0)
        return;
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
    struct vs_fit_trace **grown =
        realloc(run->traces, (run->trace_count + 1) * sizeof(struct vs_fit_trace *));
    if (!grown) {
        vs_fit_trace_free(trace);
        return vs_tool_fail(job->who, "out of memory");
    }
    run->traces = grown;
    run->traces[run->trace_count++] = trace;
    return 0;
}

static int is_trace(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".vst") == 0;
}

/* In the order of ranks. */
static int add_traces(const struct vs_fit_job *job, const char *folder, struct vs_fit_run *run)
{
    struct dirent **entries = NULL;
    int status = 0, count = scandir(folder, &entries, is_trace, versionsort);
    for (int i = 0; i < count; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!status)
            status = add_trace(job, path, run);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int look_at(const struct vs_fit_job *job, const struct fit_place *place,
                   struct vs_fit_run *run)
{
    int status = add_traces(job, place->folder, run);
    if (status)
        return status;
    enum vs_err err = vs_fit_notes_read(place->notes, &run->notes);
    if (!err)
        err = vs_fit_decide(run);
    if (err)
        return vs_tool_fail(job->who, "cannot read the result of the run: %s", vs_err_text(err));
    run->errors = read_errors(place->errors, run);
    if (run->answer == VS_FIT_UNKNOWN)
        add_hint(run);
    return 0;
}

int vs_fit_execute(const struct vs_fit_job *job, const char *gpu, const char *value,
                   struct vs_fit_run *run)
{
    struct fit_place place;
    *run = (struct vs_fit_run){.gpu = gpu, .value = value};
    int status = make_place(job, gpu, value, &place);
    if (status)
        return status;
    status = start(job, &place, run);
    return status || vs_fit_interrupted() ? status : look_at(job, &place, run);
}
