/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the complete call chain of every device allocation of a trace, one line each: "BYTES
 * function < function[i] < ...", in the format of chain_victim.h. With -r the frames as stored in
 * the trace: module+offset. With -o the number of stacks in events of all kinds, and each of them
 * that has frames of the recording library. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

#define FRAMES 256
#define INLINES 32

static const char *last; /* the group written last on this line */

/* The group of a frame outside the program, of which any number counts as one; NULL for the
 * program's own. */
static const char *group_of(const struct vs_symbol *s)
{
    static const struct {
        const char *prefix, *group;
    } groups[] = {{"libc.so", "@libc"},     {"ld-linux", "@libc"}, {"libcudart", "@cuda"},
                  {"libcuda.so", "@cuda"},  {"libstdc++", "@cxx"}, {"libgcc", "@cxx"},
                  {"linux-vdso", "@vdso"},  {"libpthread", "@libc"},
                  {"libvramscope", "@OURS"}};
    if (!s->module || !*s->module)
        return s->function[0] == '(' ? NULL : "@none";
    if (!strncmp(s->function, "0x", 2))
        return "@none";
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!strncmp(s->module, groups[i].prefix, strlen(groups[i].prefix)))
            return groups[i].group;
    }
    /* the static runtime is part of the program */
    return s->file && strstr(s->file, "/simulator/") ? "@cuda" : NULL;
}

static void put_symbol(const struct vs_symbol *s, bool first)
{
    const char *group = group_of(s);
    if (group && last && !strcmp(group, last))
        return;
    last = group;
    printf("%s%s%s", first ? "" : " < ", group ? group : s->function, s->inlined ? "[i]" : "");
}

static void put_chain(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack)
{
    struct vs_frame frames[FRAMES];
    size_t count = vs_reader_stack(reader, stack, frames, FRAMES);
    last = NULL;
    for (size_t i = 0; i < count; i++) {
        struct vs_symbol names[INLINES];
        size_t n = vs_symbols_frame(symbols, &frames[i], names, INLINES);
        for (size_t k = 0; k < n; k++)
            put_symbol(&names[k], i + k == 0);
    }
}

static void put_raw(const struct vs_reader *reader, uint64_t stack)
{
    struct vs_frame frames[FRAMES];
    size_t count = vs_reader_stack(reader, stack, frames, FRAMES);
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *m = vs_reader_module(reader, frames[i].module);
        const char *slash = m ? strrchr(m->path, '/') : NULL;
        printf("%s%s+0x%" PRIx64, i ? " < " : "", m ? slash ? slash + 1 : m->path : "@none",
               frames[i].pc - (m ? m->base : 0));
    }
}

static bool has_own_frame(const struct vs_reader *reader, struct vs_symbols *symbols,
                          uint64_t stack)
{
    struct vs_frame frames[FRAMES];
    size_t count = vs_reader_stack(reader, stack, frames, FRAMES);
    for (size_t i = 0; i < count; i++) {
        struct vs_symbol names[INLINES];
        const struct vs_module *m = vs_reader_module(reader, frames[i].module);
        if (m && strstr(m->path, "libvramscope.so"))
            return true;
        for (size_t k = vs_symbols_frame(symbols, &frames[i], names, INLINES); k-- > 0;) {
            if (!strncmp(names[k].function, "vs_thunk_", 9) && !strstr(names[k].module, "cuda"))
                return true;
        }
    }
    return false;
}

static int find_own_frames(struct vs_reader *reader, struct vs_symbols *symbols)
{
    uint64_t stacks = 0, own = 0;
    for (struct vs_event e; !vs_reader_next(reader, &e);) {
        const struct vs_event_info *info = vs_event_describe(e.kind);
        for (unsigned i = 0; i < info->field_count; i++) {
            if (info->fields[i].codec != VS_CODEC_STK || !e.fields[i])
                continue;
            stacks++;
            if (!has_own_frame(reader, symbols, e.fields[i]))
                continue;
            own++;
            printf("%s: ", info->name);
            put_chain(reader, symbols, e.fields[i]);
            putchar('\n');
        }
    }
    printf("stacks %" PRIu64 " own %" PRIu64 "\n", stacks, own);
    return own != 0;
}

int main(int argc, char **argv)
{
    struct vs_reader *reader;
    struct vs_symbols *symbols;
    char why[VS_READER_WHY_MAX];
    bool raw = argc == 3 && !strcmp(argv[1], "-r"), own = argc == 3 && !strcmp(argv[1], "-o");
    if (argc != 2 + (raw || own) || vs_reader_open(argv[argc - 1], &reader, why))
        return 2;
    symbols = vs_symbols_open(reader);
    if (own)
        return find_own_frames(reader, symbols);
    for (struct vs_event e; !vs_reader_next(reader, &e);) {
        if (e.kind != VS_EVENT_alloc || e.alloc.family != VS_FAMILY_DEVICE)
            continue;
        printf("%" PRIu64 " ", e.alloc.requested);
        if (raw)
            put_raw(reader, e.alloc.stack);
        else
            put_chain(reader, symbols, e.alloc.stack);
        putchar('\n');
    }
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    return 0;
}
