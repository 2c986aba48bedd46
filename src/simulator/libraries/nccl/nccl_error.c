/* SPDX-License-Identifier: Apache-2.0
 *
 * Results, the text of the last error, and errors that end a communicator. NCCL keeps one text for
 * the whole process, since other threads ask for it: here two buffers in turn, so that a text that
 * was returned stays whole until the next but one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define TEXT_BYTES 1024

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static char texts[2][TEXT_BYTES]; /* guarded by mu, as which */
static unsigned which;

static const char *const results[ncclNumResults] = {
    [ncclSuccess] = "no error",
    [ncclUnhandledCudaError] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    [ncclSystemError] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    [ncclInternalError] = "internal error - please report this issue to the NCCL developers",
    [ncclInvalidArgument] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
    [ncclInvalidUsage] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
    [ncclRemoteError] = "remote process exited or there was a network error",
    [ncclInProgress] = "NCCL operation in progress",
    [ncclTimeout] = "operation timed out",
};

const char *ncclGetErrorString(int result)
{
    bool known = result >= 0 && result < ncclNumResults && results[result];
    return known ? results[result] : "unknown result code";
}

/* NCCL ignores *comm* too. */
const char *ncclGetLastError(struct ncclComm *comm)
{
    pthread_mutex_lock(&mu);
    const char *text = texts[which];
    pthread_mutex_unlock(&mu);
    return text;
}

static void keep_text(const char *text)
{
    pthread_mutex_lock(&mu);
    snprintf(texts[which ^ 1], TEXT_BYTES, "%s", text);
    which ^= 1;
    pthread_mutex_unlock(&mu);
}

int vs_nccl_fail(int result, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep_text(text);
    return result;
}

int vs_nccl_stop_with(struct vs_nccl_member *m, int result, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int before = atomic_load(&m->error);
    if ((before == ncclSuccess || before == ncclInProgress) &&
        atomic_compare_exchange_strong(&m->error, &before, result)) {
        keep_text(text);
        vs_sim_say("vramscope: NCCL on the simulated GPU, rank %d of %d: %s\n", m->rank, m->count, text);
    }
    if (m->segment) {
        uint32_t present = VS_NCCL_PRESENT;
        atomic_compare_exchange_strong(&m->segment->ranks[m->rank].left, &present, VS_NCCL_FAILED);
        for (int r = 0; r < m->count; r++)
            vs_nccl_bell_ring(&m->segment->ranks[r]);
    }
    return result;
}

int vs_nccl_cuda(CUresult result, const char *what)
{
    const struct vs_library_driver *d = vs_library_driver();
    const char *name = NULL;
    if (!result)
        return ncclSuccess;
    if (d)
        d->cuGetErrorName(result, &name);
    return vs_nccl_fail(ncclUnhandledCudaError, "%s: the CUDA driver returned %s", what,
                        name ? name : "an error");
}
