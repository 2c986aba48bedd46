/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzzer's entry on changed copies of a corpus, the same ones every time: cut off, with
 * changed, repeated and removed bytes. For builds without libFuzzer.
 *
 *     mutate_NAME COUNT FILE...      COUNT copies of each file */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)1 << 20)
#define GROWTH 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state;

static size_t below(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return n ? (size_t)(state >> 33) % n : 0;
}

/* Changes *size* bytes once; returns the new size. */
static size_t change(uint8_t *data, size_t size)
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
        if (size + length > ROOM)
            return size;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    }
}

static int mutate(const char *path, unsigned long count, uint8_t *data)
{
    static uint8_t whole[ROOM];
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    size_t size = fread(whole, 1, ROOM - GROWTH, in);
    fclose(in);
    for (unsigned long i = 0; i < count; i++) {
        size_t length = size, changes = 1 + below(4);
        memcpy(data, whole, size);
        for (size_t k = 0; k < changes && length; k++)
            length = change(data, length);
        uint8_t *exact = malloc(length + 1); /* so that a sanitizer sees reads beyond it */
        if (!exact)
            return 1;
        memcpy(exact, data, length);
        LLVMFuzzerTestOneInput(exact, length);
        free(exact);
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(ROOM);
    int failed = argc < 3 || !data;
    for (int i = 2; i < argc && !failed; i++)
        failed = mutate(argv[i], strtoul(argv[1], NULL, 10), data);
    printf("%d files\n", argc - 2);
    free(data);
    return failed;
}
