/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread block clusters of devices from compute capability 9.0 on: the shape of a launch's clusters
 * is checked, and how many of them fit the device at once is computed. The blocks of a cluster run
 * on one group of SMs (GPC, "graphics processing cluster"); NVIDIA publishes their number for each
 * chip, but not how the SMs of a product are distributed over them: here as evenly as pairs of SMs
 * allow. */
#include "simulator/driver/vs_sim_driver.h"

#include <string.h>

#define GROUPS 8         /* of SMs; H100 white paper, and B200 with two dies of four */
#define PORTABLE_MAX 8   /* blocks; CUDA programming guide, "Thread Block Clusters" */
#define NONPORTABLE_MAX 16

static bool is_set(const unsigned cluster[3]) { return cluster[0] || cluster[1] || cluster[2]; }

bool vs_sim_device_clusters(void) { return vs_sim_spec.preset->major >= 9; }

static unsigned size_max(const struct vs_sim_function *f)
{
    return atomic_load(&f->nonportable_cluster) ? NONPORTABLE_MAX : PORTABLE_MAX;
}

/* The cluster of a launch: as given, or as the function requires; all 0 without clusters. */
static CUresult choose(const struct vs_sim_function *f, const unsigned given[3],
                       unsigned cluster[3])
{
    unsigned required[3];
    for (int i = 0; i < 3; i++)
        required[i] = (unsigned)atomic_load(&f->cluster[i]);
    bool both = is_set(required) && is_set(given);
    if (both && memcmp(required, given, sizeof required))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    memcpy(cluster, is_set(required) ? required : given, sizeof required);
    return CUDA_SUCCESS;
}

static bool divides(const unsigned cluster[3], const unsigned grid[3])
{
    for (int i = 0; i < 3; i++)
        if (!cluster[i] || grid[i] % cluster[i])
            return false;
    return true;
}

static uint64_t blocks_of(const unsigned cluster[3])
{
    return (uint64_t)cluster[0] * cluster[1] * cluster[2];
}

/* A preferred cluster is a multiple of the regular one, and as deep. */
static bool prefers_ok(const unsigned preferred[3], const unsigned cluster[3],
                       const unsigned grid[3])
{
    return !is_set(preferred) ||
           (is_set(cluster) && divides(preferred, grid) && divides(cluster, preferred) &&
            preferred[2] == cluster[2]);
}

CUresult vs_sim_cluster_fits(const struct vs_sim_launch_op *op)
{
    unsigned cluster[3];
    const unsigned *preferred = op->attributes.preferred_cluster;
    CUresult e = choose(op->function, op->attributes.cluster, cluster);
    if (e || (!is_set(cluster) && !is_set(preferred)))
        return e;
    if (!is_set(cluster) || !divides(cluster, op->grid) ||
        !prefers_ok(preferred, cluster, op->grid) ||
        blocks_of(cluster) > size_max(op->function) ||
        (is_set(preferred) && blocks_of(preferred) > size_max(op->function)))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

/* ---- occupancy ---- */

/* Clusters of *size* blocks, *per_sm* of which fit an SM, that run at the same time. */
static uint64_t active(unsigned size, unsigned per_sm)
{
    unsigned pairs = (unsigned)vs_sim_spec.preset->sm_count / 2;
    uint64_t clusters = 0;
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned sms = 2 * (pairs / GROUPS + (g < pairs % GROUPS));
        clusters += sms * per_sm / size;
    }
    return clusters;
}

/* The blocks of *config* on an SM, and the cluster that it names. */
static CUresult examine(const struct vs_sim_function *f, const CUlaunchConfig *config,
                        unsigned *per_sm, unsigned cluster[3])
{
    struct vs_sim_attributes attributes = vs_sim_attributes_default(0);
    CUresult e = CUDA_SUCCESS;
    uint64_t threads =
        config ? (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ : 0;
    if (!threads || threads > 1024 || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    if (!vs_sim_device_clusters())
        return CUDA_ERROR_NOT_SUPPORTED;
    for (unsigned i = 0; i < config->numAttrs && !e; i++)
        e = vs_sim_attribute_of_launch(&attributes, &config->attrs[i]);
    if (e)
        return e;
    *per_sm = config->sharedMemBytes > (unsigned)vs_sim_spec.preset->shared_optin
                  ? 0
                  : (unsigned)vs_sim_blocks_per_sm((int)threads, config->sharedMemBytes);
    return choose(f, attributes.cluster, cluster);
}

CUresult cuOccupancyMaxPotentialClusterSize_entered(int *clusterSize, struct vs_sim_function *f,
                                                    const CUlaunchConfig *config)
{
    unsigned per_sm, cluster[3];
    CUresult e = examine(f, config, &per_sm, cluster);
    if (e || !clusterSize)
        return e ? e : CUDA_ERROR_INVALID_VALUE;
    unsigned size = size_max(f);
    while (size && !active(size, per_sm))
        size /= 2;
    *clusterSize = (int)size;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters_entered(int *numClusters, struct vs_sim_function *f,
                                              const CUlaunchConfig *config)
{
    unsigned per_sm, cluster[3];
    CUresult e = examine(f, config, &per_sm, cluster);
    if (e || !numClusters)
        return e ? e : CUDA_ERROR_INVALID_VALUE;
    uint64_t size = blocks_of(cluster);
    if (!size || size > size_max(f))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *numClusters = (int)active((unsigned)size, per_sm);
    return CUDA_SUCCESS;
}
