/* SPDX-License-Identifier: Apache-2.0
 *
 * Launch attributes of streams and kernel nodes (cuda.h, CUlaunchAttributeID says where each is
 * valid). Most are hints to hardware that is not simulated: they are stored, inherited from a
 * stream by its launches and from those by captured nodes, and returned. An attribute with an
 * effect that is not simulated is refused. */
#include "simulator/graph/vs_sim_graph.h"

#include <string.h>

#define STREAM 1u
#define NODE 2u
#define LAUNCH 4u

/* Where an attribute is valid, and where struct vs_sim_attributes has its value, which is at the
 * beginning of CUlaunchAttributeValue. Nowhere: it is allowed (*ignored*), or not simulated. */
struct attribute_row {
    unsigned valid;
    bool ignored;
    size_t at, bytes;
};

#define KEPT(field)                                                                               \
    .at = offsetof(struct vs_sim_attributes, field),                                              \
    .bytes = sizeof((struct vs_sim_attributes *)0)->field
#define A(name) [CU_LAUNCH_ATTRIBUTE_##name]
static const struct attribute_row rows[] = {
    A(IGNORE) = {LAUNCH, .ignored = true},
    A(ACCESS_POLICY_WINDOW) = {STREAM | NODE | LAUNCH, KEPT(window)},
    A(COOPERATIVE) = {NODE | LAUNCH, KEPT(cooperative)},
    A(SYNCHRONIZATION_POLICY) = {STREAM, KEPT(sync_policy)},
    A(CLUSTER_DIMENSION) = {NODE | LAUNCH, KEPT(cluster)},
    A(CLUSTER_SCHEDULING_POLICY_PREFERENCE) = {NODE | LAUNCH, KEPT(scheduling)},
    /* permits it, does not request it */
    A(PROGRAMMATIC_STREAM_SERIALIZATION) = {LAUNCH, .ignored = true},
    A(PROGRAMMATIC_EVENT) = {LAUNCH},
    A(PRIORITY) = {STREAM | NODE | LAUNCH, KEPT(priority)},
    A(MEM_SYNC_DOMAIN_MAP) = {STREAM | NODE | LAUNCH, KEPT(domains)},
    A(MEM_SYNC_DOMAIN) = {STREAM | NODE | LAUNCH, KEPT(domain)},
    A(PREFERRED_CLUSTER_DIMENSION) = {NODE | LAUNCH, KEPT(preferred_cluster)},
    A(LAUNCH_COMPLETION_EVENT) = {LAUNCH},
    A(DEVICE_UPDATABLE_KERNEL_NODE) = {NODE | LAUNCH},
    /* a CU_KERNEL_NODE_ATTRIBUTE */
    A(PREFERRED_SHARED_MEMORY_CARVEOUT) = {NODE | LAUNCH, KEPT(carveout)},
    A(NVLINK_UTIL_CENTRIC_SCHEDULING) = {STREAM | NODE | LAUNCH, KEPT(nvlink)},
};

/* The row of an attribute that is valid for one of *where*, or NULL. */
static const struct attribute_row *row_of(CUlaunchAttributeID id, unsigned where)
{
    return (unsigned)id < sizeof rows / sizeof rows[0] && rows[id].valid & where ? &rows[id] : NULL;
}

struct vs_sim_attributes vs_sim_attributes_default(int priority)
{
    return (struct vs_sim_attributes){.sync_policy = CU_SYNC_POLICY_AUTO,
                                      .scheduling = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                                      .priority = priority};
}

static CUresult set(struct vs_sim_attributes *a, CUlaunchAttributeID id, unsigned where,
                    const CUlaunchAttributeValue *v)
{
    const struct attribute_row *row = row_of(id, where);
    if (!row || !v)
        return CUDA_ERROR_INVALID_VALUE;
    const CUaccessPolicyWindow *w = &v->accessPolicyWindow;
    bool ok = true;
    if (!row->bytes) /* others: programmatic events, device updates */
        return row->ignored ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: /* misses: NORMAL or STREAMING */
        ok = !w->num_bytes || (w->missProp != CU_ACCESS_PROPERTY_PERSISTING && w->hitRatio >= 0 &&
                               w->hitRatio <= 1);
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        ok = (unsigned)v->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
        break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        ok = v->nvlinkUtilCentricScheduling <= 1;
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        ok = v->syncPolicy >= CU_SYNC_POLICY_AUTO && v->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
        break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: a->cooperative = v->cooperative != 0; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        if (!vs_sim_device_clusters())
            return CUDA_ERROR_NOT_SUPPORTED;
        ok = !v->clusterDim.x == !v->clusterDim.y && !v->clusterDim.y == !v->clusterDim.z;
        break;
    default: break;
    }
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy((char *)a + row->at, v, row->bytes);
    return CUDA_SUCCESS;
}

static CUresult get(const struct vs_sim_attributes *a, CUlaunchAttributeID id, unsigned where,
                    CUlaunchAttributeValue *out)
{
    const struct attribute_row *row = row_of(id, where);
    if (!row || !out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!row->bytes)
        return CUDA_ERROR_NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    memcpy(out, (const char *)a + row->at, row->bytes);
    return CUDA_SUCCESS;
}

CUresult vs_sim_attribute_of_launch(struct vs_sim_attributes *a, const CUlaunchAttribute *given)
{
    return set(a, given->id, LAUNCH, &given->value);
}

/* ---- kernel nodes ---- */

VS_SIM_AS(cuGraphKernelNodeGetAttribute_locked,
          (struct vs_sim_node *n, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *value_out),
          n->type == CU_GRAPH_NODE_TYPE_KERNEL
              ? get(&n->op.u.launch.attributes, attr, NODE, value_out)
              : CUDA_ERROR_INVALID_VALUE)
VS_SIM_AS(cuGraphKernelNodeSetAttribute_locked,
          (struct vs_sim_node *n, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue *value),
          n->type == CU_GRAPH_NODE_TYPE_KERNEL
              ? set(&n->op.u.launch.attributes, attr, NODE, value)
              : CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphKernelNodeCopyAttributes_locked(struct vs_sim_node *to, struct vs_sim_node *from)
{
    if (to->type != CU_GRAPH_NODE_TYPE_KERNEL || from->type != CU_GRAPH_NODE_TYPE_KERNEL ||
        from->ctx != to->ctx)
        return CUDA_ERROR_INVALID_VALUE;
    to->op.u.launch.attributes = from->op.u.launch.attributes;
    return CUDA_SUCCESS;
}

/* ---- streams ---- */

CUresult cuStreamGetAttribute_in(struct vs_sim_stream *s, CUstreamAttrID attr,
                                 CUstreamAttrValue value_out[static 1])
{
    pthread_mutex_lock(&s->ctx->submit_mu);
    CUresult e = get(&s->attributes, attr, STREAM, value_out);
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return e;
}

CUresult cuStreamSetAttribute_in(struct vs_sim_stream *s, CUstreamAttrID attr,
                                 const CUstreamAttrValue value[static 1])
{
    pthread_mutex_lock(&s->ctx->submit_mu);
    CUresult e = set(&s->attributes, attr, STREAM, value);
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return e;
}

CUresult cuStreamCopyAttributes_in(struct vs_sim_stream *to, struct vs_sim_stream *from)
{
    if (to->ctx != from->ctx)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&to->ctx->submit_mu);
    to->attributes = from->attributes;
    pthread_mutex_unlock(&to->ctx->submit_mu);
    return CUDA_SUCCESS;
}
