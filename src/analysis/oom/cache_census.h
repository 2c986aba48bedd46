/* SPDX-License-Identifier: Apache-2.0
 *
 * Cached memory at a failure: the free pieces of the segments of a caching allocator, vramscope's
 * or a framework's, by whether the failed request could have used them. */
#ifndef VS_CACHE_CENSUS_H
#define VS_CACHE_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/oom/block_history.h"
#include "analysis/state/replay.h"

struct vs_cache_census {
    bool framework;        /* of the framework's allocator */
    uint64_t segments, segment_bytes, used_bytes;
    uint64_t empty;        /* bytes of segments without any block: the allocator can free them */
    uint64_t scattered;    /* in pieces that are too small for the request, beside live blocks */
    uint64_t largest, pieces; /* of those */
    uint64_t withheld;     /* of other streams, or large enough for the request and still not used:
                            * another private pool's, or still in use by another stream */
    uint64_t withheld_largest;
    uint64_t other_streams; /* the part of it that is certainly of other streams */
    uint64_t private_pools; /* the part that is of private pools: PyTorch uses and releases all else
                             * before it reports a failure */
    uint64_t other_class;   /* large enough, in segments that a request of this size is not served
                             * from: neither scattered nor withheld */
    uint32_t pin_site;     /* + 1: site of the live blocks beside most of the scattered bytes */
    uint32_t withheld_site; /* + 1: likewise of the withheld bytes, or the site that allocated segments
                             * without live blocks; 0: none */
};

/* The failed request: its bytes, and its stream (0: none, or unknown); *framework*: it was one to the
 * framework's allocator, and the stream has the framework's number. */
struct vs_census_request {
    uint64_t bytes, stream;
    bool framework;
};

/* vs_cache_census: counts the cached memory of *account*. Sites are those of *history*. *Cost*: sorts the
 * live blocks. */
void vs_cache_census(const struct vs_replay *replay, const struct vs_history *history,
                     unsigned account, const struct vs_census_request *request,
                     struct vs_cache_census *out);

#endif
