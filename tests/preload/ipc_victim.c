/* SPDX-License-Identifier: Apache-2.0
 *
 * Two processes that share memory of the stream-ordered entry points by cudaIpcGetMemHandle: this
 * one writes blocks of several sizes, the other reads and changes them. Modes: "all": every block
 * can be exported; "late": some (mapped ones) cannot, and memory requested after the refusal can;
 * "base": "all", and a segment whose first block is free. Exactly the block is exported. Prints "ok"
 * or the first line that was wrong. For memory of cudaMalloc see compat's victim_sharing_ipc. */
#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "check_line.h"
#define PEER_ROLE "IPC_VICTIM_PEER" /* a name with VRAMSCOPE_ would be treated as an option */
#include "simulator/conformance/conf_peer.h"
#include "vramscope.h"

#define BLOCKS 12

struct message {
    cudaIpcMemHandle_t handle;
    size_t bytes;
    unsigned char value;
};

static const size_t sizes[BLOCKS] = {1000,    512,     5000,    MIB - 24, 3 * MIB,  3 * MIB,
                                     9 * MIB, 300,     4 * MIB, 25 * MIB, 70 * 512, 2 * MIB};
static void *blocks[BLOCKS];
static int refused;

static bool holds(const void *p, size_t bytes, unsigned char value)
{
    unsigned char *host = malloc(bytes);
    CHECK(host && cudaMemcpy(host, p, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    bool all = host[0] == value && memcmp(host, host + 1, bytes - 1) == 0;
    free(host);
    return all;
}

/* --- the other process --- */

static void import(int socket)
{
    struct message m;
    char word = 0;
    while (peer_receive(socket, &m, sizeof m, NULL) == 0 && m.bytes) {
        void *p;
        PEER(cudaIpcOpenMemHandle(&p, m.handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess);
        PEER(holds(p, m.bytes, m.value));
        PEER(cudaMemset(p, m.value + 100, m.bytes) == cudaSuccess);
        PEER(cudaDeviceSynchronize() == cudaSuccess && cudaIpcCloseMemHandle(p) == cudaSuccess);
        PEER(peer_send(socket, &word, 1, -1) == 0);
    }
}

/* --- this one --- */

static void *get(size_t bytes)
{
    void *p = vramscope_torch_alloc(bytes, 0, NULL);
    CHECK(p);
    return p;
}

static void put(void *p)
{
    vramscope_torch_free(p, 0, 0, NULL);
}

static void fill(int i)
{
    CHECK(cudaMemset(blocks[i], i + 1, sizes[i]) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

static void get_all(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = get(sizes[i]);
        fill(i);
    }
}

static void share(const struct peer *peer, int i)
{
    struct message m = {.bytes = sizes[i], .value = (unsigned char)(i + 1)};
    char word;
    cudaError_t err = cudaIpcGetMemHandle(&m.handle, blocks[i]);
    if (err) {
        CHECK(err == cudaErrorNotSupported && cudaGetLastError() == err);
        refused++;
        return;
    }
    CHECK(peer_send(peer->socket, &m, sizeof m, -1) == 0);
    CHECK(peer_receive(peer->socket, &word, 1, NULL) == 0);
    for (int j = 0; j < BLOCKS; j++) /* this one was changed, and no other */
        CHECK(holds(blocks[j], sizes[j], (unsigned char)(j + 1 + (j == i ? 100 : 0))));
    fill(i);
}

/* All blocks can be shared, including those in reused memory. */
static void share_all(const struct peer *peer)
{
    get_all();
    refused = 0;
    for (int i = 0; i < BLOCKS; i++)
        share(peer, i);
    for (int i = 0; i < BLOCKS; i += 2)
        put(blocks[i]);
    for (int i = BLOCKS - 2; i >= 0; i -= 2) {
        blocks[i] = get(sizes[i]);
        fill(i);
    }
    for (int i = 0; i < BLOCKS; i++)
        share(peer, i);
    CHECK(refused == 0);
    for (int i = 0; i < BLOCKS; i++)
        put(blocks[i]);
}

static void share_late(const struct peer *peer)
{
    get_all();
    for (int i = 0; i < BLOCKS; i++)
        share(peer, i);
    CHECK(refused > 0);
    for (int i = 0; i < BLOCKS; i++)
        put(blocks[i]);
}

/* PyTorch exports the segment and sends the offset, even if its first block is free. */
static void share_base(void)
{
    cudaIpcMemHandle_t handle;
    size_t bytes = 0;
    void *first = get(MIB + 512), *second = get(MIB + 512);
    void *base = vramscope_torch_base_alloc(second, &bytes);
    CHECK(base == first && bytes > 2 * MIB);
    put(first);
    CHECK(cudaIpcGetMemHandle(&handle, base) == cudaSuccess);
    put(second);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {{"import", import}};
    peer_run(roles, 1, argc, argv);
    CHECK(argc > 1);
    struct peer peer = peer_start("import");
    struct message end = {.bytes = 0};
    CHECK(peer.pid > 0);
    CHECK(cudaFree(NULL) == cudaSuccess);
    if (strcmp(argv[1], "base") == 0)
        share_base();
    if (strcmp(argv[1], "late") == 0)
        share_late(&peer);
    share_all(&peer);
    CHECK(peer_send(peer.socket, &end, sizeof end, -1) == 0);
    CHECK(peer_end(&peer) == 0);
    puts("ok");
    return 0;
}
