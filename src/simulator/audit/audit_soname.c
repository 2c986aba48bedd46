/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a soname from an ELF file that is mapped meanwhile. The file may be anything, also
 * one that is cut off: every offset is checked against the file's size before it is followed. */
#include "simulator/audit/audit_soname.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct vs_audit_file {
    const unsigned char *bytes;
    uint64_t size;
};

/* *count* items of *size* bytes at *offset*; NULL where the file has no such part. */
static const void *part(const struct vs_audit_file *file, uint64_t offset, uint64_t count,
                        uint64_t size)
{
    bool inside = offset <= file->size && offset % 8 == 0 && count <= (file->size - offset) / size;
    return inside ? file->bytes + offset : NULL;
}

/* The file's offset of a virtual address; UINT64_MAX for one that no segment loads. */
static uint64_t offset_of(const Elf64_Phdr *segments, unsigned count, uint64_t address)
{
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return address - s->p_vaddr + s->p_offset;
    }
    return UINT64_MAX;
}

static bool copy_text(const struct vs_audit_file *file, uint64_t offset, char *out, size_t max)
{
    if (offset >= file->size)
        return false;
    const char *text = (const char *)file->bytes + offset;
    size_t length = strnlen(text, file->size - offset);
    if (length == 0 || length >= max || length == file->size - offset)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

static bool find_soname(const struct vs_audit_file *file, char *out, size_t max)
{
    const Elf64_Ehdr *header = part(file, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr))
        return false;
    unsigned count = header->e_phnum;
    const Elf64_Phdr *segments = part(file, header->e_phoff, count, sizeof *segments);
    for (unsigned i = 0; segments && i < count; i++) {
        if (segments[i].p_type != PT_DYNAMIC)
            continue;
        uint64_t entries = segments[i].p_filesz / sizeof(Elf64_Dyn);
        const Elf64_Dyn *dynamic = part(file, segments[i].p_offset, entries, sizeof *dynamic);
        uint64_t strings = UINT64_MAX, name = UINT64_MAX;
        for (uint64_t k = 0; dynamic && k < entries && dynamic[k].d_tag != DT_NULL; k++) {
            if (dynamic[k].d_tag == DT_STRTAB)
                strings = offset_of(segments, count, dynamic[k].d_un.d_ptr);
            if (dynamic[k].d_tag == DT_SONAME)
                name = dynamic[k].d_un.d_val;
        }
        return strings < file->size && name < file->size && copy_text(file, strings + name, out, max);
    }
    return false;
}

bool vs_audit_soname(const char *path, char *soname, size_t max)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO of that name must not block */
    if (fd < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    struct vs_audit_file file = {bytes, (uint64_t)st.st_size};
    bool found = find_soname(&file, soname, max);
    munmap(bytes, (size_t)st.st_size);
    return found;
}
