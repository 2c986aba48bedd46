/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/naming/source_text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define BYTES_MAX (16 << 20)

bool vs_source_is_code(const char *path)
{
    static const char known[] = " c cc cpp cxx c++ cu cuh f f90 go h hh hip hpp hxx inl ipp jl m mm mojo py pyi pyx "
                                "rs swift zig ";
    const char *dot = strrchr(vs_text_base_name(path), '.');
    char word[8];
    if (!dot || !dot[1] || strlen(dot) > 5 || strchr(dot, ' '))
        return false;
    snprintf(word, sizeof word, " %s ", dot + 1);
    return strstr(known, word) != NULL;
}

bool vs_source_text_read(const char *path, struct vs_source_file *out)
{
    struct stat info;
    /* never waits for a FIFO or a terminal */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool usual = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= BYTES_MAX;
    size_t size = usual ? (size_t)info.st_size : 0, got = 0;
    char *text = usual ? vs_xcalloc(size + 1, 1) : NULL;
    for (ssize_t n = 1; usual && got < size && n > 0; got += n > 0 ? (size_t)n : 0)
        n = read(fd, text + got, size - got);
    if (fd >= 0)
        close(fd);
    if (!usual || memchr(text, 0, got)) {
        free(text);
        return false;
    }
    *out = (struct vs_source_file){text, got, (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec};
    return true;
}

bool vs_source_line(const char *path, unsigned number, char *out, size_t size, uint64_t *changed_ns)
{
    struct vs_source_file file;
    if (!number || !vs_source_text_read(path, &file))
        return false;
    char *line = file.text;
    for (unsigned i = 1; line && i < number; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line) {
        line[strcspn(line, "\n")] = 0;
        char *text = line + strspn(line, " \t"), *comment = strstr(text, "  #");
        size_t n = comment ? (size_t)(comment - text) : strlen(text);
        while (n && isspace((unsigned char)text[n - 1]))
            n--;
        bool cut = n + sizeof "…" > size;
        if (cut)
            for (n = size - sizeof "…"; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
                n--;
        snprintf(out, size, "%.*s%s", (int)n, text, cut ? "…" : "");
    }
    if (changed_ns)
        *changed_ns = file.changed_ns;
    free(file.text);
    return line && *out;
}
