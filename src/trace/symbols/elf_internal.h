/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of elf_object.h: elf_object.c (finding and opening files), elf_dwarf.c
 * (functions, lines and inlined calls), elf_plt.c (stubs). */
#ifndef VS_ELF_INTERNAL_H
#define VS_ELF_INTERNAL_H

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "base/vs_arena.h"
#include "trace/symbols/elf_object.h"

/* A range of code and its compilation unit. */
struct vs_unit_range {
    Dwarf_Addr low, high;
    Dwarf_Off unit;
};

struct vs_plt_stub {
    uint64_t low, high;
    const char *name; /* "cudaMalloc@plt" */
};

struct vs_elf_object {
    const struct vs_debug_query *query;
    struct vs_elf_facts *facts;
    Dwfl *dwfl; /* NULL: no usable file */
    Dwfl_Module *module;
    Dwarf *alternate; /* shared debug information that we opened; owned */
    int alternate_fd;
    bool ranges_built, stubs_built;
    struct vs_unit_range *ranges; /* sorted; owned */
    size_t range_count;
    struct vs_plt_stub *stubs; /* owned */
    size_t stub_count;
    struct vs_arena text;
};

/* vs_elf_readable: *name* in readable form: demangled, without a symbol version. */
const char *vs_elf_readable(struct vs_elf_object *object, const char *name);
/* vs_elf_dwarf_names: like vs_elf_object_names, from DWARF only. When it returns 0, out[0] may have
 * a file and line. */
size_t vs_elf_dwarf_names(struct vs_elf_object *object, Dwarf_Addr pc, struct vs_symbol *out);
/* vs_elf_plt_name: "function@plt" when *pc* is in a stub of the linker; otherwise NULL. */
const char *vs_elf_plt_name(struct vs_elf_object *object, uint64_t pc);
/* vs_elf_is_signal_frame: whether *pc* is one byte before the code that a signal handler returns
 * to. That code belongs to no function's call, because nothing calls it. */
bool vs_elf_is_signal_frame(struct vs_elf_object *object, uint64_t pc);

#endif
