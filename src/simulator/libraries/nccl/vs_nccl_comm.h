/* SPDX-License-Identifier: Apache-2.0
 *
 * One rank of a communicator inside this process, and what the files of this stand-in share. A
 * handle points to a member; work that is queued or captured in a graph keeps the
 * member, so that a replay after the communicator's end finds it stopped, not freed. */
#ifndef VS_NCCL_COMM_H
#define VS_NCCL_COMM_H

#include <pthread.h>

#include "base/vs_err.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nccl/vs_nccl_api.h"
#include "simulator/libraries/nccl/vs_nccl_segment.h"

VS_NCCL_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { VS_NCCL_HANDLE = 1, VS_NCCL_REGISTRATION, VS_NCCL_WINDOW };

#define VS_NCCL_USER_OPS 64

struct vs_nccl_user_op {
    bool live, on_device; /* the scalar is read from the device when the work runs */
    int type;
    unsigned char value[8];
    const void *address;
};

struct vs_nccl_member {
    atomic_int references;
    struct vs_nccl_segment *segment; /* NULL if this rank is alone */
    struct vs_nccl_door door;
    struct vs_nccl_key key;
    int rank, count;
    CUdevice device;
    CUcontext context;
    bool blocking;
    atomic_int error;   /* the asynchronous error; ncclInProgress until it is initialised */
    atomic_bool stopped; /* aborted, destroyed or revoked: nothing waits any more */
    uint64_t posted;    /* exchanges of control data; used by one thread at a time */
    uint32_t splits, shrinks;
    uint64_t performed; /* collectives, by the thread of the stream that runs them */
    pthread_mutex_t mu;
    pthread_cond_t idle;
    int in_flight;      /* queued work; guarded by mu */
    pthread_mutex_t order;  /* held while work is queued; guards what follows up to user_ops */
    struct vs_nccl_last {   /* [1]: work of a capture; its number, for [0] 0 */
        CUstream stream;
        CUevent event;      /* recorded after it */
        cuuint64_t capture;
    } last[2];
    CUdeviceptr *buffers;   /* buffer_count of them */
    size_t buffer_count, buffer_bytes, suspended_bytes;
    bool initialised, collective; /* what was connected already */
    unsigned char *connected;     /* [count] to each peer: send 1, receive 2 */
    unsigned far;                 /* the same of peers on other nodes, which share buffers */
    int near_low, near_end;       /* the ranks on this node: of a rank alone, else all */
    struct vs_nccl_user_op user_ops[VS_NCCL_USER_OPS]; /* guarded by mu */
    struct vs_nccl_key grow_key;
    bool grow_key_made;
};

struct ncclComm {
    struct vs_nccl_member *member;
};

/* ---- communicators (nccl_comm.c) ---- */

/* vs_nccl_member_of: the member behind a handle; NULL, with the error text set, if it is none. */
struct vs_nccl_member *vs_nccl_member_of(const struct ncclComm *comm, const char *function);
/* vs_nccl_ready: ncclSuccess if the communicator can be used, else its error. */
int vs_nccl_ready(struct vs_nccl_member *m, const char *function);
void vs_nccl_keep(struct vs_nccl_member *m);
void vs_nccl_release(struct vs_nccl_member *m);

/* Rows of nccl.calls: an int of the member, in which *at* is; a communicator of a unique id; its end. */
int vs_nccl_answer(const struct ncclComm *comm, int *out, size_t at, const char *function);
int vs_nccl_init(struct ncclComm **out, int count, const ncclUniqueId *id, int rank,
                 const ncclConfig_t *config, const char *function);
int vs_nccl_end(struct ncclComm *comm, enum vs_nccl_left how, const char *function);

/* ---- errors (nccl_error.c) ---- */

/* vs_nccl_fail: keeps the text for ncclGetLastError and returns *result*. */
int vs_nccl_fail(int result, const char *format, ...) VS_PRINTF(2, 3);
/* vs_nccl_stop_with: the same for an error that ends the communicator: it is printed, and answered by
 * ncclCommGetAsyncError from now on. The first one counts. */
int vs_nccl_stop_with(struct vs_nccl_member *m, int result, const char *format, ...) VS_PRINTF(3, 4);
/* vs_nccl_cuda: translates the driver's result. */
int vs_nccl_cuda(CUresult result, const char *what);

/* ---- waiting and bytes between ranks (nccl_channel.c) ---- */

/* What the sender says before its bytes. */
struct vs_nccl_message {
    uint32_t magic;
    int32_t kind, type, op, root;
    uint32_t reserved;
    uint64_t count, carried, number; /* elements; bytes that follow; of the collective */
    unsigned char unused[16];
};
_Static_assert(sizeof(struct vs_nccl_message) == 64, "rings hold whole messages");

struct vs_nccl_transfer {
    int peer;
    bool sending, began, finished;
    struct vs_nccl_message message; /* to send, or expected */
    unsigned char *data;
    uint64_t done, end; /* bytes moved; the ring's position after the message */
};

/* vs_nccl_transfer_all: moves all bytes; returns when every transfer is finished. */
int vs_nccl_transfer_all(struct vs_nccl_member *m, struct vs_nccl_transfer *list, size_t count);
/* vs_nccl_hold: keeps a stream waiting after an error, as a real kernel would be, until the
 * communicator is aborted or destroyed, but at most for a grace period. */
void vs_nccl_hold(struct vs_nccl_member *m);
/* vs_nccl_post, vs_nccl_collect: every rank posts up to VS_NCCL_CONTROL_BYTES, then collects the
 * bytes of all, *bytes* each. */
uint64_t vs_nccl_post(struct vs_nccl_member *m, const void *data, size_t bytes);
int vs_nccl_collect(struct vs_nccl_member *m, uint64_t number, void *all, size_t bytes);
/* vs_nccl_wait_joined: returns when every rank has joined. */
int vs_nccl_wait_joined(struct vs_nccl_member *m);

/* ---- options (nccl_option.c): VRAMSCOPE_SIMULATE_COLLECTIVES="bytes=1MiB,timeout=1800" ---- */

struct vs_nccl_options {
    bool alone;          /* VRAMSCOPE_SIMULATE_ALONE: no other rank exists; they may be any number */
    uint64_t bytes;      /* largest message that is exchanged */
    uint64_t timeout_ns; /* for ranks that do not arrive */
};
const struct vs_nccl_options *vs_nccl_options(void);

/* ---- numbers (nccl_number.c) ---- */

/* Operations as the ranks carry them out; user-defined ones are sums of scaled values. */
enum { VS_NCCL_SCALED = 5 };

/* vs_nccl_type_bytes: bytes of an element; 0 for an unknown type. */
size_t vs_nccl_type_bytes(int type);
const char *vs_nccl_type_name(int type);
const char *vs_nccl_type_short(int type); /* as in names of kernels */
/* vs_nccl_reduce: combines *ranks* inputs, in their order, into *out*. */
void vs_nccl_reduce(int type, int op, const void *const *inputs, int ranks, size_t count, void *out);
/* vs_nccl_scale: multiplies *count* elements by the scalar of the same type. */
void vs_nccl_scale(int type, const void *scalar, const void *in, size_t count, void *out);

/* ---- collectives (nccl_collective.c) ---- */

enum vs_nccl_kind {
    VS_NCCL_ALL_REDUCE = 1,
    VS_NCCL_ALL_GATHER,
    VS_NCCL_REDUCE_SCATTER,
    VS_NCCL_BROADCAST,
    VS_NCCL_REDUCE,
    VS_NCCL_ALL_TO_ALL,
    VS_NCCL_GATHER,
    VS_NCCL_SCATTER,
    VS_NCCL_SEND,
    VS_NCCL_RECV,
    VS_NCCL_KINDS
};

struct vs_nccl_task {
    enum vs_nccl_kind kind;
    int type, op, root; /* root: also the peer */
    size_t count;       /* elements, as the caller gave them */
    const void *send;
    void *recv;
    unsigned char scalar[8];
    const void *scalar_address; /* on the device, read when the work runs; NULL: scalar */
};

/* A call that moves data, as nccl.calls packs it. */
struct vs_nccl_call {
    const char *name; /* of the function */
    struct ncclComm *comm;
    struct vs_nccl_task task;
    CUstream stream;
};
/* vs_nccl_call: checks the call and queues it in the group of the thread (nccl_calls.c). */
int vs_nccl_call(const struct vs_nccl_call *call);

const char *vs_nccl_kind_name(int kind);
/* vs_nccl_task_bytes: the larger of the bytes that a rank gives and takes. */
uint64_t vs_nccl_task_bytes(const struct vs_nccl_task *task, int count);
/* vs_nccl_perform: carries out the tasks of one group: collectives in order, then all sends and
 * receives together. On the thread of a stream; calls no CUDA function. A rank alone takes the others
 * to have its own data; what only another rank could give leaves the memory as it was. */
int vs_nccl_perform(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count);

/* ---- groups and queues (nccl_group.c, nccl_queue.c) ---- */

/* vs_nccl_enqueue: adds a checked task to the group of this thread, or queues it. */
int vs_nccl_enqueue(struct vs_nccl_member *m, const struct vs_nccl_task *task, CUstream stream);
/* vs_nccl_group_note: an error of a call inside a group fails the group. Returns *e*. */
int vs_nccl_group_note(int e);
/* vs_nccl_queue: queues the tasks of a group on a stream. */
int vs_nccl_queue(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count,
                  const CUstream *streams, size_t stream_count);
/* vs_nccl_cost_ns: the duration of a task on the links between devices. */
double vs_nccl_cost_ns(const struct vs_nccl_member *m, const struct vs_nccl_task *task);
/* vs_nccl_drain: waits until no work of *m* is queued. */
void vs_nccl_drain(struct vs_nccl_member *m);

/* A communicator that is being made. */
struct vs_nccl_join {
    struct ncclComm **out;
    struct ncclComm *made;
    struct vs_nccl_member *parent; /* of a split or growth, else NULL */
    struct vs_nccl_key key;
    int rank, count;
    int near_low, near_end;        /* as in the member; 0, 0: all */
    int color, sort;               /* of a split */
    enum { VS_NCCL_INIT, VS_NCCL_SPLIT, VS_NCCL_GROW } how;
    uint64_t posted;
    bool blocking, has_key;
    CUdevice device;
    CUcontext context;
};
/* vs_nccl_join: makes it, at the end of the group if there is one. */
int vs_nccl_join(const struct vs_nccl_join *join);
/* vs_nccl_joins_run: makes several at once, for one thread with several devices. */
int vs_nccl_joins_run(struct vs_nccl_join *joins, size_t count);

/* ---- device memory (nccl_memory.c) ---- */

/* vs_nccl_buffers_make: the device memory of the connections that *tasks* need and *m* does not have
 * yet; NCCL makes them at their first use, too. The member's context is current, its order held. */
int vs_nccl_buffers_make(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count);
void vs_nccl_buffers_free(struct vs_nccl_member *m);
/* Rows of nccl.calls: buffers and windows; *kind*: VS_NCCL_REGISTRATION or VS_NCCL_WINDOW. */
int vs_nccl_register(struct ncclComm *comm, void *address, size_t bytes, int kind, void *out,
                     const char *function);
int vs_nccl_deregister(struct ncclComm *comm, void *handle, int kind, const char *function);

#endif
