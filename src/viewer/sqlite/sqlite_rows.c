/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema is described in docs/sqlite.md, and is changed with it. */
#include "viewer/sqlite/sqlite_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/report/report_failure.h"
#include "analysis/report/site_text.h"
#include "analysis/state/user_level.h"
#include "viewer/export/site_labels.h"

const char vs_sqlite_schema[] =
    "PRAGMA user_version = 1;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE devices(device INTEGER PRIMARY KEY, name TEXT, uuid TEXT, total_bytes INTEGER,"
    " simulated INTEGER, tensors INTEGER, peak_bytes INTEGER, peak_event INTEGER, peak_ns INTEGER,"
    " peak_reserved_bytes INTEGER, end_bytes INTEGER);"
    "CREATE TABLE allocations(device INTEGER, address INTEGER, requested INTEGER, size INTEGER,"
    " born_event INTEGER, born_ns INTEGER, end TEXT, end_event INTEGER, end_ns INTEGER,"
    " site INTEGER, phase INTEGER, step INTEGER, kind TEXT, family TEXT, stream INTEGER,"
    " context INTEGER, thread INTEGER, module TEXT, pass TEXT);"
    "CREATE TABLE sites(site INTEGER PRIMARY KEY, label TEXT, through TEXT, library TEXT,"
    " api TEXT);"
    "CREATE TABLE site_frames(site INTEGER, depth INTEGER, frame INTEGER,"
    " PRIMARY KEY(site, depth)) WITHOUT ROWID;"
    "CREATE TABLE frames(frame INTEGER PRIMARY KEY, name TEXT, function TEXT, file TEXT,"
    " line INTEGER, library TEXT);"
    "CREATE TABLE phases(phase INTEGER PRIMARY KEY, path TEXT);"
    "CREATE TABLE steps(step INTEGER, start_event INTEGER, start_ns INTEGER, end_event INTEGER,"
    " end_ns INTEGER, end_bytes INTEGER);"
    "CREATE TABLE failures(event INTEGER PRIMARY KEY, time_ns INTEGER, device INTEGER,"
    " requested INTEGER, allocated INTEGER, reserved INTEGER, recovered INTEGER, label TEXT);"
    "CREATE TABLE kernels(start_ns INTEGER, end_ns INTEGER, device INTEGER, context INTEGER,"
    " stream INTEGER, name TEXT, correlation INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
    " block_x INTEGER, block_y INTEGER, block_z INTEGER, shared_bytes INTEGER, graph INTEGER, graph_node INTEGER);"
    "CREATE TABLE copies(start_ns INTEGER, end_ns INTEGER, device INTEGER, context INTEGER,"
    " stream INTEGER, bytes INTEGER, kind TEXT, async INTEGER, correlation INTEGER, source TEXT,"
    " destination TEXT, source_device INTEGER, destination_device INTEGER, graph INTEGER, graph_node INTEGER);"
    "CREATE TABLE memsets(start_ns INTEGER, end_ns INTEGER, device INTEGER, context INTEGER,"
    " stream INTEGER, bytes INTEGER, value INTEGER, correlation INTEGER, memory TEXT, graph INTEGER, graph_node INTEGER);"
    "CREATE TABLE calls(start_ns INTEGER, end_ns INTEGER, thread INTEGER, api TEXT,"
    " correlation INTEGER, driver INTEGER, result INTEGER);"
    "CREATE TABLE launches(correlation INTEGER, api TEXT, site INTEGER, thread INTEGER);"
    "CREATE TABLE waits(start_ns INTEGER, end_ns INTEGER, device INTEGER, context INTEGER, stream INTEGER,"
    " kind INTEGER, api TEXT, site INTEGER, thread INTEGER, phase INTEGER, step INTEGER);"
    "CREATE TABLE segments(event INTEGER, time_ns INTEGER, device INTEGER, address INTEGER,"
    " bytes INTEGER, stream INTEGER, pool INTEGER, site INTEGER);"
    "CREATE VIEW changes AS"
    " SELECT born_event AS event, born_ns AS time_ns, device, size AS bytes, site, kind"
    " FROM allocations WHERE family <> 'ipc' UNION ALL"
    " SELECT end_event, end_ns, device, -size, site, kind"
    " FROM allocations WHERE end_event IS NOT NULL AND family <> 'ipc';";

void vs_sqlite_devices(struct vs_database *db, const struct vs_replay *replay,
                       const struct vs_allocation_filter *wanted)
{
    struct vs_database_insert *row = vs_database_prepare(db, "devices", 11);
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = replay->accounts[i];
        const struct vs_user_sums sums = vs_user_sums(replay, i);
        if (wanted->one_device && account->device != wanted->device)
            continue;
        vs_database_row(row, VS_UINT(account->device),
                        VS_TEXT(vs_reader_string(replay->reader, account->name)),
                        VS_TEXT(vs_reader_string(replay->reader, account->uuid)),
                        VS_UINT(account->total_bytes), VS_UINT(account->simulated != 0),
                        VS_UINT(sums.level == VS_LEVEL_FRAMEWORK), VS_UINT(sums.peak->bytes),
                        VS_KNOWN(sums.peak->event, sums.peak->event),
                        VS_KNOWN(sums.peak->event, vs_replay_since(replay, sums.peak->time_ns)),
                        VS_UINT(account->peak_reserved.bytes), VS_UINT(sums.allocated));
    }
}

static bool is_wanted(const struct vs_failure *failure, const struct vs_replay *replay,
                      const struct vs_allocation_filter *wanted)
{
    const struct vs_time_window *window = wanted->window;
    if (wanted->one_device && (failure->account == VS_HOST_INDEX ||
                               replay->accounts[failure->account]->device != wanted->device))
        return false;
    if (!window)
        return true;
    const struct vs_time_window_end *from = &window->from, *to = &window->to;
    return (!from->given || (from->by_event ? failure->event : failure->time_ns) >= from->value) &&
           (!to->given || (to->by_event ? failure->event : failure->time_ns) <= to->value);
}

static void write_failures(struct vs_database *db, const struct vs_replay *replay,
                           struct vs_site_labels *labels, const struct vs_allocation_filter *wanted)
{
    struct vs_database_insert *row = vs_database_prepare(db, "failures", 8);
    struct vs_summary summary = {.memory = &labels->memory, .replay = replay,
                                 .symbols = labels->symbols, .wrappers = &labels->wrappers};
    char text[VS_CHAIN_TEXT_MAX];
    for (size_t i = 0; i < replay->failure_count; i++) {
        const struct vs_failure *failure = &replay->failures[i];
        if (!is_wanted(failure, replay, wanted))
            continue;
        const struct vs_report_failure named = vs_report_failure_of(&summary, failure);
        vs_database_row(row, VS_UINT(failure->event),
                        VS_UINT(vs_replay_since(replay, failure->time_ns)),
                        VS_KNOWN(failure->account != VS_HOST_INDEX, named.device),
                        VS_UINT(failure->requested), VS_UINT(failure->allocated),
                        VS_UINT(failure->reserved), VS_UINT(failure->recovered),
                        VS_TEXT(vs_text_label(text, &named.site)));
    }
}

static void write_stack(struct vs_database_insert *row, struct vs_stack_names *names, uint64_t site,
                        struct vs_stack_of of)
{
    struct vs_named_stack stack = vs_stack_names_of(names, &of);
    for (size_t depth = 0; depth < stack.count; depth++)
        vs_database_row(row, VS_UINT(site), VS_UINT(depth), VS_UINT(stack.frames[depth]));
}

static void write_sites(struct vs_database *db, const struct vs_replay *replay,
                        struct vs_stack_names *names, struct vs_site_labels *labels,
                        const unsigned char *used, size_t used_count, const struct vs_intern *calls)
{
    struct vs_database_insert *row = vs_database_prepare(db, "sites", 5);
    struct vs_database_insert *frame = vs_database_prepare(db, "site_frames", 3);
    for (size_t i = 0; i < used_count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        if (!used[i])
            continue;
        const struct vs_site_label *label = vs_site_labels_of(labels, replay, (uint32_t)i);
        vs_database_row(row, VS_UINT(i), VS_TEXT(label->text), VS_TEXT(label->through),
                        VS_TEXT(label->library),
                        VS_TEXT(vs_reader_string(replay->reader, site->api)));
        write_stack(frame, names, i, (struct vs_stack_of){site->stack, site->mark, site->api,
                                                          site->level == VS_LEVEL_FRAMEWORK});
    }
    struct vs_summary summary = {.memory = &labels->memory, .replay = replay, .symbols = labels->symbols};
    for (size_t i = 0; i < calls->count; i++) {
        const uint64_t *call = calls->items[i];
        struct vs_report_site site = {.api = vs_reader_string(replay->reader, call[1])};
        char text[VS_CHAIN_TEXT_MAX];
        vs_summary_frames(&summary, call[0], 0, &site);
        vs_database_row(row, VS_UINT(VS_SQLITE_CALLS + i), VS_TEXT(vs_text_label(text, &site)),
                        VS_TEXT(site.through ? site.through : ""), VS_TEXT(NULL), VS_TEXT(site.api));
        write_stack(frame, names, VS_SQLITE_CALLS + i, (struct vs_stack_of){call[0], 0, call[1], false});
    }
}

void vs_sqlite_tables(struct vs_database *db, const struct vs_replay *replay,
                      struct vs_stack_names *names, const unsigned char *used, size_t used_count,
                      const struct vs_intern *calls, bool complete, const struct vs_allocation_filter *wanted,
                      const struct vs_sqlite_job *job)
{
    struct vs_site_labels labels;
    struct vs_database_insert *meta = vs_database_prepare(db, "meta", 2);
    const struct vs_event_process *process = &replay->process.process;
    char program[256];
    uint64_t status = 0;
    bool ended = vs_ending_status(replay->has_end ? &replay->end.end : NULL, vs_reader_outcome(replay->reader), &status);
    vs_process_name(vs_reader_string(replay->reader, process->exe), vs_reader_string(replay->reader, process->cmdline),
                    program, sizeof program);
    static const struct vs_time_window whole;
    const struct vs_time_window *window = wanted->window ? wanted->window : &whole;
    const struct vs_time_window_end *from = &window->from, *to = &window->to;
    const struct vs_reader *reader = replay->reader;
    const struct {
        const char *key;
        struct vs_database_value value;
        bool known;
    } facts[] = {
        {"schema", VS_UINT(VS_SQLITE_VERSION), true},
        {"exe", VS_TEXT(vs_reader_string(reader, process->exe)), replay->has_process},
        {"command", VS_TEXT(vs_reader_string(reader, process->cmdline)), replay->has_process},
        {"program", VS_TEXT(program), replay->has_process},
        {"exit_status", VS_UINT(status), ended},
        {"job", VS_TEXT(job->name), job->name != NULL},
        {"rank", VS_UINT(job->rank.rank), job->rank.has_rank},
        {"world_size", VS_UINT(job->rank.world_size), job->rank.has_world_size},
        {"host", VS_TEXT(vs_reader_string(reader, process->host)), replay->has_process},
        {"version", VS_TEXT(vs_reader_string(reader, process->version)), replay->has_process},
        {"pid", VS_UINT(process->pid), replay->has_process},
        {"start_realtime_ns", VS_UINT(process->start_realtime_ns), replay->has_process},
        {"duration_ns", VS_UINT(vs_replay_since(replay, replay->now_ns)), true},
        {"events", VS_UINT(replay->events), true},
        {"complete", VS_UINT(complete), true},
        {"sample", VS_UINT(replay->recording.sample > 1 ? replay->recording.sample : 1), true},
        {"min_size", VS_UINT(replay->recording.min_size), true},
        {"from_event", VS_UINT(from->value), from->given && from->by_event},
        {"from_ns", VS_UINT(vs_replay_since(replay, from->value)), from->given && !from->by_event},
        {"to_event", VS_UINT(to->value), to->given && to->by_event},
        {"to_ns", VS_UINT(vs_replay_since(replay, to->value)), to->given && !to->by_event}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].known)
            vs_database_add(meta, (const struct vs_database_value[]){VS_TEXT(facts[i].key), facts[i].value}, 2);
    struct vs_database_insert *row = vs_database_prepare(db, "phases", 2);
    char path[VS_PLACE_TEXT_MAX];
    for (size_t i = 1; i < replay->phases.count; i++) {
        vs_database_row(row, VS_UINT(i),
                        VS_TEXT(vs_phases_text(&replay->phases, (struct vs_place){.phase = (uint32_t)i}, path)));
    }
    vs_site_labels_open(&labels, vs_stack_names_symbols(names), replay);
    write_sites(db, replay, names, &labels, used, used_count, calls);
    write_failures(db, replay, &labels, wanted);
    row = vs_database_prepare(db, "frames", 6);
    for (size_t i = 0; i < vs_stack_names_count(names); i++) {
        const struct vs_named_frame *frame = vs_stack_names_frame(names, (uint32_t)i);
        vs_database_row(row, VS_UINT(i), VS_TEXT(frame->name), VS_TEXT(frame->function),
                        VS_TEXT(frame->file), VS_KNOWN(frame->line, frame->line),
                        VS_TEXT(frame->library));
    }
    vs_site_labels_close(&labels);
}
