/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The driver is loaded into this process, but not initialised. */
#include "tools/common/simulated.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/paths.h"

enum vs_err vs_simulated_check(const char *spec, char *why)
{
    typedef int check_fn(const char *, char *, size_t);
    char folder[PATH_MAX], path[PATH_MAX + 16];
    if (vs_path_simulator(folder, sizeof folder)) {
        snprintf(why, VS_SIMULATED_WHY_MAX, "the simulated GPU is missing from this installation");
        return VS_ERR_NOT_FOUND;
    }
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        snprintf(why, VS_SIMULATED_WHY_MAX, "cannot load the simulated GPU: %s", dlerror());
        return VS_ERR_NOT_FOUND;
    }
    void *found = dlsym(driver, "vramscopeSimCheckSpec");
    check_fn *check;
    memcpy(&check, &found, sizeof check);
    return check && check(spec, why, VS_SIMULATED_WHY_MAX) ? VS_ERR_ARG : VS_OK;
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
