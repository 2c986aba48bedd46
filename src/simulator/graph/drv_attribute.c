/* SPDX-License-Identifier: Apache-2.0
 *
 * Launch attributes of streams and kernel nodes (cuda.h, CUlaunchAttributeID says where each is
 * valid). Most are hints to hardware that is not simulated: they are stored, inherited from a
 * stream by its launches and from those by captured nodes, and returned. An attribute with an
 * effect that is not simulated is refused. */
#include "simulator/graph/vs_sim_graph.h"

#define VALID_STREAM 1u
#define VALID_NODE 2u
#define VALID_LAUNCH 4u

static unsigned valid_for(CUlaunchAttributeID id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return VALID_STREAM | VALID_NODE | VALID_LAUNCH;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: return VALID_STREAM;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: /* a CU_KERNEL_NODE_ATTRIBUTE */
        return VALID_NODE | VALID_LAUNCH;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    /* permits it, does not request it */
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: return VALID_LAUNCH;
    default: return 0;
    }
}

struct vs_sim_attributes vs_sim_attributes_default(int priority)
{
    return (struct vs_sim_attributes){.sync_policy = CU_SYNC_POLICY_AUTO,
                                      .scheduling = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                                      .priority = priority};
}

/* CUaccessPolicyWindow: the miss property must be NORMAL or STREAMING. */
static CUresult set_window(struct vs_sim_attributes *a, const CUaccessPolicyWindow *w)
{
    if (w->num_bytes && (w->missProp == CU_ACCESS_PROPERTY_PERSISTING ||
                         !(w->hitRatio >= 0 && w->hitRatio <= 1)))
        return CUDA_ERROR_INVALID_VALUE;
    a->window = *w;
    return CUDA_SUCCESS;
}

static CUresult set_cluster(unsigned cluster[3], unsigned x, unsigned y, unsigned z)
{
    if (!vs_sim_device_clusters())
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((x || y || z) && !(x && y && z))
        return CUDA_ERROR_INVALID_VALUE;
    cluster[0] = x;
    cluster[1] = y;
    cluster[2] = z;
    return CUDA_SUCCESS;
}

static CUresult set(struct vs_sim_attributes *a, CUlaunchAttributeID id,
                    const CUlaunchAttributeValue *v)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return set_window(a, &v->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: a->priority = v->priority; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: a->domains = v->memSyncDomainMap; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)v->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return CUDA_ERROR_INVALID_VALUE;
        a->domain = v->memSyncDomain;
        break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        if (v->nvlinkUtilCentricScheduling > 1)
            return CUDA_ERROR_INVALID_VALUE;
        a->nvlink = v->nvlinkUtilCentricScheduling;
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (v->syncPolicy < CU_SYNC_POLICY_AUTO || v->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return CUDA_ERROR_INVALID_VALUE;
        a->sync_policy = v->syncPolicy;
        break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: a->cooperative = v->cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return set_cluster(a->cluster, v->clusterDim.x, v->clusterDim.y, v->clusterDim.z);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        return set_cluster(a->preferred_cluster, v->preferredClusterDim.x,
                           v->preferredClusterDim.y, v->preferredClusterDim.z);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        a->scheduling = v->clusterSchedulingPolicyPreference;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        a->carveout = v->sharedMemCarveout;
        break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: break;
    default: return CUDA_ERROR_NOT_SUPPORTED; /* programmatic events, device updates */
    }
    return CUDA_SUCCESS;
}

static CUresult get(const struct vs_sim_attributes *a, CUlaunchAttributeID id,
                    CUlaunchAttributeValue *out)
{
    CUlaunchAttributeValue v = {{0}};
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: v.accessPolicyWindow = a->window; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: v.priority = a->priority; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: v.memSyncDomainMap = a->domains; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: v.memSyncDomain = a->domain; break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        v.nvlinkUtilCentricScheduling = a->nvlink;
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: v.syncPolicy = a->sync_policy; break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: v.cooperative = a->cooperative; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        v.clusterDim.x = a->cluster[0];
        v.clusterDim.y = a->cluster[1];
        v.clusterDim.z = a->cluster[2];
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        v.preferredClusterDim.x = a->preferred_cluster[0];
        v.preferredClusterDim.y = a->preferred_cluster[1];
        v.preferredClusterDim.z = a->preferred_cluster[2];
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        v.clusterSchedulingPolicyPreference = a->scheduling;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        v.sharedMemCarveout = a->carveout;
        break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    *out = v;
    return CUDA_SUCCESS;
}

CUresult vs_sim_attribute_of_launch(struct vs_sim_attributes *a, const CUlaunchAttribute *given)
{
    return valid_for(given->id) & VALID_LAUNCH ? set(a, given->id, &given->value)
                                               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- kernel nodes ---- */

static CUresult kernel_node_check(const struct vs_sim_node *n, CUkernelNodeAttrID attr, const void *value)
{
    return n->type == CU_GRAPH_NODE_TYPE_KERNEL && value && (valid_for(attr) & VALID_NODE)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeGetAttribute_locked(struct vs_sim_node *n, CUkernelNodeAttrID attr,
                                              CUkernelNodeAttrValue *value_out)
{
    CUresult e = kernel_node_check(n, attr, value_out);
    return e ? e : get(&n->op.u.launch.attributes, attr, value_out);
}

CUresult cuGraphKernelNodeSetAttribute_locked(struct vs_sim_node *n, CUkernelNodeAttrID attr,
                                              const CUkernelNodeAttrValue *value)
{
    CUresult e = kernel_node_check(n, attr, value);
    return e ? e : set(&n->op.u.launch.attributes, attr, value);
}

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
    if (!(valid_for(attr) & VALID_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&s->ctx->submit_mu);
    CUresult e = get(&s->attributes, attr, value_out);
    pthread_mutex_unlock(&s->ctx->submit_mu);
    return e;
}

CUresult cuStreamSetAttribute_in(struct vs_sim_stream *s, CUstreamAttrID attr,
                                 const CUstreamAttrValue value[static 1])
{
    if (!(valid_for(attr) & VALID_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&s->ctx->submit_mu);
    CUresult e = set(&s->attributes, attr, value);
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
