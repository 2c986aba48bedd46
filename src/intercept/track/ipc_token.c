/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout, integers little-endian: magic (6 bytes), checksum of all the rest (2), four bytes of ones
 * where NVIDIA's driver stores the process number, offset / 512 (4), bytes (5), a bit mask of the
 * driver handle's non-zero bytes (8), and those bytes (35 at most). A handle of driver 580 has
 * about 22 of them. */
#include "intercept/track/ipc_token.h"

#include <string.h>

#define MAGIC "\xff" "VsIp\x01"
enum {
    AT_CHECKSUM = 6,
    AT_ONES = 8,
    AT_OFFSET = 12,
    AT_BYTES = 16,
    AT_MASK = 21,
    AT_REST = 29,
    TOKEN_BYTES = 64,
    GRANULE = 512,
};
_Static_assert(sizeof(CUipcMemHandle) == TOKEN_BYTES, "the handle's size is part of CUDA's ABI");

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* FNV-1a, folded. */
static uint64_t checksum(const unsigned char *t)
{
    uint32_t sum = 2166136261u;
    for (int i = AT_ONES; i < TOKEN_BYTES; i++)
        sum = (sum ^ t[i]) * 16777619u;
    return (sum >> 16 ^ sum) & 0xffff;
}

bool vs_ipc_token_make(const struct vs_ipc_token *token, CUipcMemHandle *out)
{
    unsigned char t[TOKEN_BYTES] = MAGIC, from[TOKEN_BYTES];
    uint64_t mask = 0, granules = token->offset / GRANULE;
    int at = AT_REST;
    if (token->offset % GRANULE || granules >> 32 || token->bytes >> 40)
        return false;
    memcpy(from, &token->handle, sizeof from);
    for (int i = 0; i < TOKEN_BYTES; i++) {
        if (!from[i])
            continue;
        if (at == TOKEN_BYTES)
            return false;
        mask |= UINT64_C(1) << i;
        t[at++] = from[i];
    }
    put(t + AT_ONES, 0xffffffff, 4);
    put(t + AT_OFFSET, granules, 4);
    put(t + AT_BYTES, token->bytes, 5);
    put(t + AT_MASK, mask, 8);
    put(t + AT_CHECKSUM, checksum(t), 2);
    memcpy(out, t, sizeof t);
    return true;
}

bool vs_ipc_token_read(const CUipcMemHandle *handle, struct vs_ipc_token *out)
{
    unsigned char t[TOKEN_BYTES], to[TOKEN_BYTES] = {0};
    memcpy(t, handle, sizeof t);
    if (memcmp(t, MAGIC, sizeof MAGIC - 1) != 0 || get(t + AT_ONES, 4) != 0xffffffff ||
        get(t + AT_CHECKSUM, 2) != checksum(t))
        return false;
    uint64_t mask = get(t + AT_MASK, 8);
    if (__builtin_popcountll(mask) > TOKEN_BYTES - AT_REST)
        return false;
    for (int i = 0, at = AT_REST; i < TOKEN_BYTES; i++) {
        if (mask >> i & 1)
            to[i] = t[at++];
    }
    memcpy(&out->handle, to, sizeof to);
    out->offset = get(t + AT_OFFSET, 4) * GRANULE;
    out->bytes = get(t + AT_BYTES, 5);
    return true;
}
