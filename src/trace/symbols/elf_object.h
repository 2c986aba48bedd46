/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from one module's files, by libdw and libelf. These libraries read the files unchecked and
 * may crash: only symbol_worker.c, in a process of its own, calls this. Private to src/trace and
 * its tests. */
#ifndef VS_ELF_OBJECT_H
#define VS_ELF_OBJECT_H

#include "trace/symbols/debug_files.h"
#include "trace/symbols/symbol_set.h"

struct vs_elf_object;

struct vs_elf_facts {
    int found;   /* a file of this build was found */
    int changed; /* the file at the module's path is of another build */
    enum vs_symbol_level level;
    char link[VS_DEBUG_LINK_MAX]; /* .gnu_debuglink's name, "" without */
};

/* vs_elf_object_open: *query* must stay valid until close; its link is not used. Always creates an
 * object, with no names in it where no file was found. NULL: out of memory. */
struct vs_elf_object *vs_elf_object_open(const struct vs_debug_query *query,
                                         struct vs_elf_facts *facts);

/* vs_elf_object_names: the functions at *address*, innermost first, at most VS_SYMBOL_INLINES_MAX
 * entries; 0 when there are none. An entry that is not `known` has a file and line only. Strings
 * live until close. */
size_t vs_elf_object_names(struct vs_elf_object *object, uint64_t address, struct vs_symbol *out);

void vs_elf_object_close(struct vs_elf_object *object);

#endif
