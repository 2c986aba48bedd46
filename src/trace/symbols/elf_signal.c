/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame between a signal handler and the interrupted code. Its address is the handler's return
 * address minus one: found by name in a libc with symbols, by its two instructions in one without
 * (unwinders rely on them too, so they never change). */
#include <string.h>

#include "trace/symbols/elf_internal.h"

/* mov $15, %rax (rt_sigreturn); syscall */
static const unsigned char restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* The code bytes at *address*; NULL where the file does not have them. */
static const void *code_at(Elf *elf, uint64_t address, size_t bytes)
{
    size_t count;
    GElf_Phdr p;
    if (elf_getphdrnum(elf, &count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
            address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz ||
            bytes > p.p_filesz - (address - p.p_vaddr))
            continue;
        Elf_Data *data = elf_getdata_rawchunk(
            elf, (int64_t)(p.p_offset + (address - p.p_vaddr)), bytes, ELF_T_BYTE);
        return data && data->d_size == bytes ? data->d_buf : NULL;
    }
    return NULL;
}

bool vs_elf_is_signal_frame(struct vs_elf_object *object, uint64_t pc)
{
    GElf_Addr bias;
    GElf_Off offset = 1;
    GElf_Sym symbol;
    GElf_Ehdr header;
    const char *name = dwfl_module_addrinfo(object->module, pc + 1, &offset, &symbol, NULL, NULL,
                                            NULL);
    if (name && offset == 0 && strcmp(name, "__restore_rt") == 0)
        return true;
    Elf *elf = dwfl_module_getelf(object->module, &bias);
    if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
        return false;
    const void *code = code_at(elf, pc + 1 - bias, sizeof restorer);
    return code && memcmp(code, restorer, sizeof restorer) == 0;
}
