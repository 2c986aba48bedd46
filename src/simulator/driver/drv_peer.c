/* SPDX-License-Identifier: Apache-2.0
 *
 * Peer access: every pair of devices supports it. Access is enabled from one context to another and
 * ends with either. Copies work without it, as cuda.h says; accesses of kernels are not checked.
 * Its effect here is which streams a free waits for. */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>

struct pair {
    struct pair *next;
    struct vs_sim_context *from, *to; /* *from* may access memory of *to* */
    unsigned from_epoch, to_epoch;    /* of destroyed contexts: the pair is void */
};

static pthread_mutex_t pairs_mu = PTHREAD_MUTEX_INITIALIZER;
static struct pair *pairs; /* guarded by pairs_mu */

static bool valid(const struct pair *p)
{
    return p->from_epoch == atomic_load(&p->from->epoch) &&
           p->to_epoch == atomic_load(&p->to->epoch);
}

/* The link to the valid pair, or the end of the list; removes void pairs. */
static struct pair **find_locked(const struct vs_sim_context *from, const struct vs_sim_context *to)
{
    struct pair **at = &pairs;
    while (*at && !((*at)->from == from && (*at)->to == to && valid(*at))) {
        if (valid(*at)) {
            at = &(*at)->next;
            continue;
        }
        struct pair *gone = *at;
        *at = gone->next;
        free(gone);
    }
    return at;
}

CUresult vs_sim_peers_sync(struct vs_sim_context *owner)
{
    struct vs_sim_context *users[64];
    size_t count = 0;
    CUresult e = CUDA_SUCCESS;
    pthread_mutex_lock(&pairs_mu);
    for (struct pair *p = pairs; p && count < sizeof users / sizeof users[0]; p = p->next)
        if (p->to == owner && valid(p))
            users[count++] = p->from;
    pthread_mutex_unlock(&pairs_mu);
    for (size_t i = 0; i < count; i++) {
        CUresult one = vs_sim_context_sync(users[i]);
        e = e ? e : one;
    }
    return e;
}

/* Common start of enabling and disabling. */
static CUresult both(CUcontext handle, struct vs_sim_context **from, struct vs_sim_context **to)
{
    CUresult e = vs_sim_enter_context(from);
    if (e)
        return e;
    *to = vs_sim_context_of(handle);
    return *to && *to != *from && atomic_load(&(*to)->alive) ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct vs_sim_context *from, *to;
    CUresult e = both(peerContext, &from, &to);
    if (e)
        return e;
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (from->device == to->device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&pairs_mu);
    struct pair **at = find_locked(from, to);
    if (*at) {
        e = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    } else {
        struct pair fresh = {NULL, from, to, atomic_load(&from->epoch), atomic_load(&to->epoch)};
        *at = vs_sim_dup(&fresh, sizeof fresh);
    }
    pthread_mutex_unlock(&pairs_mu);
    return e;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct vs_sim_context *from, *to;
    CUresult e = both(peerContext, &from, &to);
    if (e)
        return e;
    pthread_mutex_lock(&pairs_mu);
    struct pair **at = find_locked(from, to), *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&pairs_mu);
    free(gone);
    return gone ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
