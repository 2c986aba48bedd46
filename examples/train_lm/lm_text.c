/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_text.h. */
#include "lm_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUNDLED_NAME   "genesis.txt"
#define TEXT_BYTES_MAX ((off_t)1 << 30)

__attribute__((noreturn)) static void text_error(const char *path, const char *problem)
{
    fprintf(stderr, "train_lm: %s: %s\n", path, problem);
    exit(2);
}

/* In an installation LM_DATA_RELATIVE is the path from the program's folder to the data. In
 * the build tree it does not exist, and the file in the source tree is used. */
static const char *bundled_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) {
        path[length] = '\0';
        char *slash = strrchr(path, '/');
        size_t room = size - (size_t)(slash + 1 - path);
        int written = snprintf(slash + 1, room, "%s/" BUNDLED_NAME, LM_DATA_RELATIVE);
        if (written > 0 && (size_t)written < room && access(path, R_OK) == 0)
            return path;
    }
    return LM_DATA_SOURCE "/" BUNDLED_NAME;
}

static unsigned char *read_all(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        text_error(path, strerror(errno));
    struct stat status;
    if (fstat(fileno(file), &status) != 0)
        text_error(path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        text_error(path, "not a regular file");
    if (status.st_size > TEXT_BYTES_MAX)
        text_error(path, "larger than 1 GiB");
    size_t size = (size_t)status.st_size;
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        text_error(path, "out of host memory");
    *length = fread(bytes, 1, size, file);
    if (*length != size)
        text_error(path, ferror(file) ? strerror(errno) : "shorter than its size says");
    fclose(file);
    return bytes;
}

void lm_text_load(struct lm_text *text, const char *path, size_t min_length)
{
    char buffer[PATH_MAX + 256];
    if (!path)
        path = bundled_path(buffer, sizeof buffer);
    text->ids = read_all(path, &text->length);
    if (text->length < min_length) {
        char problem[96];
        snprintf(problem, sizeof problem, "%zu bytes; --context needs a text of at least %zu",
                 text->length, min_length);
        text_error(path, problem);
    }
    unsigned char id_of[256] = {0};
    int seen[256] = {0};
    for (size_t i = 0; i < text->length; i++)
        seen[text->ids[i]] = 1;
    text->vocabulary = 0;
    for (int byte = 0; byte < 256; byte++) {
        if (!seen[byte])
            continue;
        id_of[byte] = (unsigned char)text->vocabulary;
        text->characters[text->vocabulary++] = (unsigned char)byte;
    }
    for (size_t i = 0; i < text->length; i++)
        text->ids[i] = id_of[text->ids[i]];
}

void lm_text_free(struct lm_text *text)
{
    free(text->ids);
    text->ids = NULL;
}
