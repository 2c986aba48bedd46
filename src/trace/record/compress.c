/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. RTLD_LOCAL: none of zstd's names enters the program's scope. */
#define _GNU_SOURCE
#include "trace/record/compress.h"

#include <dlfcn.h>
#include <pthread.h>
#include <zstd.h>

#include "base/vs_library.h"
#include "base/vs_log.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
    __typeof__(&ZSTD_createCCtx) create;
    __typeof__(&ZSTD_freeCCtx) release;
    __typeof__(&ZSTD_compressCCtx) compress;
    __typeof__(&ZSTD_isError) is_error;
} zstd; /* immutable after load; create is NULL without the library */

static void load(void)
{
    void *handle = dlopen(VS_LIBZSTD, RTLD_NOW | RTLD_LOCAL);
    const char *trouble = handle ? NULL : vs_library_trouble();
    if (handle) {
        zstd.release = (__typeof__(zstd.release))dlsym(handle, "ZSTD_freeCCtx");
        zstd.compress = (__typeof__(zstd.compress))dlsym(handle, "ZSTD_compressCCtx");
        zstd.is_error = (__typeof__(zstd.is_error))dlsym(handle, "ZSTD_isError");
        if (zstd.release && zstd.compress && zstd.is_error)
            zstd.create = (__typeof__(zstd.create))dlsym(handle, "ZSTD_createCCtx");
    }
    if (trouble)
        vs_log(VS_LOG_WARN, "the trace is stored uncompressed: %s", trouble);
    else if (!zstd.create)
        vs_log(VS_LOG_WARN, "the trace is stored uncompressed: " VS_LIBZSTD " was not found; "
                            "install libzstd1");
}

void vs_compress_load(void)
{
    pthread_once(&once, load);
}

void *vs_compress_open(void)
{
    return zstd.create ? zstd.create() : NULL;
}

void vs_compress_close(void *context)
{
    if (context)
        zstd.release(context);
}

size_t vs_compress(void *context, void *to, size_t room, const void *from, size_t bytes, int level)
{
    size_t n = zstd.compress(context, to, room, from, bytes, level);
    return zstd.is_error(n) ? 0 : n;
}
