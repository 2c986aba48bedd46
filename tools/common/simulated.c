/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver is loaded into this process, but not initialised. */
#include "tools/common/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/report_names.h"

/* The driver's function *name*; NULL with *why* where there is none. */
static void *driver_function(const char *name, char *why)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    if (vs_path_simulator(folder, sizeof folder)) {
        snprintf(why, VS_SIMULATED_WHY_MAX, "the simulated GPU is missing from this installation");
        return NULL;
    }
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = driver ? dlsym(driver, name) : NULL;
    if (!found)
        snprintf(why, VS_SIMULATED_WHY_MAX, "cannot load the simulated GPU: %s", dlerror());
    return found;
}

static enum vs_err check_spec(const char *spec, char *why)
{
    int (*check)(const char *, char *, size_t);
    *(void **)&check = driver_function("vramscopeSimCheckSpec", why);
    if (!check)
        return VS_ERR_NOT_FOUND;
    return check(spec, why, VS_SIMULATED_WHY_MAX) ? VS_ERR_ARG : VS_OK;
}

size_t vs_simulated_split(char *names, const char **list)
{
    size_t count = 0;
    for (char *name; (name = strsep(&names, ", "));)
        if (*name && count < VS_SIMULATED_MAX)
            list[count++] = name;
    return count;
}

enum vs_err vs_simulated_check(const char *spec, char *why)
{
    enum vs_err err = check_spec(spec, why);
    if (err == VS_ERR_ARG && strncmp(why, "no simulated device", 19) == 0) {
        /* An unknown device, and not another error. */
        char names[VS_SIMULATED_WHY_MAX], word[64];
        const char *list[VS_SIMULATED_MAX];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(spec, ","), spec);
        vs_simulated_names(names);
        size_t count = vs_simulated_split(names, list), near = vs_name_meant(word, list, count);
        if (near < count)
            snprintf(why, VS_SIMULATED_WHY_MAX,
                     "no simulated device '%s'; did you mean '%s'? `vramscope doctor "
                     "--gpus` lists all", word, list[near]);
    }
    return err;
}

enum vs_err vs_simulated_memory(const char *spec, uint64_t *total_bytes, uint64_t *taken_bytes,
                                char *why)
{
    bool (*memory)(const char *, uint64_t *, uint64_t *);
    enum vs_err err = vs_simulated_check(spec, why);
    *(void **)&memory = err ? NULL : driver_function("vramscopeSimSpecMemory", why);
    if (!memory)
        return err ? err : VS_ERR_NOT_FOUND;
    return memory(spec, total_bytes, taken_bytes) ? VS_OK : VS_ERR_ARG;
}

/* A name that no device has is answered with those that there are. */
void vs_simulated_names(char *names)
{
    static const char before[] = "devices: ";
    enum vs_err err = check_spec("?", names);
    char *list = err == VS_ERR_ARG ? strstr(names, before) : NULL;
    if (!list)
        return;
    list += strlen(before);
    list[strcspn(list, ";")] = 0;
    memmove(names, list, strlen(list) + 1);
}

enum vs_err vs_simulated_describe(const char *spec, struct vs_simulated_gpu *gpu, char *why)
{
    bool (*describe)(const char *, char *, size_t);
    enum vs_err err = vs_simulated_check(spec, why);
    *(void **)&describe = err ? NULL : driver_function("vramscopeSimDescribe", why);
    if (!describe)
        return err ? err : VS_ERR_NOT_FOUND;
    char *rest = gpu->line, *field[10] = {NULL};
    if (!describe(spec, gpu->line, sizeof gpu->line))
        return VS_ERR_ARG;
    for (size_t i = 0; i < 10 && rest; i++)
        field[i] = strsep(&rest, "\t");
    if (!field[9])
        return VS_ERR_ARG;
    gpu->name = field[0];
    gpu->sm = atoi(field[2]);
    gpu->sms = atoi(field[3]);
    gpu->total_bytes = strtoull(field[4], NULL, 10);
    gpu->board_bytes = strtoull(field[5], NULL, 10);
    gpu->context_bytes = strtoull(field[6], NULL, 10);
    gpu->context_kind = field[7];
    gpu->context_source = field[8];
    gpu->memory_gbps = (unsigned)atoi(field[9]);
    return VS_OK;
}
