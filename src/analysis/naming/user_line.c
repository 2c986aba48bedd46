/* SPDX-License-Identifier: Apache-2.0
 *
 * A path in a trace is that of the interpreter: relative ones are tried from the
 * present folder, where `vramscope fit` starts its programs. */
#include "analysis/naming/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/python_file.h"
#include "analysis/naming/source_text.h"
#include "base/vs_text.h"

#define STACK_MAX 129
#define MARK_PREFIX "at "
#define MARK_END "at end" /* of a line that was marked outside of any range of its own */
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

const char *vs_line_text(struct vs_arena *memory, const char *path, unsigned line)
{
    char text[SOURCE_MAX + 512], code[SOURCE_MAX + 8];
    bool shown = vs_source_line(path, line, code, sizeof code, NULL);
    snprintf(text, sizeof text, shown ? "%s (%.255s:%u)" : "%s%.255s:%u", shown ? code : "",
             vs_text_base_name(path), line);
    return vs_text_copy(memory, vs_text_clean(text));
}

const char *vs_user_line(const struct vs_reader *reader, struct vs_symbols *symbols,
                         struct vs_arena *memory, uint64_t stack, uint64_t mark)
{
    struct vs_frame frames[STACK_MAX];
    struct vs_symbol found;
    char path[PATH_MAX], library[VS_PACKAGE_MAX];
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    for (size_t i = 0; i < count; i++) { /* the innermost Python frame of the user's */
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        if (module && *module->function && !vs_python_library(reader, module->path, library) &&
            vs_symbols_frame(symbols, &frames[i], &found, 1) && found.file)
            return vs_line_text(memory, found.file, found.line);
    }
    const char *text = mark ? vs_reader_string(reader, mark) : "";
    if (!is_line_mark(text))
        return vs_text_copy(memory, "");
    text += strlen(MARK_PREFIX);
    const char *colon = strrchr(text, ':');
    snprintf(path, sizeof path, "%.*s", (int)(colon - text), text);
    return vs_line_text(memory, path, (unsigned)strtoul(colon + 1, NULL, 10));
}
