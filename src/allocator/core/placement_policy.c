/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of policies, and lookups in it. */
#include "allocator/core/placement_policy.h"

#include <string.h>

#include "allocator/core/placement.h"

const struct vs_policy *const vs_policies[VS_POLICY_COUNT] = {
#define VS_POLICY(ID, name, option) [VS_POLICY_##ID] = &vs_policy_##name,
#include "base/vs_policy_table.h"
#undef VS_POLICY
};

static const struct vs_policy *find(const char *name, size_t length)
{
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        if (strlen(vs_policies[i]->name) == length && !memcmp(vs_policies[i]->name, name, length))
            return vs_policies[i];
    }
    return NULL;
}

const struct vs_policy *vs_policy_named(const char *name)
{
    return find(name, strlen(name));
}

const struct vs_policy *vs_policy_of_trace(const char *text)
{
    static const char caching[] = "caching";
    size_t length = strlen(text), prefix = sizeof caching - 1;
    if (strncmp(text, caching, prefix) != 0)
        return NULL;
    if (length == prefix)
        return vs_policies[0];
    text += prefix;
    length -= prefix;
    return length > 3 && text[0] == ' ' && text[1] == '(' && text[length - 1] == ')'
               ? find(text + 2, length - 3)
               : NULL;
}

uint64_t vs_policy_device_bytes(const struct vs_policy *policy, uint64_t bytes)
{
    if (bytes > UINT64_MAX / 2)
        return bytes;
    return policy && !policy->mapped ? vs_segment_size(bytes)
                                     : (bytes + VS_PAGE_BYTES - 1) & ~(VS_PAGE_BYTES - 1);
}
