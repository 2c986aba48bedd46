/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is read once, and marks its lines that are wanted; spans of them are written at the end. */
#define _GNU_SOURCE /* open_memstream */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/source_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "viewer/common/json_writer.h"
#include "viewer/html/page_data.h"

#define AROUND 6                /* lines before and after */
#define LINE_MAX_BYTES 400      /* of a line that are kept */
#define FILE_MAX_BYTES (200 << 10)
#define ALL_MAX_BYTES (2 << 20)
#define FILES_MAX 1000
#define STACK_MOST 512          /* frames of a call site */

struct source_file {
    struct vs_source_file file;
    bool tried, changed;
    unsigned lines;
    const char **starts; /* of lines; one more than there are */
    bool *wanted;
    size_t bytes;        /* of the wanted lines */
};

static void open_file(struct source_file *out, const char *path, uint64_t started_ns)
{
    if (!vs_source_text_read(path, &out->file))
        return;
    const char *text = out->file.text, *end = text + out->file.bytes;
    out->lines = text < end && end[-1] != '\n';
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        out->lines++;
    out->starts = vs_xcalloc(out->lines + 1, sizeof *out->starts);
    out->wanted = vs_xcalloc(out->lines, sizeof *out->wanted);
    for (unsigned i = 0; i < out->lines; i++) {
        out->starts[i] = text;
        const char *next = memchr(text, '\n', (size_t)(end - text));
        text = next ? next + 1 : end + 1;
    }
    out->starts[out->lines] = text; /* behind the end of the last line, or where it would be */
    out->changed = out->file.changed_ns > started_ns; /* not known: it may have */
}

static void add_name(char names[VS_PAGE_TEXT_NAMES_MAX], const char *path)
{
    size_t at = strlen(names);
    const char *name = vs_text_base_name(path);
    if (at + strlen(name) + sizeof ", …" < VS_PAGE_TEXT_NAMES_MAX)
        snprintf(names + at, VS_PAGE_TEXT_NAMES_MAX - at, "%s%s", at ? ", " : "", name);
    else if (at && !strstr(names, ", …"))
        snprintf(names + at, VS_PAGE_TEXT_NAMES_MAX - at, ", …");
}

/* Bytes of line *i*, from 0, without its end; long ones are cut between characters. */
static size_t line_bytes(const struct source_file *source, unsigned i)
{
    const char *start = source->starts[i];
    size_t n = (size_t)(source->starts[i + 1] - start - 1);
    if (n && start[n - 1] == '\r')
        n--;
    if (n <= LINE_MAX_BYTES)
        return n;
    for (n = LINE_MAX_BYTES; n && ((unsigned char)start[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* Marks the lines around *line*. */
static void want(struct vs_page_text *text, struct source_file *source, unsigned line, size_t *all)
{
    for (unsigned i = line > AROUND ? line - AROUND - 1 : 0; i < line + AROUND && i < source->lines; i++) {
        size_t bytes = source->wanted[i] ? 0 : line_bytes(source, i) + 1;
        if (source->wanted[i])
            continue;
        if (source->bytes + bytes > FILE_MAX_BYTES || *all + bytes > ALL_MAX_BYTES) {
            text->left_out++;
            continue;
        }
        source->wanted[i] = true;
        source->bytes += bytes;
        *all += bytes;
    }
}

/* [first line, "its text\nthat of the next"] for each span. */
static void write_spans(struct vs_json *json, const struct source_file *source)
{
    for (unsigned i = 0; vs_json_next(json, "spans", i, source->lines); i++) {
        char *span = NULL;
        size_t length;
        unsigned first = i;
        if (!source->wanted[i])
            continue;
        FILE *out = vs_xstream(&span, &length);
        for (; i < source->lines && source->wanted[i]; i++) {
            if (i > first)
                fputc('\n', out);
            fwrite(source->starts[i], 1, line_bytes(source, i), out);
        }
        vs_xstream_end(out);
        vs_json_begin_array(json, NULL);
        vs_json_uint(json, NULL, first + 1);
        vs_json_string(json, NULL, span);
        vs_json_end_array(json);
        free(span);
    }
}

static void write_files(struct vs_page_text *text, const struct vs_page_names *names,
                        const struct source_file *sources, struct vs_column *column)
{
    char *written = NULL;
    size_t bytes = 0;
    struct vs_json json = {.out = vs_xstream(&written, &bytes)};
    for (size_t i = 0; vs_json_next(&json, NULL, i, names->files.count); i++) {
        const char *path = names->files.items[i];
        if (sources[i].bytes) {
            char absolute[PATH_MAX];
            vs_json_begin(&json, NULL, VS_J_UINT("file", i), VS_J_BOOL("changed", sources[i].changed),
                          VS_J_TEXT("path", realpath(path, absolute) ? absolute : path));
            write_spans(&json, &sources[i]);
            vs_json_end_object(&json);
            text->files++;
            text->changed += sources[i].changed;
            if (sources[i].changed)
                add_name(text->changed_names, path);
        } else if (sources[i].tried && !sources[i].file.text) {
            text->missing++;
            add_name(text->missing_names, path);
        }
    }
    vs_xstream_end(json.out);
    for (size_t i = 0; text->files && i < bytes; i++)
        vs_column_add(column, (unsigned char)written[i]);
    free(written);
}

void vs_page_text_build(struct vs_page_text *text, const struct vs_page_names *names, uint64_t started_ns,
                        struct vs_column *column)
{
    struct source_file *sources = vs_xcalloc(names->files.count + 1, sizeof *sources);
    size_t all = 0, opened = 0;
    for (size_t s = 0; s < names->site_count; s++) {
        const struct vs_page_site *site = &names->sites[s];
        uint32_t file = site->file, line = site->line, row = site->stack;
        for (unsigned depth = 0; depth < STACK_MOST; depth++) { /* its own line, then its frames outwards */
            struct source_file *source = file ? &sources[file - 1] : NULL;
            const char *path = file ? names->files.items[file - 1] : "";
            if (source && line && !source->tried && opened < FILES_MAX && vs_source_is_code(path)) {
                source->tried = true;
                opened++;
                open_file(source, path, started_ns);
            }
            if (source && source->file.text && line && line <= source->lines)
                want(text, source, line, &all);
            if (!row)
                break;
            const struct vs_page_node *node = names->nodes.items[row - 1];
            file = node->user ? node->file : 0;
            line = node->line;
            row = node->parent;
        }
    }
    write_files(text, names, sources, column);
    for (size_t i = 0; i < names->files.count; i++) {
        free(sources[i].file.text);
        free(sources[i].starts);
        free(sources[i].wanted);
    }
    free(sources);
}
