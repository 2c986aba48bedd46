/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzzer's entry on every file of the given folders and files, in builds without libFuzzer;
 * with -mutate COUNT on that many changed copies of each, the same ones every time: cut off, with
 * changed, repeated and removed bytes. Fails when there are no files.
 *
 *     replay_NAME [-mutate COUNT] FILE|FOLDER... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GROWTH ((size_t)4096)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long mutations; /* of each file; 0: the file itself */
static uint64_t state;

static size_t below(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return n ? (size_t)(state >> 33) % n : 0;
}

/* Changes *size* bytes of *room* once; returns the new size. */
static size_t change(uint8_t *data, size_t size, size_t room)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, '(', '.', ']', '}', 'a', 'e', 'h', 'u',
                                     0x8a, 0x8c, 0x94};
    size_t at = below(size), length = 1 + below(64);
    switch (below(6)) {
    case 0: return at; /* cut off */
    case 1: data[at] ^= (uint8_t)(1u << below(8)); return size;
    case 2: data[at] = values[below(sizeof values)]; return size;
    case 3: data[at] = (uint8_t)below(256); return size;
    case 4: /* remove */
        length = length < size - at ? length : size - at;
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    default: /* repeat */
        length = length < size - at ? length : size - at;
        if (size + length > room)
            return size;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    }
}

/* A copy of exactly its size: a sanitizer detects a read beyond it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size + 1);
    if (!exact)
        abort();
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct stat st;
    if (!in || stat(path, &st)) {
        perror(path);
        if (in)
            fclose(in);
        return -1;
    }
    size_t room = (size_t)st.st_size + GROWTH;
    uint8_t *data = malloc(room), *copy = malloc(room);
    size_t size = data ? fread(data, 1, (size_t)st.st_size, in) : 0;
    fclose(in);
    if (!data || !copy)
        return -1;
    state = 0; /* whatever the order of the folder */
    if (!mutations)
        run(data, size);
    for (unsigned long i = 0; i < mutations; i++) {
        size_t length = size, changes = 1 + below(4);
        memcpy(copy, data, size);
        for (size_t k = 0; k < changes && length; k++)
            length = change(copy, length, room);
        run(copy, length);
    }
    free(data);
    free(copy);
    return 1;
}

static int replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char name[4096];
    int count = 0;
    if (!dir)
        return replay_file(path);
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        int n = replay_file(name);
        if (n < 0) {
            count = -1;
            break;
        }
        count += n;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0, first = 1;
    if (argc > 2 && !strcmp(argv[1], "-mutate")) {
        mutations = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        int n = replay_folder(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total ? 0 : 1;
}
