/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/plan/plan_trace.h"

#include <string.h>

static enum vs_err take_alloc(void *ctx, uint64_t block, uint64_t bytes, uint64_t stream)
{
    return vs_planner_alloc(ctx, block, bytes, stream);
}

static enum vs_err take_free(void *ctx, uint64_t block)
{
    enum vs_err err = vs_planner_free(ctx, block);
    return err == VS_ERR_NOT_FOUND ? VS_OK : err; /* a request of 0 bytes */
}

enum vs_err vs_plan_trace_read(struct vs_reader *reader, uint64_t device,
                               struct vs_plan_trace *out)
{
    static const struct vs_whatif_visitor visitor = {take_alloc, take_free};
    struct vs_whatif_query query = {.device = device};
    memset(out, 0, sizeof *out);
    enum vs_err err = vs_whatif_open(reader, &query, &out->log);
    if (!err)
        err = vs_planner_open(&out->planner);
    if (!err)
        err = vs_whatif_visit(out->log, &visitor, out->planner);
    if (err) {
        vs_planner_close(out->planner);
        vs_whatif_close(out->log);
        memset(out, 0, sizeof *out);
        return err;
    }
    const struct vs_whatif_recorded *recorded = vs_whatif_recorded(out->log);
    out->identity = (struct vs_plan_identity){
        recorded->program, (uint32_t)recorded->device, recorded->total_bytes};
    return VS_OK;
}
