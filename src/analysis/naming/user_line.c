/* SPDX-License-Identifier: Apache-2.0
 *
 * A path in a trace is that of the interpreter: relative ones are tried from the
 * present folder, where `vramscope fit` starts its programs. */
#define _GNU_SOURCE
#include "analysis/naming/naming.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/python_file.h"
#include "base/vs_text.h"

#define STACK_MAX 129
#define MARK_PREFIX "at "
#define MARK_END "at end" /* of a line that was marked outside of any range of its own */
#define SOURCE_BYTES_MAX (16 << 20)
#define SOURCE_MAX 48 /* bytes of a source line that are shown */

static bool is_line_mark(const char *name)
{
    return vs_text_begins(name, MARK_PREFIX) && strrchr(name, ':');
}

void vs_line_mark_event(struct vs_line_mark *mark, const struct vs_reader *reader,
                       const struct vs_event *event)
{
    if (reader && event->kind == VS_EVENT_mark) {
        const char *name = vs_reader_string(reader, event->mark.name);
        if (is_line_mark(name))
            *mark = (struct vs_line_mark){event->mark.name, event->tid, 0};
        else if (event->tid == mark->tid && strcmp(name, MARK_END) == 0)
            *mark = (struct vs_line_mark){0};
    }
    if (!mark->name || event->tid != mark->tid)
        return;
    if (event->kind == VS_EVENT_range_push)
        mark->depth++;
    else if (event->kind == VS_EVENT_range_pop && mark->depth-- == 0)
        *mark = (struct vs_line_mark){0};
}

/* Opens a source file for reading. The path comes from the trace: only regular files of a usual size
 * are opened, never a device or a FIFO. NULL otherwise. */
static FILE *open_source(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = NULL;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= SOURCE_BYTES_MAX)
        file = fdopen(fd, "r");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

/* Reads line *number* of *path* into *out* without its indentation and comment; false when it
 * cannot be read. Cut at SOURCE_MAX bytes, not within a character. */
static bool read_source(const char *path, unsigned number, char out[SOURCE_MAX + 8])
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = -1;
    FILE *file = number ? open_source(path) : NULL;
    for (unsigned i = 0; file && i < number && (length = getline(&line, &capacity, file)) >= 0; i++)
        ;
    if (file)
        fclose(file);
    if (length < 0) {
        free(line);
        return false;
    }
    char *text = line + strspn(line, " \t"), *comment = strstr(text, "  #");
    size_t n = comment ? (size_t)(comment - text) : strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    bool cut = n > SOURCE_MAX;
    if (cut) {
        n = SOURCE_MAX;
        while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    snprintf(out, SOURCE_MAX + 8, "%.*s%s", (int)n, text, cut ? "…" : "");
    free(line);
    return *out;
}

const char *vs_line_text(struct vs_arena *memory, const char *path, unsigned line, bool source)
{
    char text[SOURCE_MAX + 512], code[SOURCE_MAX + 8];
    bool shown = source && read_source(path, line, code);
    snprintf(text, sizeof text, shown ? "%s (%.255s:%u)" : "%s%.255s:%u", shown ? code : "",
             vs_text_base_name(path), line);
    return vs_text_copy(memory, vs_text_clean(text));
}

/* The innermost Python frame of the user's; false without one. *python*: there are other ones. */
static bool find_python(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack,
                        struct vs_symbol *out, bool *python)
{
    struct vs_frame frames[STACK_MAX];
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    *python = false;
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        if (!module || !*module->function)
            continue;
        char library[VS_PACKAGE_MAX];
        *python = true;
        if (!vs_python_library(reader, module->path, library) &&
            vs_symbols_frame(symbols, &frames[i], out, 1) && out->file)
            return true;
    }
    return false;
}

static const char *mark_text(const struct vs_reader *reader, struct vs_arena *memory, uint64_t mark,
                             bool source)
{
    char path[PATH_MAX];
    const char *text = vs_reader_string(reader, mark);
    if (!is_line_mark(text))
        return vs_text_copy(memory, "");
    text += strlen(MARK_PREFIX);
    const char *colon = strrchr(text, ':');
    snprintf(path, sizeof path, "%.*s", (int)(colon - text), text);
    return vs_line_text(memory, path, (unsigned)strtoul(colon + 1, NULL, 10), source);
}

static const char *native_text(const struct vs_reader *reader, struct vs_symbols *symbols,
                               struct vs_arena *memory, uint64_t stack)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    char text[512];
    size_t count = vs_naming_chain(reader, symbols, stack, false, chain);
    if (!count)
        return vs_text_copy(memory, "");
    char torch[VS_THROUGH_MAX];
    if (!vs_naming_fold(chain, count) && *vs_naming_torch(chain, count, torch))
        return vs_text_copy(memory, vs_text_clean(torch));
    if (chain[0].file && chain[0].line)
        snprintf(text, sizeof text, "%.200s (%.200s:%u)", chain[0].function,
                 vs_text_base_name(chain[0].file), chain[0].line);
    else
        snprintf(text, sizeof text, "%.400s", chain[0].function);
    return vs_text_copy(memory, vs_text_clean(text));
}

const char *vs_user_line(const struct vs_reader *reader, struct vs_symbols *symbols,
                        struct vs_arena *memory, uint64_t stack, uint64_t mark, bool source,
                        bool native)
{
    struct vs_symbol found;
    bool python;
    if (find_python(reader, symbols, stack, &found, &python))
        return vs_line_text(memory, found.file, found.line, source);
    if (mark)
        return mark_text(reader, memory, mark, source);
    return native && !python ? native_text(reader, symbols, memory, stack)
                             : vs_text_copy(memory, "");
}
