/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for the stubs (PLT) that calls to other objects go through: they have no symbols. Each stub
 * jumps through a slot of the offset table, and the relocation of that slot names the function.
 * x86-64: `jmp *slot(%rip)`; aarch64: `adrp x16` and `ldr x17, [x16, n]`. */
#define _GNU_SOURCE
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_map.h"
#include "trace/symbols/elf_internal.h"

#define STUB_BYTES 16u
#define SECTION_BYTES_MAX (4u << 20)
#define SLOTS_MAX 262144u

/* slot address -> 1 + index of its symbol */
static void read_slots(Elf *elf, struct vs_map *slots, GElf_Shdr *symbols, Elf_Scn **symbol_section)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize)
            continue;
        Elf_Scn *linked = elf_getscn(elf, header.sh_link);
        GElf_Shdr linked_header;
        if (!linked || !gelf_getshdr(linked, &linked_header) ||
            linked_header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        uint64_t count = header.sh_size / header.sh_entsize;
        GElf_Rela rela;
        for (int i = 0; data && (uint64_t)i < count && slots->count < SLOTS_MAX; i++)
            if (gelf_getrela(data, i, &rela) && GELF_R_SYM(rela.r_info) && rela.r_offset)
                vs_xmap_put(slots, rela.r_offset, GELF_R_SYM(rela.r_info));
        *symbols = linked_header;
        *symbol_section = linked;
    }
}

static uint64_t x86_slot(const unsigned char *code, uint64_t address)
{
    for (unsigned i = 0; i + 6 <= STUB_BYTES; i++) {
        int32_t distance;
        if (code[i] != 0xff || code[i + 1] != 0x25)
            continue;
        memcpy(&distance, code + i + 2, sizeof distance);
        return address + i + 6 + (uint64_t)(int64_t)distance;
    }
    return 0;
}

static uint64_t arm_slot(const unsigned char *code, uint64_t address)
{
    uint64_t page = 0;
    for (unsigned i = 0; i + 4 <= STUB_BYTES; i += 4) {
        uint32_t word;
        memcpy(&word, code + i, sizeof word);
        if ((word & 0x9f00001f) == 0x90000010) {
            uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
            pages = (pages ^ 0x100000) - 0x100000; /* 21 bits with sign */
            page = ((address + i) & ~UINT64_C(0xfff)) + (pages << 12);
        } else if (page && (word & 0xffc003ff) == 0xf9400211) {
            return page + (word >> 10 & 0xfff) * 8;
        }
    }
    return 0;
}

static const char *symbol_name(Elf *elf, const GElf_Shdr *header, Elf_Scn *section, uint64_t index)
{
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || index > INT32_MAX || !gelf_getsym(data, (int)index, &symbol))
        return NULL;
    return elf_strptr(elf, header->sh_link, symbol.st_name);
}

/* Reads the stubs of one section. Those of .plt.got may be half as long as others: the jump in the
 * second half then belongs to the next stub. */
static void read_stubs(struct vs_elf_object *object, Elf *elf, unsigned machine, Elf_Scn *section,
                       const GElf_Shdr *header, const struct vs_map *slots,
                       const GElf_Shdr *symbols, Elf_Scn *symbol_section, size_t *capacity)
{
    Elf_Data *data = elf_getdata(section, NULL);
    uint64_t step = header->sh_entsize == 8 ? 8 : STUB_BYTES;
    if (!data || !data->d_buf || data->d_size > SECTION_BYTES_MAX)
        return;
    for (uint64_t at = 0; at + step <= data->d_size; at += step) {
        unsigned char code[STUB_BYTES] = {0};
        memcpy(code, (const char *)data->d_buf + at, step);
        uint64_t address = header->sh_addr + at;
        uint64_t slot = machine == EM_X86_64 ? x86_slot(code, address) : arm_slot(code, address);
        const uint64_t *index = slot ? vs_map_get(slots, slot) : NULL;
        const char *name = index ? symbol_name(elf, symbols, symbol_section, *index) : NULL;
        if (!name || !*name)
            continue;
        struct vs_plt_stub *stub =
            vs_vec_push(&object->stubs, &object->stub_count, capacity, sizeof *stub);
        *stub = (struct vs_plt_stub){
            address, address + step,
            vs_xarena_printf(&object->text, "%.4091s@plt", vs_elf_readable(object, name))};
    }
}

static void build_stubs(struct vs_elf_object *object)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    GElf_Shdr header, symbols = {0}; /* valid once its section was found */
    size_t names, capacity = 0;
    struct vs_map slots = {0};
    Elf_Scn *section = NULL, *symbol_section = NULL;
    Elf *elf = dwfl_module_getelf(object->module, &bias);
    object->stubs_built = true;
    if (!elf || !gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) ||
        (file.e_machine != EM_X86_64 && file.e_machine != EM_AARCH64))
        return;
    read_slots(elf, &slots, &symbols, &symbol_section);
    while (symbol_section && (section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header)
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name && strncmp(name, ".plt", 4) == 0 && header.sh_type == SHT_PROGBITS)
            read_stubs(object, elf, file.e_machine, section, &header, &slots, &symbols,
                       symbol_section, &capacity);
    }
    vs_map_free(&slots);
}

const char *vs_elf_plt_name(struct vs_elf_object *object, uint64_t pc)
{
    if (!object->stubs_built)
        build_stubs(object);
    for (size_t i = 0; i < object->stub_count; i++)
        if (pc >= object->stubs[i].low && pc < object->stubs[i].high)
            return object->stubs[i].name;
    return NULL;
}
