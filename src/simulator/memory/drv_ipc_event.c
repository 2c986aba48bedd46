/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess events. Each process has a memory file of slots, one for each event that it created
 * for sharing; a process that opens an event maps the whole file. A slot counts records and stores
 * the newest ones that streams of any process have reached; waiting uses a futex with a timeout,
 * because the recording process may have died, which releases all waiters. */
#define _GNU_SOURCE /* syscall */
#include "simulator/memory/vs_sim_ipc.h"
#include "simulator/memory/vs_sim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x76734945u
#define SLOTS 4096
#define RECENT 31 /* concurrent records of one event at most */
#define LOOK_AGAIN_NS 20000000

struct vs_sim_ipc_slot {
    atomic_uint_least64_t recorded;
    atomic_uint changed; /* futex */
    atomic_uint life;    /* odd while an event has the slot */
    struct {
        atomic_uint_least64_t done;  /* the newest record in this slot that was reached */
        atomic_uint_least64_t owner; /* low half of the record number, process */
    } recent[RECENT];
};

_Static_assert(sizeof(struct vs_sim_ipc_slot) == 512, "processes share it");

struct event_handle {
    uint32_t magic;
    int32_t pid, fd;
    uint32_t index, life;
    uint64_t inode, base;
};

_Static_assert(sizeof(struct event_handle) <= sizeof(CUipcEventHandle), "has to fit");

struct ipc_event_table { /* of another process; never freed */
    struct ipc_event_table *next;
    int pid;
    uint64_t inode;
    struct vs_sim_ipc_slot *slots;
};

static pthread_mutex_t tables_mu = PTHREAD_MUTEX_INITIALIZER; /* guards the following variables */
static struct vs_sim_ipc_slot *own;                           /* NULL until the first event */
static int own_fd;
static uint32_t own_next;
static struct ipc_event_table *tables;

static struct vs_sim_ipc_slot *table_map(int fd)
{
    void *at = mmap(NULL, SLOTS * sizeof(struct vs_sim_ipc_slot), PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool vs_sim_ipc_slot_new(struct vs_sim_event_share *share)
{
    bool found = false;
    pthread_mutex_lock(&tables_mu);
    if (!own) {
        own_fd = vs_sim_store_new(VS_SIM_STORE_EVENTS, -1, SLOTS * sizeof(struct vs_sim_ipc_slot));
        own = own_fd < 0 ? NULL : table_map(own_fd);
        if (own_fd >= 0 && !own)
            close(own_fd);
    }
    for (uint32_t i = 0; own && i < SLOTS && !found; i++) {
        struct vs_sim_ipc_slot *slot = &own[own_next];
        if (!(atomic_load(&slot->life) & 1)) {
            found = true;
            *share = (struct vs_sim_event_share){.slot = slot,
                                                 .index = own_next,
                                                 .life = atomic_fetch_add(&slot->life, 1) + 1,
                                                 .base = atomic_load(&slot->recorded)};
        }
        own_next = (own_next + 1) % SLOTS; /* a slot is reused as late as possible */
    }
    pthread_mutex_unlock(&tables_mu);
    return found;
}

void vs_sim_ipc_slot_free(const struct vs_sim_event_share *share)
{
    if (share->slot && !share->foreign)
        atomic_fetch_add(&share->slot->life, 1);
}

/* ---- records ---- */

uint64_t vs_sim_ipc_slot_record(struct vs_sim_ipc_slot *slot)
{
    uint64_t record = atomic_fetch_add(&slot->recorded, 1) + 1;
    atomic_store(&slot->recent[record % RECENT].owner, record << 32 | (uint32_t)getpid());
    return record;
}

void vs_sim_ipc_slot_done(struct vs_sim_ipc_slot *slot, uint64_t record)
{
    atomic_uint_least64_t *done = &slot->recent[record % RECENT].done;
    uint64_t was = atomic_load(done);
    while (was < record && !atomic_compare_exchange_weak(done, &was, record))
        ;
    atomic_fetch_add(&slot->changed, 1);
    syscall(SYS_futex, &slot->changed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint64_t vs_sim_ipc_slot_newest(const struct vs_sim_event_share *share)
{
    uint64_t newest = atomic_load(&share->slot->recorded);
    return newest > share->base ? newest : 0;
}

bool vs_sim_ipc_slot_passed(struct vs_sim_ipc_slot *slot, uint64_t record)
{
    if (atomic_load(&slot->recent[record % RECENT].done) >= record)
        return true;
    uint64_t owner = atomic_load(&slot->recent[record % RECENT].owner);
    return owner >> 32 == (uint32_t)record && (int)(uint32_t)owner != getpid() &&
           !vs_sim_ipc_alive((int)(uint32_t)owner);
}

void vs_sim_ipc_slot_wait(struct vs_sim_ipc_slot *slot, uint64_t record,
                          const struct vs_sim_context *waiter)
{
    const struct timespec look_again = {.tv_nsec = LOOK_AGAIN_NS};
    for (;;) {
        unsigned changed = atomic_load(&slot->changed);
        if (vs_sim_ipc_slot_passed(slot, record) || atomic_load(&waiter->fault))
            return;
        syscall(SYS_futex, &slot->changed, FUTEX_WAIT, changed, &look_again, NULL, 0);
    }
}

/* ---- handles ---- */

CUresult cuIpcGetEventHandle_entered(CUipcEventHandle pHandle[static 1], CUevent event)
{
    struct vs_sim_event_share share;
    if (!vs_sim_event_shared(event, &share) || share.foreign)
        return CUDA_ERROR_INVALID_HANDLE;
    struct event_handle h = {.magic = MAGIC,
                             .pid = getpid(),
                             .fd = own_fd,
                             .index = share.index,
                             .life = share.life,
                             .inode = vs_sim_ipc_inode(own_fd),
                             .base = share.base};
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &h, sizeof h);
    return CUDA_SUCCESS;
}

static struct vs_sim_ipc_slot *table_of(const struct event_handle *h)
{
    struct vs_sim_ipc_slot *slots = NULL;
    pthread_mutex_lock(&tables_mu);
    for (struct ipc_event_table *t = tables; t && !slots; t = t->next)
        slots = t->pid == h->pid && t->inode == h->inode ? t->slots : NULL;
    if (!slots) {
        int fd = vs_sim_ipc_open_file(h->pid, h->fd, h->inode, VS_SIM_STORE_EVENTS, O_RDWR);
        slots = fd < 0 ? NULL : table_map(fd);
        if (fd >= 0)
            close(fd);
        struct ipc_event_table t = {tables, h->pid, h->inode, slots};
        if (slots)
            tables = vs_sim_dup(&t, sizeof t);
    }
    pthread_mutex_unlock(&tables_mu);
    return slots;
}

CUresult cuIpcOpenEventHandle_in(struct vs_sim_context *ctx, CUevent phEvent[static 1],
                                 CUipcEventHandle handle)
{
    struct event_handle h;
    memcpy(&h, &handle, sizeof h);
    if (h.magic != MAGIC || h.index >= SLOTS)
        return CUDA_ERROR_INVALID_HANDLE;
    if (h.pid == getpid()) /* for other processes only */
        return CUDA_ERROR_INVALID_CONTEXT;
    struct vs_sim_ipc_slot *slots = vs_sim_ipc_alive(h.pid) ? table_of(&h) : NULL;
    if (!slots || atomic_load(&slots[h.index].life) != h.life)
        return CUDA_ERROR_INVALID_HANDLE; /* its process has ended, or destroyed the event */
    struct vs_sim_event_share share = {.slot = &slots[h.index],
                                       .index = h.index,
                                       .life = h.life,
                                       .foreign = true,
                                       .base = h.base};
    *phEvent = vs_sim_event_open(ctx, &share);
    return CUDA_SUCCESS;
}
