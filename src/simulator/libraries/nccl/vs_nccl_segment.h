/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory in which the ranks of one communicator meet: a memfd. The first rank that arrives
 * binds an abstract socket named after the unique id, over which it sends the memfd to the others, so
 * that nothing is left behind when a process is killed. It holds a record for each rank, and a ring of
 * bytes for each ordered pair of ranks. Unused pages take no memory. */
#ifndef VS_NCCL_SEGMENT_H
#define VS_NCCL_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_NCCL_KEY_BYTES 16
#define VS_NCCL_RANKS_MAX 1024
#define VS_NCCL_CONTROL_BYTES 64

struct vs_nccl_key {
    unsigned char bytes[VS_NCCL_KEY_BYTES];
};

/* Why a rank no longer takes part. */
enum vs_nccl_left {
    VS_NCCL_PRESENT,
    VS_NCCL_DESTROYED,
    VS_NCCL_ABORTED,
    VS_NCCL_FAILED, /* stopped after an error */
};

struct vs_nccl_rank {
    _Atomic uint32_t bell;     /* a futex: counts changes that concern this rank */
    _Atomic uint32_t sleepers; /* threads of the rank that wait for it */
    _Atomic uint32_t taken;    /* 1 once a process uses this rank's number */
    _Atomic uint32_t joined;   /* 1 once pid, namespace, started and bus are written */
    _Atomic uint32_t left;     /* enum vs_nccl_left */
    _Atomic uint64_t posted;     /* exchanges of control data that this rank has posted */
    int32_t pid;
    uint64_t namespace;        /* of pid: as its number in /proc, 0 unknown */
    uint64_t started;          /* of the process, in clock ticks after boot */
    char bus[16];              /* PCI address of its device */
    unsigned char control[2][VS_NCCL_CONTROL_BYTES]; /* by the parity of the exchange */
};

struct vs_nccl_ring {
    _Alignas(64) _Atomic uint64_t head; /* bytes written since the beginning */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read */
};

struct vs_nccl_segment {
    uint32_t count, ring_bytes; /* ranks; bytes of a ring, a power of two */
    size_t bytes;
    struct vs_nccl_rank ranks[];
};

struct vs_nccl_door { /* of the first rank: later ones connect to it */
    bool open;
    int listener; /* of a thread, which closes it once it is shut */
};

/* vs_nccl_segment_join: maps the segment of *key*, as rank *rank* of *count*; the first one makes it, and
 * opens *door*. *wait_ns*: how long to try. *text*: a buffer of *text_bytes* for the reason. NULL after an
 * error. The rank's record is not written yet. */
struct vs_nccl_segment *vs_nccl_segment_join(const struct vs_nccl_key *key, int count, int rank,
                                             uint64_t wait_ns, struct vs_nccl_door *door, char *text,
                                             size_t text_bytes);
/* vs_nccl_segment_shut: no rank may join any more. */
void vs_nccl_segment_shut(struct vs_nccl_door *door);
void vs_nccl_segment_leave(struct vs_nccl_segment *segment);

/* The ring from rank *from* to rank *to*, and its bytes. */
struct vs_nccl_ring *vs_nccl_ring_of(struct vs_nccl_segment *segment, int from, int to);
unsigned char *vs_nccl_ring_bytes(struct vs_nccl_segment *segment, int from, int to);

/* vs_nccl_bell_ring: wakes the threads of *rank*. */
void vs_nccl_bell_ring(struct vs_nccl_rank *rank);
/* vs_nccl_bell_sleep: returns when the bell of *rank* differs from *seen*, or after *ms*. */
void vs_nccl_bell_sleep(struct vs_nccl_rank *rank, uint32_t seen, unsigned ms);

/* vs_nccl_process_start: when process *pid* started; 0 if it has ended. */
uint64_t vs_nccl_process_start(int pid);

#endif
