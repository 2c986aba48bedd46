/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/process_tree_tool.h"

#include "tools/common/symbol_tool.h"

/* A diagnosis compares single allocations and the holes between them: it would be a guess if some
 * of the allocations before the failure are not in the trace. */
static bool all_known(const struct vs_oom *oom, const struct vs_report *report)
{
    const struct vs_recording_state *state = &report->recording;
    return !state->min_size && state->sample <= 1 &&
           (state->stage < VS_RECORDING_TOTALS ||
            oom->failure.time_ns < state->since_ns[VS_RECORDING_TOTALS]);
}

enum vs_err vs_oom_tool_build(struct vs_reader *reader, const struct vs_report *report,
                              struct vs_oom_watch *watch, uint64_t nth, bool replay,
                              struct vs_oom **out)
{
    struct vs_oom *oom = NULL;
    enum vs_err err = VS_OK;
    *out = NULL;
    if (report->failure_total || nth)
        err = vs_oom_build(reader, report, watch, nth, &oom);
    vs_symbol_tool_done();
    if (err || !oom)
        return err;
    if (!all_known(oom, report))
        err = VS_ERR_STATE;
    if (!err && replay)
        vs_oom_replay(oom, reader);
    if (!err)
        vs_oom_kinds(oom, reader);
    if (err) {
        vs_oom_free(oom);
        return err;
    }
    *out = oom;
    return VS_OK;
}
