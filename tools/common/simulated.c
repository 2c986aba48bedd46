/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The driver is loaded into this process, but not initialised. */
#include "tools/common/simulated.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/paths.h"

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

enum vs_err vs_simulated_check(const char *spec, char *why)
{
    typedef int check_fn(const char *, char *, size_t);
    void *found = driver_function("vramscopeSimCheckSpec", why);
    check_fn *check;
    if (!found)
        return VS_ERR_NOT_FOUND;
    memcpy(&check, &found, sizeof check);
    return check(spec, why, VS_SIMULATED_WHY_MAX) ? VS_ERR_ARG : VS_OK;
}

enum vs_err vs_simulated_memory(const char *spec, uint64_t *total_bytes, uint64_t *taken_bytes,
                                char *why)
{
    typedef bool memory_fn(const char *, uint64_t *, uint64_t *);
    enum vs_err err = vs_simulated_check(spec, why);
    void *found = err ? NULL : driver_function("vramscopeSimSpecMemory", why);
    memory_fn *memory;
    if (!found)
        return err ? err : VS_ERR_NOT_FOUND;
    memcpy(&memory, &found, sizeof memory);
    return memory(spec, total_bytes, taken_bytes) ? VS_OK : VS_ERR_ARG;
}

/* A name that no device has is answered with those that there are. */
void vs_simulated_names(char *names)
{
    static const char before[] = "devices: ";
    enum vs_err err = vs_simulated_check("?", names);
    char *list = err == VS_ERR_ARG ? strstr(names, before) : NULL;
    if (!list)
        return;
    list += strlen(before);
    list[strcspn(list, ";")] = 0;
    memmove(names, list, strlen(list) + 1);
}
