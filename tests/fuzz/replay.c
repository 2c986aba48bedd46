/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzzer's entry on every file of the given folders and files: replays the corpus in builds
 * without libFuzzer. Fails when there are no files. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    uint8_t *data = malloc((size_t)st.st_size + 1);
    size_t size = data ? fread(data, 1, (size_t)st.st_size, in) : 0;
    fclose(in);
    if (!data)
        return -1;
    LLVMFuzzerTestOneInput(data, size);
    free(data);
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
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int n = replay_folder(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total ? 0 : 1;
}
