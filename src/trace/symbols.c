/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for program counters; see the header. Each module is one libdwfl session
 * with the object at bias 0, opened when its first frame is asked for, and only
 * if the file on disk is the one that was running (equal build ids). Debug
 * information comes from the object, from /usr/lib/debug/.build-id, or from what
 * a debuginfod client has cached; nothing is ever downloaded. Strings belong to
 * libdw or to the arena, and both live until close. */
#define _GNU_SOURCE
#include "trace/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_option.h"
#include "trace/demangle.h"

#define INLINES_MAX 64u
#define BUILD_ID_HEX_MAX 130u

/* A range of code and the compilation unit it comes from. */
struct unit_range {
    Dwarf_Addr low, high;
    Dwarf_Off unit;
};

struct object {
    bool tried;
    const char *name; /* base name */
    uint64_t base;
    Dwfl *dwfl; /* NULL: no usable file */
    Dwfl_Module *module;
    bool ranges_built;
    struct unit_range *ranges; /* sorted; owned */
    size_t range_count;
};

/* What is known of one pc; kept by the arena. */
struct answer {
    uint64_t pc;
    uint32_t module;
    uint32_t count;
    struct vs_symbol *symbols;
};

struct vs_symbols {
    const struct vs_reader *reader;
    struct object *objects; /* by module index */
    size_t object_count;
    struct vs_map answers; /* key_of(pc, module) -> struct answer * */
    struct vs_arena arena;
    size_t missing;
    const char *first_missing;
};

/* --- text --- */

static const char *keep(struct vs_symbols *s, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = vs_arena_alloc(&s->arena, bytes);
    return copy ? memcpy(copy, text, bytes) : "?";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* *name* as people write it: demangled, without a symbol version. */
static const char *readable_name(struct vs_symbols *s, const char *name)
{
    char *plain = vs_demangle(name);
    if (plain) {
        const char *kept = keep(s, plain);
        free(plain);
        return kept;
    }
    const char *version = strchr(name, '@');
    if (!version || version == name)
        return name;
    char *copy = vs_arena_alloc(&s->arena, (size_t)(version - name) + 1);
    return copy ? memcpy(copy, name, (size_t)(version - name)) : name;
}

/* --- objects --- */

static size_t build_id_hex(const unsigned char *bits, int bytes, char *out)
{
    size_t n = 0;
    for (int i = 0; i < bytes && n + 3 <= BUILD_ID_HEX_MAX; i++)
        n += (size_t)snprintf(out + n, 3, "%02x", bits[i]);
    out[n] = '\0';
    return n;
}

static bool module_build_id(Dwfl_Module *module, char *hex)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(module, &bits, &address);
    hex[0] = '\0';
    return bytes > 0 && build_id_hex(bits, bytes, hex) > 2;
}

static int open_debug_file(const char *path, char **name)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        *name = strdup(path);
    return fd;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc;
    char hex[BUILD_ID_HEX_MAX], path[PATH_MAX];
    if (!module_build_id(module, hex))
        return -1;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
    int fd = open_debug_file(path, found);
    const char *dir = vs_environment("DEBUGINFOD_CACHE_PATH"), *below = "";
    if (!dir && (dir = vs_environment("XDG_CACHE_HOME")))
        below = "/debuginfod_client";
    if (!dir && (dir = vs_environment("HOME")))
        below = "/.cache/debuginfod_client";
    if (fd < 0 && dir &&
        snprintf(path, sizeof path, "%s%s/%s/debuginfo", dir, below, hex) < (int)sizeof path)
        fd = open_debug_file(path, found);
    return fd;
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    (void)module, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
    return -1; /* every object is reported with its file */
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = find_debuginfo,
};

/* Open the object's file if it is the one that ran. */
static bool open_object(struct object *object, const struct vs_module *recorded)
{
    char hex[BUILD_ID_HEX_MAX];
    object->dwfl = dwfl_begin(&callbacks);
    if (!object->dwfl)
        return false;
    dwfl_report_begin(object->dwfl);
    object->module =
        dwfl_report_elf(object->dwfl, object->name, recorded->path, -1, 0, true);
    dwfl_report_end(object->dwfl, NULL, NULL);
    GElf_Addr bias;
    if (object->module && dwfl_module_getelf(object->module, &bias)) {
        module_build_id(object->module, hex);
        if (!strcmp(hex, recorded->build_id))
            return true;
    }
    dwfl_end(object->dwfl);
    object->dwfl = NULL;
    object->module = NULL;
    return false;
}

static struct object *get_object(struct vs_symbols *s, uint32_t index)
{
    const struct vs_module *recorded = vs_reader_module(s->reader, index);
    if (!recorded)
        return NULL;
    if (index >= s->object_count) {
        size_t count = (size_t)index * 2 + 16;
        struct object *larger = realloc(s->objects, count * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + s->object_count, 0, (count - s->object_count) * sizeof *larger);
        s->objects = larger;
        s->object_count = count;
    }
    struct object *object = &s->objects[index];
    if (object->tried)
        return object;
    object->tried = true;
    object->base = recorded->base;
    object->name = base_name(recorded->path);
    /* names without a directory are no files: the vDSO */
    if (strchr(recorded->path, '/') && !open_object(object, recorded)) {
        s->missing++;
        if (!s->first_missing)
            s->first_missing = recorded->path;
    }
    return object;
}

/* --- DWARF --- */

static int compare_ranges(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* All units' ranges: for compilers that write no .debug_aranges. */
static void build_ranges(struct object *object)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;
    size_t capacity = 0;
    object->ranges_built = true;
    while ((unit = dwfl_module_nextcu(object->module, unit, &bias))) {
        Dwarf_Addr base, low, high;
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
            if (object->range_count == capacity) {
                capacity = capacity ? capacity * 2 : 256;
                struct unit_range *larger = realloc(object->ranges, capacity * sizeof *larger);
                if (!larger)
                    return;
                object->ranges = larger;
            }
            object->ranges[object->range_count++] =
                (struct unit_range){low, high, dwarf_dieoffset(unit)};
        }
    }
    if (object->range_count)
        qsort(object->ranges, object->range_count, sizeof *object->ranges, compare_ranges);
}

/* The unit that holds *pc*; *bias* as libdw wants it subtracted. */
static Dwarf_Die *find_unit(struct object *object, Dwarf_Addr pc, Dwarf_Addr *bias, Dwarf_Die *room)
{
    Dwarf *dwarf = dwfl_module_getdwarf(object->module, bias);
    if (!dwarf)
        return NULL;
    Dwarf_Die *unit = dwfl_module_addrdie(object->module, pc, bias);
    if (unit)
        return unit;
    if (!object->ranges_built)
        build_ranges(object);
    size_t low = 0, high = object->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (object->ranges[middle].low <= pc - *bias)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || pc - *bias >= object->ranges[low - 1].high)
        return NULL;
    return dwarf_offdie(dwarf, object->ranges[low - 1].unit, room);
}

static const char *die_name(struct vs_symbols *s, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    const char *readable = name ? readable_name(s, name) : NULL;
    if (readable && readable != name)
        return readable;
    /* not mangled, or nothing here that could undo it: the plain name says more */
    const char *plain = dwarf_attr_integrate(die, DW_AT_name, &attribute)
                            ? dwarf_formstring(&attribute)
                            : NULL;
    return plain ? plain : readable;
}

static unsigned die_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
        value > UINT_MAX)
        return 0;
    return (unsigned)value;
}

/* Where an inlined function was called. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, const char **file, unsigned *line)
{
    Dwarf_Files *files;
    size_t count;
    unsigned index = die_number(inlined, DW_AT_call_file);
    *file = NULL;
    *line = die_number(inlined, DW_AT_call_line);
    if (!dwarf_getsrcfiles(unit, &files, &count) && index < count)
        *file = dwarf_filesrc(files, index, NULL, NULL);
}

/* The functions around *pc*, innermost first; 0 when DWARF does not say. */
static size_t by_dwarf(struct vs_symbols *s, struct object *object, Dwarf_Addr pc,
                       struct vs_symbol *out)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die room, *unit = find_unit(object, pc, &bias, &room);
    if (!unit)
        return 0;
    const char *file = NULL;
    int line_number = 0;
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc - bias);
    if (line) {
        file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineno(line, &line_number);
    }
    unsigned at = line_number > 0 ? (unsigned)line_number : 0;
    out[0] = (struct vs_symbol){.file = file, .line = at}; /* even without a function */

    Dwarf_Die *found = NULL, *scopes = NULL;
    int n = dwarf_getscopes(unit, pc - bias, &found);
    if (n <= 0)
        return 0;
    /* the chain of places, not of abstract definitions */
    n = dwarf_getscopes_die(&found[0], &scopes);
    size_t count = 0;
    for (int i = 0; i < n && count < INLINES_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        const char *name = die_name(s, &scopes[i]);
        out[count++] = (struct vs_symbol){.function = name ? name : "?",
                                          .file = file,
                                          .line = at,
                                          .module = object->name,
                                          .inlined = tag == DW_TAG_inlined_subroutine,
                                          .known = name != NULL};
        if (tag == DW_TAG_subprogram)
            break;
        call_site(unit, &scopes[i], &file, &at);
    }
    free(scopes);
    free(found);
    return count;
}

/* --- answers --- */

static void by_offset(struct vs_symbols *s, const struct object *object, uint64_t pc,
                      struct vs_symbol *out)
{
    char text[PATH_MAX + 32];
    const char *file = out->file;
    unsigned line = out->line;
    if (object)
        snprintf(text, sizeof text, "%s+0x%" PRIx64, object->name, pc - object->base);
    else
        snprintf(text, sizeof text, "0x%" PRIx64, pc);
    *out = (struct vs_symbol){.function = keep(s, text),
                              .file = file,
                              .line = line,
                              .module = object ? object->name : "?"};
}

static size_t resolve(struct vs_symbols *s, const struct vs_frame *frame, struct vs_symbol *out)
{
    struct object *object =
        frame->module == VS_NO_MODULE ? NULL : get_object(s, frame->module);
    memset(out, 0, sizeof *out);
    if (object && object->module) {
        Dwarf_Addr pc = frame->pc - object->base;
        size_t count = by_dwarf(s, object, pc, out);
        if (count)
            return count;
        const char *name = dwfl_module_addrname(object->module, pc);
        if (name) {
            out->function = readable_name(s, name);
            out->module = object->name;
            out->known = 1;
            return 1;
        }
    }
    by_offset(s, object, frame->pc, out);
    return 1;
}

static uint64_t key_of(const struct vs_frame *frame)
{
    uint64_t key = frame->pc ^ ((uint64_t)frame->module << 48);
    return key ? key : 1;
}

/* The kept answer; made now if need be. NULL when there is no memory for it. */
static const struct answer *get_answer(struct vs_symbols *s, const struct vs_frame *frame)
{
    const uint64_t *kept = vs_map_get(&s->answers, key_of(frame));
    if (kept) {
        const struct answer *answer = (const struct answer *)(uintptr_t)*kept;
        if (answer->pc == frame->pc && answer->module == frame->module)
            return answer;
    }
    struct vs_symbol symbols[INLINES_MAX];
    size_t count = resolve(s, frame, symbols);
    struct answer *answer = vs_arena_alloc(&s->arena, sizeof *answer + count * sizeof symbols[0]);
    if (!answer)
        return NULL;
    *answer = (struct answer){frame->pc, frame->module, (uint32_t)count,
                              (struct vs_symbol *)(answer + 1)};
    memcpy(answer->symbols, symbols, count * sizeof symbols[0]);
    if (vs_map_put(&s->answers, key_of(frame), (uint64_t)(uintptr_t)answer))
        return answer; /* not kept for next time; right all the same */
    return answer;
}

enum vs_err vs_symbols_open(const struct vs_reader *reader, struct vs_symbols **out)
{
    struct vs_symbols *s = calloc(1, sizeof *s);
    if (!s)
        return VS_ERR_NOMEM;
    s->reader = reader;
    *out = s;
    return VS_OK;
}

/* A Python frame says itself all that there is to know. false when it is another. */
static bool by_itself(const struct vs_symbols *s, const struct vs_frame *frame,
                      struct vs_symbol *out)
{
    const struct vs_module *module = vs_reader_module(s->reader, frame->module);
    if (!module || !*module->function)
        return false;
    *out = (struct vs_symbol){.function = module->function,
                              .file = *module->path ? module->path : NULL,
                              .line = (unsigned)(frame->pc - module->base),
                              .module = base_name(module->path),
                              .known = 1};
    return true;
}

size_t vs_symbols_frame(struct vs_symbols *s, const struct vs_frame *frame, struct vs_symbol *out,
                        size_t max)
{
    if (max && by_itself(s, frame, out))
        return 1;
    const struct answer *answer = max ? get_answer(s, frame) : NULL;
    if (!answer) {
        if (max)
            out[0] = (struct vs_symbol){.function = "?", .module = "?"};
        return max ? 1 : 0;
    }
    size_t count = answer->count < max ? answer->count : max;
    memcpy(out, answer->symbols, count * sizeof *out);
    return count;
}

size_t vs_symbols_missing(const struct vs_symbols *s, const char **first)
{
    if (first)
        *first = s->first_missing;
    return s->missing;
}

void vs_symbols_close(struct vs_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->object_count; i++) {
        if (s->objects[i].dwfl)
            dwfl_end(s->objects[i].dwfl);
        free(s->objects[i].ranges);
    }
    free(s->objects);
    vs_map_free(&s->answers);
    vs_arena_free_all(&s->arena);
    free(s);
}
