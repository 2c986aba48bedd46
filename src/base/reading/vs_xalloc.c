/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/reading/vs_xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_utf8.h"

static const char *line_command = "vramscope";
static int line_status = 2;
static pid_t line_process; /* 0: not begun */

void vs_xalloc_begin(const char *command, int status)
{
    line_command = command;
    line_status = status;
    line_process = getpid();
}

void vs_out_of_memory(void)
{
    if (line_process && getpid() != line_process)
        _exit(line_status); /* a helper process: its parent says what failed, and has the buffers */
    fprintf(stderr, "%s: %s\n", line_command, vs_err_text(VS_ERR_NOMEM));
    exit(line_status);
}

static void *memory_or_end(void *memory)
{
    if (!memory)
        vs_out_of_memory();
    return memory;
}

void *vs_xcalloc(size_t count, size_t size)
{
    return memory_or_end(calloc(count ? count : 1, size));
}

void *vs_xrealloc(void *old, size_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        vs_out_of_memory();
    return memory_or_end(realloc(old, count ? count * size : 1));
}

char *vs_xstrdup(const char *text)
{
    return memory_or_end(strdup(text));
}

char *vs_xstrndup(const char *text, size_t length)
{
    return memory_or_end(strndup(text, length));
}

char *vs_xvalid(const char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t at = 0, whole = strlen(text), length;
    uint64_t eight; /* bytes of ASCII, as most texts are; the last eight may overlap those before */
    while (whole >= sizeof eight && at < whole) {
        size_t from_at = at + sizeof eight <= whole ? at : whole - sizeof eight;
        memcpy(&eight, text + from_at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
        at = from_at + sizeof eight;
    }
    while (from[at] && (length = from[at] < 0x80 ? 1 : vs_utf8_length(from + at, SIZE_MAX)) != 0)
        at += length;
    if (!from[at])
        return NULL;
    char *out = vs_xcalloc(at + (whole - at) * strlen(VS_UTF8_REPLACEMENT) + 1, 1), *to = mempcpy(out, text, at);
    for (from += at; *from; from += length + !length) {
        length = vs_utf8_length(from, SIZE_MAX);
        to = length ? mempcpy(to, from, length) : stpcpy(to, VS_UTF8_REPLACEMENT);
    }
    return out;
}

char *vs_xprintf(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return memory_or_end(length < 0 ? NULL : text);
}

FILE *vs_xstream(char **text, size_t *bytes)
{
    return memory_or_end(open_memstream(text, bytes));
}

void vs_xstream_end(FILE *stream)
{
    bool bad = ferror(stream);
    if (fclose(stream) || bad)
        vs_out_of_memory();
}

void *vs_xarena(struct vs_arena *arena, size_t bytes)
{
    return memory_or_end(vs_arena_alloc(arena, bytes));
}

const char *vs_xarena_text(struct vs_arena *arena, const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(vs_xarena(arena, size), text, size);
}

const char *vs_xarena_printf(struct vs_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = vs_xarena(arena, length < 0 ? 1 : (size_t)length + 1);
    if (length >= 0)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void vs_xmap_put(struct vs_map *map, uint64_t key, uint64_t value)
{
    if (vs_map_put(map, key, value) != VS_OK)
        vs_out_of_memory();
}

uint64_t *vs_xmap_value(struct vs_map *map, uint64_t key, uint64_t fresh)
{
    uint64_t *value = vs_map_add(map, key, fresh);
    if (!value)
        vs_out_of_memory();
    return value;
}
