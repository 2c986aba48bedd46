/* SPDX-License-Identifier: Apache-2.0
 *
 * Gets debug information from the servers of DEBUGINFOD_URLS, by libdebuginfod, which is loaded
 * only when the user asks for it. Runs in the worker process; the process that waits for the worker
 * limits the time. */
#include <dlfcn.h>
#include <stdlib.h>

#include "base/vs_option.h"
#include "trace/symbols/elf_internal.h"

struct client;

int vs_elf_fetch(const char *build_id)
{
    static struct client *client; /* reused, because it keeps its connections open */
    static int (*find)(struct client *, const unsigned char *, int, char **);
    const char *urls = vs_environment("DEBUGINFOD_URLS");
    if (!urls || !*urls || !vs_debug_files_is_build_id(build_id))
        return -1;
    if (!client) {
        struct client *(*begin)(void);
        void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return -1;
        *(void **)&begin = dlsym(library, "debuginfod_begin");
        *(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
        client = begin && find ? begin() : NULL;
    }
    /* a length of 0 means that the build id is text */
    int fd = client ? find(client, (const unsigned char *)build_id, 0, NULL) : -1;
    return fd >= 0 ? fd : -1;
}
