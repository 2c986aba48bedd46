/* SPDX-License-Identifier: Apache-2.0
 *
 * The image that NVRTC and nvJitLink give for a program: machine code's header alone, since the
 * simulated GPU runs no device code. */
#include <elf.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"

#define EM_CUDA 190

size_t vs_library_cubin_bytes(void) { return sizeof(Elf64_Ehdr); }

void vs_library_cubin(int arch, void *to)
{
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                     EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_CUDA,
                         .e_version = EV_CURRENT,
                         .e_flags = (Elf64_Word)(arch | arch << 16), /* code, PTX */
                         .e_ehsize = sizeof header};
    memcpy(to, &header, sizeof header);
}
