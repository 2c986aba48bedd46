/* SPDX-License-Identifier: Apache-2.0
 *
 * The architecture of a module's image: which of the images in a fat binary the device runs, as the
 * driver chooses (CUDA programming guide, "Application Compatibility"): the newest machine code of
 * the device's major version that is not newer than the device, else the newest PTX that is not
 * newer. Code for one architecture only (sm_90a) runs on that one. Only headers are read; the code may
 * be compressed. Layouts are those of binaries that nvcc and ptxas of CUDA 12 and 13 write. */
#define _GNU_SOURCE
#include "simulator/driver/vs_sim_driver.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAT_WRAPPER_MAGIC 0x466243b1u /* what the program's start-up code registers */
#define FAT_MAGIC 0xba55ed50u
#define MAGIC_ELF 0x464c457fu
#define KIND_PTX 1
#define KIND_ELF 2
#define ENTRY_BYTES 64 /* at least; the part that is read */
#define ENTRY_ONE_ARCH (UINT64_C(1) << 20)
#define MACHINE_CUDA 190
#define OS_PAGE_MIN_BYTES 4096 /* an address below is none: a wrapper written by hand */

struct fat_wrapper {
    uint32_t magic, version;
    const char *data;
    void *more;
};

struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};

struct fat_entry { /* its first ENTRY_BYTES */
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* of the code that follows the header */
    uint32_t packed_bytes, reserved;
    uint16_t code_minor, code_major;
    uint32_t arch; /* 86: sm_86 */
    uint32_t bits, reserved2;
    uint64_t flags;
    uint64_t reserved3, unpacked_bytes;
};
_Static_assert(sizeof(struct fat_entry) == ENTRY_BYTES, "layout of a fat binary");

static unsigned device_arch(void)
{
    return (unsigned)(vs_sim_spec.preset->major * 10 + vs_sim_spec.preset->minor);
}

/* Machine code runs on devices of the same major version that are not older. */
static bool machine_code_runs(unsigned arch)
{
    return arch / 10 == device_arch() / 10 && arch <= device_arch();
}

static void consider(const struct fat_entry *entry, struct vs_sim_image_arch *best)
{
    if ((entry->flags & ENTRY_ONE_ARCH) && entry->arch != device_arch())
        return;
    if (entry->kind == KIND_ELF && machine_code_runs(entry->arch) && entry->arch > best->binary) {
        best->binary = entry->arch;
        best->ptx = entry->arch;
    } else if (entry->kind == KIND_PTX && !best->binary && entry->arch <= device_arch() &&
               entry->arch > best->ptx) {
        best->ptx = entry->arch;
    }
}

/* Where nothing fits the device, *best* stays 0. Returns false if there is no code at all, as in
 * programs compiled without nvcc, or code of another kind (LTO-IR), which the driver may be able to
 * compile. */
static bool examine_fat(const char *data, struct vs_sim_image_arch *best)
{
    struct fat_header header;
    bool known = true;
    memcpy(&header, data, sizeof header);
    uint64_t at = 0;
    while (at + ENTRY_BYTES <= header.bytes) {
        struct fat_entry entry;
        memcpy(&entry, data + header.header_bytes + at, sizeof entry);
        if (entry.header_bytes < ENTRY_BYTES || entry.bytes > header.bytes)
            return false; /* not the layout that this file knows */
        known = known && (entry.kind == KIND_PTX || entry.kind == KIND_ELF);
        consider(&entry, best);
        at += entry.header_bytes + entry.bytes;
    }
    return (known && at) || best->ptx;
}

/* The architecture of machine code without a fat binary around it: byte 8 of the ELF header is the
 * version of its layout, which moved the number. */
static bool examine_elf(const char *image, struct vs_sim_image_arch *best)
{
    Elf64_Ehdr header;
    if (image[EI_CLASS] != ELFCLASS64) /* the first bytes alone, of something else */
        return false;
    memcpy(&header, image, sizeof header);
    if (header.e_machine != MACHINE_CUDA)
        return false;
    bool old = header.e_ident[EI_ABIVERSION] < 8;
    unsigned arch = (old ? header.e_flags : header.e_flags >> 8) & 0xff;
    if (machine_code_runs(arch))
        *best = (struct vs_sim_image_arch){arch, old ? header.e_flags >> 16 & 0xff : arch};
    return true;
}

static bool has_magic(const void *image, uint32_t magic)
{
    unsigned char bytes[4] = {(unsigned char)magic, (unsigned char)(magic >> 8),
                              (unsigned char)(magic >> 16), (unsigned char)(magic >> 24)};
    const unsigned char *p = image;
    for (int i = 0; i < 4; i++) /* the image may be shorter than a magic number */
        if (p[i] != bytes[i])
            return false;
    return true;
}

CUresult vs_sim_image_examine(const void *image, struct vs_sim_image_arch *arch)
{
    struct vs_sim_image_arch best = {0, 0};
    bool known = false;
    if (has_magic(image, FAT_WRAPPER_MAGIC)) {
        struct fat_wrapper wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        image = (uintptr_t)wrapper.data < OS_PAGE_MIN_BYTES ? NULL : wrapper.data;
    }
    if (image && has_magic(image, FAT_MAGIC))
        known = examine_fat(image, &best);
    else if (image && has_magic(image, MAGIC_ELF))
        known = examine_elf(image, &best);
    else if (image && !vs_sim_ptx_target(image, device_arch(), &best.ptx))
        return CUDA_ERROR_INVALID_PTX;
    if (known && !best.ptx)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    arch->ptx = best.ptx ? best.ptx : device_arch();
    arch->binary = best.binary ? best.binary : device_arch(); /* PTX is compiled for the device */
    return CUDA_SUCCESS;
}

/* Its header has the size where other machine code has 0 (vs_library_load). */
uint64_t vs_sim_image_taken(const void *image)
{
    Elf64_Ehdr header;
    if (!has_magic(image, MAGIC_ELF) || ((const char *)image)[EI_CLASS] != ELFCLASS64)
        return 0;
    memcpy(&header, image, sizeof header);
    return header.e_machine == MACHINE_CUDA && !header.e_shoff ? header.e_entry : 0;
}

const char *vs_sim_image_text(const void *image)
{
    Elf64_Ehdr header;
    if (!has_magic(image, MAGIC_ELF) || ((const char *)image)[EI_CLASS] != ELFCLASS64)
        return vs_sim_ptx_text(image);
    memcpy(&header, image, sizeof header);
    bool has_text = header.e_machine == MACHINE_CUDA && !header.e_shoff && header.e_phoff == sizeof header;
    return has_text ? (const char *)image + sizeof header : NULL;
}

char *vs_sim_image_read(const char *path)
{
    FILE *file = fopen(path, "rbe");
    char *image = NULL;
    long bytes = -1;
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (bytes = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET))
        image = calloc(1, (size_t)bytes + ENTRY_BYTES); /* zeroes end a text and short headers */
    if (image && fread(image, 1, (size_t)bytes, file) != (size_t)bytes) {
        free(image);
        image = NULL;
    }
    fclose(file);
    return image;
}
