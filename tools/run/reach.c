/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that a preloaded library cannot reach: those without a dynamic loader, those that run
 * with more rights than the caller's (set-user-ID, capabilities), those of another architecture or
 * word size, those of another C library; and scripts with such an interpreter. */
#include "tools/run/reach.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_text.h"

#define SCRIPTS_MAX 5 /* as many interpreters in a chain as the kernel follows */
#define LINE_MAX_BYTES 256

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

void vs_reach_find(const char *name, char *out, size_t max)
{
    snprintf(out, max, "%s", name);
    const char *path = vs_environment("PATH");
    if (strchr(name, '/') || !path)
        return;
    while (*path) {
        size_t n = strcspn(path, ":");
        char candidate[2 * PATH_MAX];
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, path, name);
        if (n && access(candidate, X_OK) == 0) {
            snprintf(out, max, "%s", candidate);
            return;
        }
        path += n + (path[n] == ':');
    }
}

/* Whether the kernel gives the program rights that the caller lacks. Not on a file system mounted
 * nosuid, and not the caller's own user or group. */
static const char *raised_rights(const char *path)
{
    struct stat st;
    struct statvfs file_system;
    if (stat(path, &st) || (statvfs(path, &file_system) == 0 && (file_system.f_flag & ST_NOSUID)))
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return "is set-user-ID";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
        return "is set-group-ID";
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has capabilities of its own";
    return NULL;
}

/* Reads the path of the program's loader; false when it has none. */
static bool read_loader(FILE *f, const Elf64_Ehdr *header, char *loader, size_t max)
{
    Elf64_Phdr segment;
    for (int i = 0; i < header->e_phnum; i++) {
        if (fseek(f, (long)(header->e_phoff + (size_t)i * sizeof segment), SEEK_SET) ||
            fread(&segment, sizeof segment, 1, f) != 1)
            break;
        if (segment.p_type != PT_INTERP)
            continue;
        size_t n = segment.p_filesz < max ? (size_t)segment.p_filesz : max - 1;
        n = fseek(f, (long)segment.p_offset, SEEK_SET) ? 0 : fread(loader, 1, n, f);
        loader[n] = 0;
        return true;
    }
    return false;
}

static enum vs_reach of_binary(const char *path, FILE *f, char *why, size_t max)
{
    Elf64_Ehdr header; /* its beginning is the same for 32 bits */
    char loader[PATH_MAX] = "";
    if (fread(&header, sizeof header, 1, f) != 1 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return VS_REACH_YES;
    const char *rights = raised_rights(path);
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        snprintf(why, max, "%s is a 32-bit program: the 64-bit vramscope library cannot be preloaded "
                           "into it, so nothing will be recorded", path);
    else if (header.e_machine != OWN_MACHINE || header.e_phentsize != sizeof(Elf64_Phdr))
        snprintf(why, max, "%s is for another CPU architecture: nothing can be preloaded into it, "
                           "so nothing will be recorded", path);
    else if (rights)
        snprintf(why, max, "%s %s: the loader ignores LD_PRELOAD there, so nothing will be "
                           "recorded; --via=injection may work", path, rights);
    else if (!read_loader(f, &header, loader, sizeof loader))
        snprintf(why, max, "%s is statically linked: nothing can be preloaded into it, so nothing "
                           "will be recorded; link the C library dynamically (the CUDA runtime "
                           "may stay static)", path);
    else if (strstr(loader, "ld-musl")) {
        snprintf(why, max, "%s uses the musl C library, which cannot load vramscope's library: it "
                           "runs without, and nothing will be recorded; use a glibc build", path);
        return VS_REACH_HARMFUL;
    }
    return *why ? VS_REACH_NO : VS_REACH_YES;
}

/* The program that a first line "#!..." starts; false when it is not such a line. For "env", which
 * is dynamic itself, the name that it looks up. */
static bool interpreter(const char *line, char *out, size_t max)
{
    char words[LINE_MAX_BYTES];
    snprintf(words, sizeof words, "%s", line);
    if (strncmp(words, "#!", 2) != 0)
        return false;
    char *rest = words + 2, *word = strtok_r(rest, " \t\r\n", &rest);
    if (!word)
        return false;
    if (strcmp(vs_text_base_name(word), "env") == 0) {
        char *next = strtok_r(NULL, " \t\r\n", &rest);
        while (next && (*next == '-' || strchr(next, '=')))
            next = strtok_r(NULL, " \t\r\n", &rest);
        word = next ? next : word;
    }
    vs_reach_find(word, out, max);
    return true;
}

enum vs_reach vs_reach(const char *program, char *why, size_t max)
{
    char path[2 * PATH_MAX], line[LINE_MAX_BYTES];
    enum vs_reach reach = VS_REACH_YES;
    *why = 0;
    vs_reach_find(program, path, sizeof path);
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        FILE *f = fopen(path, "rb");
        if (!f)
            return VS_REACH_YES;
        size_t n = fread(line, 1, sizeof line - 1, f);
        line[n] = 0;
        line[strcspn(line, "\n")] = 0;
        rewind(f);
        bool script = n > 2 && interpreter(line, path, sizeof path);
        if (!script)
            reach = of_binary(path, f, why, max);
        fclose(f);
        if (!script)
            break;
    }
    return reach;
}

bool vs_reach_is_library(const char *path)
{
    Elf64_Ehdr header;
    struct stat st;
    FILE *f = fopen(path, "rb");
    bool read = f && fread(&header, sizeof header, 1, f) == 1 && !fstat(fileno(f), &st);
    if (f)
        fclose(f);
    return read && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN &&
           header.e_machine == OWN_MACHINE &&
           header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize <= (uint64_t)st.st_size &&
           header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize <= (uint64_t)st.st_size;
}
