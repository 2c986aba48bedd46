/* SPDX-License-Identifier: Apache-2.0
 *
 * An auditor of the dynamic loader (LD_AUDIT, rtld-audit(7)): every library that the simulated GPU
 * replaces is loaded from the simulator's folder, whoever asks for it and by whatever path.
 * LD_LIBRARY_PATH is not enough: a library's DT_RPATH precedes it, and PyTorch opens NVIDIA's
 * libraries by absolute path. Nothing else is redirected.
 *
 * `vramscope run --simulate` and `fit` set LD_AUDIT. The loader runs this file in a namespace of
 * its own, with a second libc, before the program's main; it links nothing but libc. The table is
 * complete before the first search and never changes, so that the strings returned to the loader
 * stay valid and no lock is needed. Without VRAMSCOPE_SIMULATE the loader is told to ignore us.
 * It has no la_symbind, la_pltenter or la_pltexit: with those the loader would pass through its
 * audit code for every call of a function in a library. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit/audit_soname.h"

#define EXPORT __attribute__((visibility("default")))

struct vs_audit_stand_in {
    char *path;       /* absolute */
    const char *name; /* its last part: the soname */
};

static struct vs_audit_stand_in *stand_ins; /* immutable after la_version */
static size_t stand_in_count;

EXPORT unsigned la_version(unsigned version);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Length of "libNAME.so" in a library's name; 0 for other names. */
static size_t stem_length(const char *name)
{
    const char *end = strncmp(name, "lib", 3) == 0 ? strstr(name, ".so") : NULL;
    return end && (end[3] == 0 || end[3] == '.') ? (size_t)(end + 3 - name) : 0;
}

/* The simulator's folder lies beside this library. */
static bool find_folder(char *folder, size_t max)
{
    Dl_info own;
    if (!dladdr((void *)(uintptr_t)&la_version, &own) || !own.dli_fname || *own.dli_fname != '/')
        return false;
    int length = (int)(last_part(own.dli_fname) - own.dli_fname);
    int n = snprintf(folder, max, "%.*ssimulator", length, own.dli_fname);
    return n > 0 && (size_t)n < max;
}

static bool add(const char *folder, const char *name)
{
    struct vs_audit_stand_in *grown =
        realloc(stand_ins, (stand_in_count + 1) * sizeof *stand_ins);
    if (!grown)
        return false;
    stand_ins = grown;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    stand_ins[stand_in_count++] =
        (struct vs_audit_stand_in){path, path + strlen(folder) + 1};
    return true;
}

/* Adds the folder's libraries. Links without a version (libcudart.so) are for the linker: which
 * major such a name means depends on the path, so la_objsearch reads the soname there. */
static bool read_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return false;
    bool fits = true;
    struct dirent *entry;
    while (fits && (entry = readdir(dir))) {
        size_t stem = stem_length(entry->d_name);
        if (stem && entry->d_name[stem] == '.')
            fits = add(folder, entry->d_name);
    }
    closedir(dir);
    return fits && stand_in_count > 0;
}

/* Returning 0 makes the loader ignore this library, silently. An older loader's version differs
 * only for the functions that are not defined here. */
unsigned la_version(unsigned version)
{
    char folder[PATH_MAX];
    const char *device = getenv("VRAMSCOPE_SIMULATE");
    if (!device || !*device || !find_folder(folder, sizeof folder) || !read_folder(folder))
        return 0;
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static char *stand_in_of(const char *soname)
{
    for (size_t i = 0; i < stand_in_count; i++)
        if (strcmp(stand_ins[i].name, soname) == 0)
            return stand_ins[i].path;
    return NULL;
}

/* Whether one of ours has the same name up to ".so". */
static bool is_related(const char *name, size_t stem)
{
    for (size_t i = 0; stem && i < stand_in_count; i++)
        if (strncmp(stand_ins[i].name, name, stem) == 0 && stand_ins[i].name[stem] == '.')
            return true;
    return false;
}

/* Names for linking in the simulator's own folder are links, or filters of the library that they mean
 * (cmake/link_library.py): both may be opened as they are. */
static bool is_own(const char *name, size_t folder)
{
    const char *own = stand_ins[0].path;
    size_t length = (size_t)(stand_ins[0].name - own);
    return folder == length && memcmp(name, own, length) == 0;
}

/* The loader searches for a library under several names: the one asked for, then each path that it
 * tries. A file may be called libcublas.so or libcublas.so.13.1.0.3: then its soname decides. */
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *last = last_part(name);
    char *path = stand_in_of(last);
    char soname[NAME_MAX + 1];
    if (!path && last != name && !is_own(name, (size_t)(last - name)) && is_related(last, stem_length(last)) &&
        vs_audit_soname(name, soname, sizeof soname))
        path = stand_in_of(soname);
    return path ? path : (char *)(uintptr_t)name;
}
