/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcupti. A copy in the process is used first: two copies would treat each other as a
 * second profiler. Then by the major version of the process, in the CUDA runtime's own folder, by
 * the loader's search and in the toolkit's folders. The simulated driver has its own CUPTI beside
 * it; NVIDIA's would not work with it. */
#define _GNU_SOURCE
#include "intercept/cupti/cupti_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_library.h"
#include "base/vs_lock.h"
#include "base/vs_option.h"
#include "intercept/route/loaded.h"
#include "intercept/route/route.h"

/* Of the library that was looked for last. Not on the stack, as all of this is done once, perhaps by a thread
 * with a small one. */
static struct {
    int major; /* 0: none found */
    char path[PATH_MAX], folder[PATH_MAX];
} place;

/* The number is taken from the soname, whatever the file is called. */
static int find_loaded(const char *prefix)
{
    struct vs_loaded_names names;
    const char *number;
    memset(&place, 0, sizeof place);
    if (!vs_loaded_find(prefix, &names) || !(number = strstr(names.name, ".so.")) ||
        sscanf(number, ".so.%d", &place.major) != 1)
        return 0;
    const char *slash = strrchr(names.path, '/');
    snprintf(place.path, sizeof place.path, "%s", names.path);
    if (slash)
        snprintf(place.folder, sizeof place.folder, "%.*s", (int)(slash - names.path), names.path);
    return place.major;
}

static char trouble[256]; /* of the first file that exists and could not be loaded */

static void *open_file(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = handle ? NULL : vs_library_trouble();
    if (why && !*trouble)
        snprintf(trouble, sizeof trouble, "%s", why);
    return handle;
}

const char *vs_cupti_trouble(void)
{
    return trouble;
}

/* CUPTI 11 has the minor number in its name. */
static void *open_in(const char *folder, int major)
{
    char path[PATH_MAX + 64];
    const char *separator = *folder ? "/" : "";
    snprintf(path, sizeof path, "%s%slibcupti.so.%d", folder, separator, major);
    void *handle = open_file(path);
    for (int minor = 8; !handle && major == 11 && minor >= 0; minor--) {
        snprintf(path, sizeof path, "%s%slibcupti.so.11.%d", folder, separator, minor);
        handle = open_file(path);
    }
    return handle;
}

static void *open_loaded(void)
{
    return find_loaded("libcupti.so") ? dlopen(place.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static void *open_library(void)
{
    void *handle = open_loaded();
    if (handle)
        return handle;
    int major = find_loaded("libcudart"), version = 0;
    if (!major && VS_CALL(cuDriverGetVersion, &version) == CUDA_SUCCESS)
        major = version / 1000;
    if (!major)
        return NULL;
    static char folder[PATH_MAX + 32];
    const void *simulated = vs_driver_function(VS_FN_vramscopeSimRegisterKernel);
    Dl_info info;
    if (simulated) {
        if (!dladdr(simulated, &info) || !info.dli_fname)
            return NULL;
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - info.dli_fname) : 1,
                 slash ? info.dli_fname : ".");
        return open_in(folder, major);
    }
    const char *beside = *place.folder ? place.folder : NULL, *path = vs_environment("CUDA_PATH"),
               *home = vs_environment("CUDA_HOME"), *usual = "/usr/local/cuda";
    /* Beside the runtime before the loader's own search, "": libraries loaded later get the copy that we open by its
     * soname, and those delivered with this runtime need its version. */
    const struct {
        const char *root, *inside;
    } places[] = {{beside, ""}, {beside, "/../../cuda_cupti/lib"}, {beside, "/../extras/CUPTI/lib64"}, {"", ""},
                  {path, "/extras/CUPTI/lib64"}, {path, "/lib64"}, {path, "/lib"},
                  {home, "/extras/CUPTI/lib64"}, {home, "/lib64"}, {home, "/lib"},
                  {usual, "/extras/CUPTI/lib64"}, {usual, "/lib64"}, {usual, "/lib"}};
    for (size_t i = 0; !handle && i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%.*s%s", PATH_MAX - 1, places[i].root ? places[i].root : "", places[i].inside);
        handle = places[i].root ? open_in(folder, major) : NULL;
    }
    return handle;
}

static struct vs_cupti functions;     /* immutable once it is usable */
static const struct vs_cupti *usable; /* NULL: something is missing; guarded by lock */
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "CUPTI's library");

static void load(void)
{
    const struct {
        const char *name;
        void *slot;
        bool needed;
    } wanted[] = {
#define ROW(field, function, needed, parameters) {#function, &functions.field, needed},
        VS_CUPTI_FUNCTIONS(ROW)
    };
    void *library = open_library();
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++) {
        void *fn = vs_route_symbol(library, wanted[i].name);
        if (!fn && wanted[i].needed)
            return;
        memcpy(wanted[i].slot, &fn, sizeof fn);
    }
    usable = library ? &functions : NULL;
}

const struct vs_cupti *vs_cupti_load(void)
{
    VS_LOCK_SCOPE(&lock);
    if (!usable)
        load();
    return usable;
}

void *vs_cupti_symbol(const char *name)
{
    void *library = open_loaded();
    void *fn = library ? vs_route_symbol(library, name) : NULL;
    if (library)
        dlclose(library);
    return fn;
}

CUptiResult vs_cupti_subscribe(const struct vs_cupti *cupti, CUpti_SubscriberHandle *handle,
                               CUpti_CallbackFunc callback, char other[VS_CUPTI_NAME_MAX])
{
    struct vs_cupti_subscriber_params params = {.bytes = sizeof params,
                                                .name = "vramscope",
                                                .other = other,
                                                .other_bytes = VS_CUPTI_NAME_MAX};
    *other = 0;
    CUptiResult r = cupti->subscribe_v2 ? cupti->subscribe_v2(handle, callback, NULL, &params)
                                        : cupti->subscribe(handle, callback, NULL);
    other[VS_CUPTI_NAME_MAX - 1] = 0;
    if (strcmp(other, "CUPTI for ") == 0) /* the subscriber's name is unknown */
        *other = 0;
    return r;
}

const char *vs_cupti_reason(const struct vs_cupti *cupti, CUptiResult result, const char *other,
                            char *text, size_t max)
{
    const char *name = NULL;
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
        result == CUPTI_ERROR_HARDWARE_BUSY)
        snprintf(text, max, "another profiler is using it%s%s", *other ? ": " : "", other);
    else if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        snprintf(text, max, "the driver allows profiling to root only "
                            "(NVreg_RestrictProfilingToAdminUsers)");
    else if (cupti->result_string && cupti->result_string(result, &name) == CUPTI_SUCCESS && name)
        snprintf(text, max, "%s", name);
    else
        snprintf(text, max, "error %d", (int)result);
    return text;
}
