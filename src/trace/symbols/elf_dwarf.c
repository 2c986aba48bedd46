/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions, lines and inlined calls at an address, from DWARF: also where the compiler wrote no
 * table of ranges, and where a unit's functions are in a separate file (split DWARF). "." and ".."
 * are removed from paths. */
#define _GNU_SOURCE
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/symbols/elf_internal.h"

#include "base/reading/vs_vec.h"

/* --- units --- */

/* The ranges of all units: for compilers that write no .debug_aranges. */
static void build_ranges(struct vs_elf_object *object)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;
    size_t capacity = 0;
    object->ranges_built = true;
    while ((unit = dwfl_module_nextcu(object->module, unit, &bias))) {
        Dwarf_Addr base, low, high;
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
            struct vs_unit_range *range =
                vs_vec_push(&object->ranges, &object->range_count, &capacity, sizeof *range);
            *range = (struct vs_unit_range){low, high, dwarf_dieoffset(unit)};
        }
    }
    VS_SORT(object->ranges, object->range_count, VS_UP(low));
}

/* Finds the unit that contains *pc*; *bias* is the value that libdw expects to be subtracted. */
static Dwarf_Die *find_unit(struct vs_elf_object *object, Dwarf_Addr pc, Dwarf_Addr *bias,
                            Dwarf_Die *room)
{
    Dwarf *dwarf = dwfl_module_getdwarf(object->module, bias);
    if (!dwarf)
        return NULL;
    Dwarf_Die *unit = dwfl_module_addrdie(object->module, pc, bias);
    if (unit)
        return unit;
    if (!object->ranges_built)
        build_ranges(object);
    size_t after = VS_VEC_UP_TO(object->ranges, object->range_count, low, pc - *bias);
    if (!after || pc - *bias >= object->ranges[after - 1].high)
        return NULL;
    return dwarf_offdie(dwarf, object->ranges[after - 1].unit, room);
}

/* The unit with the functions: *unit* itself, or the full unit of a skeleton. */
static Dwarf_Die *whole_unit(Dwarf_Die *unit, Dwarf_Die *room)
{
    uint8_t type;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, room, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && room->addr)
        return room;
    return unit;
}

/* --- attributes --- */

/* *path*, relative to the directory of *unit*, without "//", "/./" and "dir/../". Unchanged where
 * the directory is unknown. */
static const char *clean_path(struct vs_elf_object *object, Dwarf_Die *unit, const char *path)
{
    char joined[PATH_MAX];
    Dwarf_Attribute attribute;
    const char *dir = path && *path != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute)
                          ? dwarf_formstring(&attribute)
                          : NULL;
    if (dir && *dir == '/' &&
        snprintf(joined, sizeof joined, "%s/%s", dir, path) < (int)sizeof joined)
        path = vs_xarena_text(&object->text, joined);
    if (!path || (!strstr(path, "//") && !strstr(path, "./")))
        return path;
    size_t room = strlen(path) + 1, n = 0;
    char *out = vs_xarena(&object->text, room);
    if (*path == '/')
        out[n++] = '/';
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, "/");
        bool up = length == 2 && p[0] == '.' && p[1] == '.';
        size_t last = n ? n - 1 : 0; /* start of the last part written */
        while (last > 0 && out[last - 1] != '/')
            last--;
        bool can_go_up = n > 1 && out[n - 1] == '/' && strncmp(out + last, "../", 3) != 0;
        if (up && can_go_up) {
            n = last;
        } else if (!(up && n == 1 && *path == '/') && length &&
                   !(length == 1 && p[0] == '.')) {
            memcpy(out + n, p, length);
            n += length;
            if (p[length])
                out[n++] = '/';
        }
        p += length + strspn(p + length, "/");
    }
    out[n] = '\0';
    return out;
}

#define NAME_BYTES_MAX 2048u

/* The entry that declares *die*. */
static Dwarf_Die *declaration(Dwarf_Die *die, Dwarf_Die *room)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Attribute attribute;
    for (unsigned i = 0; i < 4; i++) { /* at most an origin and its specification */
        Dwarf_Die next;
        if (!dwarf_attr(die, links[i % 2], &attribute) || !dwarf_formref_die(&attribute, &next))
            continue;
        *room = next;
        die = room;
    }
    return die;
}

/* The name to show for a scope called *name*; NULL for none. Functions of a class without a name
 * belong to a lambda. */
static const char *scope_name(Dwarf_Die *scope, const char *name)
{
    int tag = dwarf_tag(scope);
    bool is_class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
    if (tag != DW_TAG_namespace && !is_class)
        return NULL;
    const char *own = dwarf_diename(scope);
    if (own)
        return own;
    bool lambda = is_class && (!strcmp(name, "operator()") || !strcmp(name, "_FUN"));
    return tag == DW_TAG_namespace ? "(anonymous namespace)" : lambda ? "{lambda}" : NULL;
}

/* The full name of a function that contains a class. */
static const char *function_name(struct vs_elf_object *object, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *mangled = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute)
                              ? dwarf_formstring(&attribute)
                              : NULL;
    return mangled ? vs_elf_readable(object, mangled) : dwarf_diename(function);
}

/* *name* with the namespaces, classes and the function that contain it: file-local functions have
 * no mangled name that includes them. */
static const char *qualified(struct vs_elf_object *object, Dwarf_Die *die, const char *name)
{
    char text[NAME_BYTES_MAX];
    Dwarf_Die room, *scopes = NULL;
    size_t used = sizeof text - 1, length = strlen(name);
    int n = dwarf_getscopes_die(declaration(die, &room), &scopes);
    if (length > used)
        n = 0;
    text[used] = '\0';
    if (n > 0)
        memcpy(text + (used -= length), name, length);
    bool longer = false, whole = false;
    for (int i = 1; i < n && !whole; i++) {
        /* a function is included around a class; around another function it contains a nested
         * one */
        whole = longer && dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
        const char *scope =
            whole ? function_name(object, &scopes[i]) : scope_name(&scopes[i], name);
        length = scope ? strlen(scope) : 0;
        if (!length || length + 2 > used)
            continue;
        memcpy(text + used - 2, "::", 2);
        memcpy(text + used - 2 - length, scope, length);
        used -= length + 2;
        longer = true;
    }
    free(scopes);
    return longer ? vs_xarena_text(&object->text, text + used) : name;
}

static const char *die_name(struct vs_elf_object *object, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    const char *readable = name ? vs_elf_readable(object, name) : NULL;
    if (readable && readable != name)
        return readable;
    /* not mangled, or no demangler here: the plain name is clearer */
    const char *plain = dwarf_attr_integrate(die, DW_AT_name, &attribute)
                            ? dwarf_formstring(&attribute)
                            : NULL;
    return plain ? qualified(object, die, plain) : readable;
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

/* The call site of an inlined function. */
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

size_t vs_elf_dwarf_names(struct vs_elf_object *object, Dwarf_Addr pc, struct vs_symbol *out)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die room, whole, *skeleton = find_unit(object, pc, &bias, &room);
    if (!skeleton)
        return 0;
    const char *file = NULL;
    int line_number = 0;
    Dwarf_Line *line = dwarf_getsrc_die(skeleton, pc - bias);
    if (line) {
        file = dwarf_linesrc(line, NULL, NULL);
        dwarf_lineno(line, &line_number);
    }
    unsigned at = line_number > 0 ? (unsigned)line_number : 0;
    out[0] = (struct vs_symbol){.file = clean_path(object, skeleton, file), .line = at};

    Dwarf_Die *unit = whole_unit(skeleton, &whole), *found = NULL, *scopes = NULL;
    int n = dwarf_getscopes(unit, pc - bias, &found);
    if (n <= 0)
        return 0;
    /* the scopes of the inlined place, not of the abstract definition */
    n = dwarf_getscopes_die(&found[0], &scopes);
    size_t count = 0;
    for (int i = 0; i < n && count < VS_SYMBOL_INLINES_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        const char *name = die_name(object, &scopes[i]);
        out[count++] = (struct vs_symbol){.function = name ? name : "",
                                          .file = clean_path(object, skeleton, file),
                                          .line = at,
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
