/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of sizes.tsv, found by library, version, architecture and problem. The build turns them into C
 * (cmake/size_tables.py). */
#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

static const struct vs_size_row rows[] = {
#define VS_SIM_CONTEXT(...)
#define VS_LIBRARY_SIZE(...) {__VA_ARGS__},
#include "generated/vs_sim_size_table.h"
};

const struct vs_size_row *vs_size_find(const struct vs_size_row *table, size_t count,
                                       const struct vs_size_query *q)
{
    const struct vs_size_row *found = NULL;
    for (const struct vs_size_row *r = table; r < table + count; r++) {
        bool fits = !strcmp(r->library, q->library) && !strcmp(r->what, q->what) &&
                    (!strcmp(r->key, "*") || !strcmp(r->key, q->key)) && q->version >= r->first &&
                    q->version <= r->last && (!r->architecture || r->architecture == q->architecture);
        if (fits && (!found || (r->measured && !found->measured)))
            found = r;
    }
    return found;
}

static bool given_workspace(uint64_t *bytes)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, "vramscopeSimLibraryWorkspace") : NULL;
    vramscope_sim_library_workspace_fn *given;
    memcpy(&given, &found, sizeof given);
    bool ok = given && given(bytes);
    if (library)
        dlclose(library);
    return ok;
}

static int architecture(void)
{
    return vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
           vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

static uint64_t size_of(const char *what, const char *key, uint64_t assumed, const char *why,
                        bool workspace)
{
    struct vs_library_version v = vs_library_version();
    struct vs_size_query query = {vs_library.package, v.major * 10000 + v.minor * 100 + v.patch,
                                  architecture(), what, key};
    const struct vs_size_row *row = vs_size_find(rows, sizeof rows / sizeof *rows, &query);
    bool measured = row && row->measured;
    uint64_t given;
    if (!measured && workspace && given_workspace(&given)) {
        assumed = given;
        why = "workspace= of VRAMSCOPE_SIMULATE";
    } else if (row) {
        assumed = row->bytes;
        why = row->source;
    }
    char name[400];
    snprintf(name, sizeof name, "%s%s%s", what, *key ? " " : "", key);
    (measured ? vs_library_measured : vs_library_assume)(name, assumed, why);
    return assumed;
}

uint64_t vs_library_size(const char *what, const char *key, uint64_t assumed, const char *why)
{
    return size_of(what, key, assumed, why, false);
}

uint64_t vs_library_workspace(const char *what, const char *key, uint64_t assumed, const char *why)
{
    return size_of(what, key, assumed, why, true);
}

/* By a call of the driver's, so that a recorder measures it as it does that of NVIDIA's libraries. */
bool vs_library_load(void)
{
    static atomic_uint loaded; /* a bit per device */
    Elf64_Ehdr image;
    CUdevice device;
    CUmodule module;
    const struct vs_library_driver *d = vs_library_driver();
    if (!d || d->cuCtxGetDevice(&device) || atomic_fetch_or(&loaded, 1u << device) >> device & 1)
        return true;
    vs_library_cubin(architecture(), NULL, &image);
    image.e_entry = vs_library_size("handle", "", 0, "no row for this library");
    if (!d->cuModuleLoadData(&module, &image))
        return true;
    atomic_fetch_and(&loaded, ~(1u << device));
    return false;
}
