/* SPDX-License-Identifier: Apache-2.0
 *
 * Legacy interprocess communication, internal: the shared state of events (drv_ipc_event.c), which
 * drv_event.c uses for events created with CU_EVENT_INTERPROCESS, and opened memory (drv_ipc.c).
 * Handles contain a process and its descriptors; another process reaches them through /proc, so
 * both must see the same processes and run as the same user. */
#ifndef VS_SIM_IPC_H
#define VS_SIM_IPC_H

#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

/* ---- events ---- */

struct vs_sim_ipc_slot; /* in memory shared by all processes that use the event */

struct vs_sim_event_share { /* the shared part of an event */
    struct vs_sim_ipc_slot *slot; /* NULL: the event is not shared */
    uint32_t index, life;         /* of the slot, in its process */
    bool foreign;                 /* opened, not created here */
    uint64_t base;                /* records up to this one are of an earlier use */
};

/* vs_sim_ipc_slot_new: a slot for a new event. Returns false if there is none. */
bool vs_sim_ipc_slot_new(struct vs_sim_event_share *share);
void vs_sim_ipc_slot_free(const struct vs_sim_event_share *share);
/* vs_sim_ipc_slot_record: starts a record by this process and returns its number. */
uint64_t vs_sim_ipc_slot_record(struct vs_sim_ipc_slot *slot);
/* vs_sim_ipc_slot_done: the stream has reached that record. Wakes all processes. */
void vs_sim_ipc_slot_done(struct vs_sim_ipc_slot *slot, uint64_t record);
/* vs_sim_ipc_slot_newest: the newest record by any process; 0: never recorded. */
uint64_t vs_sim_ipc_slot_newest(const struct vs_sim_event_share *share);
/* vs_sim_ipc_slot_passed: is that record complete, or its process dead? */
bool vs_sim_ipc_slot_passed(struct vs_sim_ipc_slot *slot, uint64_t record);
/* vs_sim_ipc_slot_wait: returns when it is, or when the waiting context fails. */
void vs_sim_ipc_slot_wait(struct vs_sim_ipc_slot *slot, uint64_t record,
                          const struct vs_sim_context *waiter);

/* vs_sim_event_shared: the shared part of an event. Returns false if the event does not exist or
 * was not created for sharing (drv_event.c). */
bool vs_sim_event_shared(CUevent handle, struct vs_sim_event_share *share);
/* vs_sim_event_open: an event of *ctx* with that shared part. */
CUevent vs_sim_event_open(struct vs_sim_context *ctx, const struct vs_sim_event_share *share);

/* ---- memory ---- */

/* vs_sim_ipc_discard: *range* is freed; its exports become invalid. */
void vs_sim_ipc_discard(const struct vs_sim_range *range);
/* vs_sim_ipc_unmap: releases the mapping behind an OPENED range after its removal. */
void vs_sim_ipc_unmap(const struct vs_sim_range *range);

/* ---- both ---- */

/* vs_sim_ipc_open_file: a descriptor of file *fd* of process *pid*, if it has this inode and kind;
 * -1 otherwise. */
int vs_sim_ipc_open_file(int pid, int fd, uint64_t inode, enum vs_sim_store_kind kind, int flags);
/* vs_sim_ipc_inode: 0 if *fd* is not open. */
uint64_t vs_sim_ipc_inode(int fd);
/* vs_sim_ipc_alive: does process *pid* run? */
bool vs_sim_ipc_alive(int pid);

#endif
