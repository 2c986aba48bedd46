/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that another process opens. The exporter fills every block with a pattern of its own and
 * does as NCCL and UCX do: it queries the range around a pointer, exports that and sends the offset
 * along. The importer checks every byte and prints the number of wrong ones; exports may be
 * refused, but no byte may be wrong. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "victim.h"

VICTIM("sharing")

#define PEER "SHARING_VICTIM_PEER"
enum { BLOCKS = 12, KEPT_MAX = 64 };

struct request {
    char what; /* read, write, keep, look (check the kept ones again), close (all kept) */
    unsigned char value;
    CUipcMemHandle handle;
    size_t offset, bytes;
};

struct reply {
    int error;
    long wrong;  /* bytes that are not the value */
    long others; /* look: bytes equal to the value, which belong to another block */
    int same;    /* the address is the same as at the opening before */
};

/* --- the importer --- */

static struct {
    CUdeviceptr opened;
    size_t offset, bytes;
} kept[KEPT_MAX];
static int kept_count;

/* An allocation opened again has the same address: it counts once in the tally. */
static struct {
    CUdeviceptr p;
    int times;
} openings[KEPT_MAX];

static int close_one(CUdeviceptr p)
{
    int error = (int)cuIpcCloseMemHandle(p);
    for (int i = 0; !error && i < KEPT_MAX; i++)
        if (openings[i].p == p && openings[i].times && !--openings[i].times)
            tally_free(VT_IPC);
    return error;
}

static long count_bytes(CUdeviceptr p, size_t bytes, unsigned char value)
{
    unsigned char *host = malloc(bytes);
    long n = 0;
    CHECK(host);
    OK(cuMemcpyDtoH(host, p, bytes));
    if (host[0] == value && memcmp(host, host + 1, bytes - 1) == 0)
        n = (long)bytes;
    else
        for (size_t i = 0; i < bytes; i++)
            n += host[i] == value;
    free(host);
    return n;
}

static void open_one(const struct request *q, struct reply *r)
{
    static CUdeviceptr last;
    CUdeviceptr p = 0;
    int at = -1;
    r->error = (int)cuIpcOpenMemHandle(&p, q->handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (r->error)
        return;
    for (int i = KEPT_MAX - 1; i >= 0; i--)
        if (openings[i].p == p || (!openings[i].times && (at < 0 || openings[at].p != p)))
            at = i;
    CHECK(at >= 0);
    openings[at].p = p;
    if (!openings[at].times++)
        tally_alloc(VT_IPC, (int64_t)(q->offset + q->bytes));
    r->same = p == last;
    last = p;
    r->wrong = (long)q->bytes - count_bytes(p + q->offset, q->bytes, q->value);
    if (q->what == 'k') {
        CHECK(kept_count < KEPT_MAX);
        kept[kept_count].opened = p;
        kept[kept_count].offset = q->offset;
        kept[kept_count++].bytes = q->bytes;
        return;
    }
    if (q->what == 'w') {
        OK(cuMemsetD8(p + q->offset, (unsigned char)(q->value + 100), q->bytes));
        OK(cuCtxSynchronize());
    }
    OK(close_one(p));
}

static void import(int socket)
{
    struct request q;
    const char *device = getenv("SHARING_VICTIM_DEVICE");
    OK(cudaSetDevice(device ? atoi(device) : 0));
    OK(cudaFree(NULL));
    while (recv(socket, &q, sizeof q, 0) == (ssize_t)sizeof q) {
        struct reply r = {0};
        for (int i = 0; q.what == 'l' && i < kept_count; i++)
            r.others += count_bytes(kept[i].opened + kept[i].offset, kept[i].bytes, q.value);
        for (; q.what == 'c' && kept_count > 0 && !r.error; kept_count--)
            r.error = close_one(kept[kept_count - 1].opened);
        if (strchr("rwk", q.what))
            open_one(&q, &r);
        if (q.what == '1') /* of a kept one, once */
            r.error = close_one(kept[0].opened);
        CHECK(send(socket, &r, sizeof r, MSG_NOSIGNAL) == (ssize_t)sizeof r);
    }
}

/* --- both --- */

static int peer_socket, peer_pid;

/* *work* beside another process of the same case, which imports: with *setting* in its environment,
 * and without vramscope if *foreign*. */
static void exchange(const char *setting, int foreign, void (*work)(void))
{
    int ends[2];
    char number[16];
    if (getenv(PEER)) {
        import(atoi(getenv(PEER)));
        return;
    }
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    fflush(stdout);
    peer_pid = fork();
    if (!peer_pid) {
        snprintf(number, sizeof number, "%d", ends[1]);
        close(ends[0]);
        setenv(PEER, number, 1);
        if (setting)
            putenv((char *)setting);
        if (foreign) {
            unsetenv("LD_PRELOAD");
            unsetenv("VICTIM_TALLY");
        }
        execl("/proc/self/exe", "peer", victim_name, (char *)NULL);
        _exit(97);
    }
    CHECK(peer_pid > 0);
    close(ends[1]);
    peer_socket = ends[0];
    OK(cudaSetDevice(0));
    OK(cudaFree(NULL));
    work();
    close(peer_socket);
    CHECK(status_of(peer_pid) == 0);
}

static struct reply ask(const struct request *q)
{
    struct reply r;
    CHECK(send(peer_socket, q, sizeof *q, MSG_NOSIGNAL) == (ssize_t)sizeof *q);
    CHECK(recv(peer_socket, &r, sizeof r, 0) == (ssize_t)sizeof r);
    return r;
}

/* --- the exporter --- */

static const size_t sizes[BLOCKS] = {1000,    512,     5000,    MIB - 24, 3 * MIB,  3 * MIB,
                                     MIB, 300,     4 * MIB, 11 * MIB, 70 * 512, 2 * MIB};
static CUdeviceptr blocks[BLOCKS];
static unsigned char values[BLOCKS];

static void take(int i, unsigned char value)
{
    ALLOCATES(VT_DEVICE, sizes[i], cuMemAlloc(&blocks[i], sizes[i]));
    values[i] = value;
    OK(cuMemsetD8(blocks[i], value, sizes[i]));
    OK(cuCtxSynchronize());
}

static void give(int i)
{
    FREES(VT_DEVICE, cuMemFree(blocks[i]));
}

static void check_all(void)
{
    for (int i = 0; i < BLOCKS; i++)
        CHECK(count_bytes(blocks[i], sizes[i], values[i]) == (long)sizes[i]);
}

/* Exports a pointer into the block: false if that is refused. */
static int share(int i, char what, struct reply *r)
{
    CUdeviceptr p = blocks[i] + sizes[i] / 3, base;
    size_t bytes;
    struct request q = {.what = what, .value = values[i]};
    OK(cuMemGetAddressRange(&base, &bytes, p));
    CHECK(base == blocks[i] && bytes == sizes[i]);
    CUresult e = cuIpcGetMemHandle(&q.handle, base);
    if (e) {
        CHECK(e == CUDA_ERROR_NOT_SUPPORTED);
        return 0;
    }
    q.offset = p - base;
    q.bytes = bytes - q.offset;
    if (what == 'w') /* all of it */
        q.offset = 0, q.bytes = bytes;
    *r = ask(&q);
    if (!r->error) {
        CHECK(r->wrong == 0);
        if (what == 'w')
            values[i] = (unsigned char)(values[i] + 100);
    }
    return 1;
}

/* Number of blocks that the importer received. */
static int share_all(void)
{
    struct reply r;
    int had = 0;
    for (int i = 0; i < BLOCKS; i++) {
        int ok = share(i, 'r', &r) && !r.error;
        if (ok)
            CHECK(share(i, 'w', &r) && !r.error);
        had += ok;
    }
    check_all(); /* only the bytes to be changed were changed, each to its own value */
    return had;
}

/* A round with the first blocks, then with those that reuse freed memory. */
static void rounds(void)
{
    for (int i = 0; i < BLOCKS; i++)
        take(i, (unsigned char)(i + 1));
    printf("at first %d of %d\n", share_all(), BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        give(i);
    for (int i = BLOCKS - 1; i >= 0; i--)
        take(i, (unsigned char)(i + 50));
    int had = share_all();
    CHECK(had == BLOCKS);
    printf("then %d\n", had);
    for (int i = 0; i < BLOCKS; i += 2)
        give(i);
    for (int i = 0; i < BLOCKS; i += 2)
        take(i, (unsigned char)(i + 80));
    CHECK(share_all() == BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        give(i);
}

/* The first block of a segment is opened by the driver's handle, with the whole segment. */
#define SHARED (VF_CHILDREN | VF_LARGER)
#define ALWAYS ENV("VRAMSCOPE_IPC=always")
#define COMPACT ENV("VRAMSCOPE_POLICY=compact")

CASE_OF(every_block, exchange(NULL, 0, rounds),
        "IPC: blocks of all sizes, by range and offset, new and reused", SHARED)
CASE_OF(importer_observes, exchange("VRAMSCOPE_ALLOCATOR=observe", 0, rounds),
        "IPC: the importer is observed", SHARED)
CASE_OF(importer_caches, exchange("VRAMSCOPE_ALLOCATOR=caching", 0, rounds),
        "IPC: the importer uses the caching allocator", SHARED)
CASE_OF(another_device, exchange("SHARING_VICTIM_DEVICE=1", 0, rounds),
        "IPC: the importer works on another device", SHARED, SIMULATE("t4-16g,devices=2"))
CASE_OF(importer_alone, exchange(NULL, 1, rounds), "IPC: the importer runs without vramscope",
        SHARED,
        REFUSED(CACHING, "opens blocks that start a segment and, after the first export, all; "
                         "the driver refuses other handles"))

AGAIN(importer_alone_always, importer_alone,
      "IPC: the importer runs without vramscope, --ipc=always", SHARED, ALWAYS)
AGAIN(importer_alone_compact, importer_alone,
      "IPC: the importer runs without vramscope, policy compact, --ipc=always",
      SHARED | VF_CACHING_ONLY, ALWAYS, COMPACT)

/* libucp exports the memory that the program allocates. */
static void rounds_beside_ucp(void)
{
    CHECK(dlopen(beside("libucp.so"), RTLD_NOW) != NULL);
    rounds();
}

CASE_OF(library_loaded, exchange(NULL, 1, rounds_beside_ucp),
        "IPC: the importer runs without vramscope, policy compact, libucp is loaded",
        SHARED | VF_CACHING_ONLY, COMPACT)

AGAIN(compact, every_block, "IPC: policy compact", SHARED | VF_CACHING_ONLY, COMPACT,
      STDERR_HAS("--ipc=always"),
      REFUSED(CACHING, "mapped memory is refused until the first export; use --ipc=always"))
AGAIN(compact_always, every_block, "IPC: policy compact, --ipc=always", SHARED | VF_CACHING_ONLY,
      ALWAYS, COMPACT)

static void free_while_open(void)
{
    enum { LATER = 40 };
    struct reply r;
    struct request look = {.what = 'l', .value = 200}, close_all = {.what = 'c'};
    CUdeviceptr later[LATER];
    int had = 0;
    for (int i = 0; i < BLOCKS; i++)
        take(i, (unsigned char)(i + 1));
    for (int i = 0; i < BLOCKS; i++)
        had += share(i, 'k', &r) && !r.error;
    for (int i = 0; i < BLOCKS; i++)
        give(i);
    for (int i = 0; i < LATER; i++) {
        ALLOCATES(VT_DEVICE, sizes[i % BLOCKS], cuMemAlloc(&later[i], sizes[i % BLOCKS]));
        OK(cuMemsetD8(later[i], 200, sizes[i % BLOCKS]));
    }
    OK(cuCtxSynchronize());
    r = ask(&look);
    printf("had %d\n", had);
    /* CUDA does not define what an importer sees then, and the simulated driver reuses the memory;
     * cached memory is not reused */
    const char *preload = getenv("LD_PRELOAD");
    CHECK(r.others == 0 || !preload || !strstr(preload, "libvramscope"));
    for (int i = 0; i < LATER; i++)
        FREES(VT_DEVICE, cuMemFree(later[i]));
    r = ask(&close_all);
    printf("closed: %d\n", r.error);
}

CASE_OF(freed_while_open, exchange(NULL, 0, free_while_open),
        "IPC: freed by the exporter while open; the importer never sees another block",
        SHARED | VF_CACHING_ONLY)

AGAIN(freed_while_open_always, freed_while_open,
      "IPC: freed by the exporter while open, --ipc=always", SHARED | VF_CACHING_ONLY, ALWAYS)

static void open_twice(void)
{
    struct reply first, again;
    struct request once = {.what = '1'};
    CUipcMemHandle one, two;
    for (int i = 0; i < BLOCKS; i++)
        take(i, (unsigned char)(i + 1));
    OK(cuIpcGetMemHandle(&one, blocks[5]));
    OK(cuIpcGetMemHandle(&two, blocks[5] + 100));
    printf("same handle: %d\n", memcmp(&one, &two, sizeof one) == 0);
    OK(cuIpcGetMemHandle(&two, blocks[4]));
    printf("as another's: %d\n", memcmp(&one, &two, sizeof one) == 0);
    CHECK(share(5, 'k', &first) && share(5, 'k', &again));
    printf("opened %d, again %d, at the same address %d\n", first.error, again.error, again.same);
    printf("closed %d", ask(&once).error);
    printf(", wrong meanwhile %d", share(5, 'r', &first) ? (int)first.wrong : -1);
    printf(", closed %d", ask(&once).error);
    printf(", once more %d\n", ask(&once).error);
    CHECK(share(5, 'w', &first));
    check_all();
    CUipcMemHandle nothing;
    printf("of freed memory:");
    give(5);
    printf(" %d\n", (int)cuIpcGetMemHandle(&nothing, blocks[5]));
    CUdeviceptr p = 0;
    memset(&nothing, 0, sizeof nothing);
    printf("no handle: %d\n", (int)cuIpcOpenMemHandle(&p, nothing, 1));
    printf("our own: %d\n", (int)cuIpcOpenMemHandle(&p, two, 1));
    for (int i = 0; i < BLOCKS; i++)
        if (i != 5)
            give(i);
}

CASE_OF(opened_twice, exchange(NULL, 0, open_twice),
        "IPC: a handle opened twice and closed too often; invalid handles", SHARED, INJECTED)

static void send_event(void)
{
    CUipcEventHandle handle;
    CUevent event;
    char word;
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cuIpcGetEventHandle(&handle, event));
    OK(cuEventRecord(event, NULL));
    CHECK(send(peer_socket, &handle, sizeof handle, MSG_NOSIGNAL) == (ssize_t)sizeof handle);
    CHECK(recv(peer_socket, &word, 1, 0) == 1);
    puts("waited for");
}

/* Not changed by us: an event of this process, waited for in the other. */
CASE(events, "IPC: events", SHARED)
{
    if (!getenv(PEER)) {
        exchange(NULL, 0, send_event);
        return;
    }
    int socket = atoi(getenv(PEER));
    CUipcEventHandle handle;
    CUevent event;
    OK(cudaFree(NULL));
    CHECK(recv(socket, &handle, sizeof handle, 0) == (ssize_t)sizeof handle);
    OK(cuIpcOpenEventHandle(&event, handle));
    OK(cuEventSynchronize(event));
    CHECK(send(socket, "", 1, MSG_NOSIGNAL) == 1);
}
