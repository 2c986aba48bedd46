/* SPDX-License-Identifier: Apache-2.0
 *
 * The image that NVRTC and nvJitLink give for a program: machine code's header alone, since the
 * simulated GPU runs no device code, and behind it the PTX with the variables (vs_sim_image_text). */
#include <elf.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"

#define EM_CUDA 190

size_t vs_library_cubin_bytes(const char *ptx)
{
    return sizeof(Elf64_Ehdr) + (ptx ? strlen(ptx) + 1 : 0);
}

void vs_library_cubin(int arch, const char *ptx, void *to)
{
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                     EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_CUDA,
                         .e_version = EV_CURRENT,
                         .e_flags = (Elf64_Word)(arch | arch << 16), /* code, PTX */
                         .e_phoff = ptx ? sizeof header : 0,
                         .e_ehsize = sizeof header};
    memcpy(to, &header, sizeof header);
    if (ptx)
        strcpy((char *)to + sizeof header, ptx);
}
