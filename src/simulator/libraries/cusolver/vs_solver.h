/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the stand-in for cuSOLVER share: the handle, work on its stream, and workspace
 * sizes. Matrices are not factorised: the work takes time on the stream, and the outputs that a
 * program reads back to decide (info, pivots) are set in stream order. */
#ifndef VS_SOLVER_H
#define VS_SOLVER_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusolver/vs_cusolver_api.h"

enum { VS_SOLVER_HANDLE = 1, VS_SOLVER_PARAMS, VS_SOLVER_SYEVJ, VS_SOLVER_GESVDJ };

struct cusolverDnContext {
    CUstream stream;
    int deterministic;
};

/* One call: its dimensions are checked, its operations and bytes become its duration. */
struct vs_solver_call {
    const char *name;
    enum vs_sim_number number;
    double operations; /* of real numbers */
    double elements;   /* read and written, of *element_bytes* */
    unsigned element_bytes;
    int64_t smallest;   /* the smallest of the dimensions: not negative */
    int *info;          /* on the device; NULL: none */
    int64_t info_count;
};

/* vs_solver_run: checks *handle* and the dimensions, queues the work and sets info to 0. Returns a
 * status. */
int vs_solver_run(struct cusolverDnContext *handle, const struct vs_solver_call *call);

/* vs_solver_pivots: sets *count* pivots of *bytes* each (4 or 8) to 1, a valid row, in stream
 * order. */
int vs_solver_pivots(struct cusolverDnContext *handle, void *pivots, int64_t count, unsigned bytes);

/* vs_solver_lu: operations of the LU factorisation of an *m* by *n* matrix of real numbers. */
double vs_solver_lu(int64_t m, int64_t n);

#define VS_SOLVER_KEY_MAX 96

/* vs_solver_workspace_bytes: the size of the workspace of the function *name* for the problem *key*:
 * that of a measured row of the table of sizes, or else *elements*, at least one, which is noted as
 * assumed. */
uint64_t vs_solver_workspace_bytes(const char *name, const char *key, int64_t elements,
                                   unsigned element_bytes);

/* vs_solver_workspace: the same as a number of elements; -1 where it does not fit an int. */
int64_t vs_solver_workspace(const char *name, const char *key, int64_t elements,
                            unsigned element_bytes);

/* vs_solver_type_name: "FP32" and such, for a cudaDataType that vs_solver_number knows. */
const char *vs_solver_type_name(int type);

/* vs_solver_number: what a cudaDataType is computed with; *bytes* and *factor* (4 for complex
 * numbers, whose multiply-add is four) are its size and cost. False for a type that cuSOLVER does
 * not compute with. */
bool vs_solver_number(int type, enum vs_sim_number *number, unsigned *bytes, double *factor);

#endif
