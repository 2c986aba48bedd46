/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks used on other streams, in the reference model. A freed one waits for an event on each of
 * them; during a capture, or when the device cannot record, it waits with its events unrecorded
 * (PyTorch: insert_events, process_events, insert_events_deferred_until_no_capture). */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

static void event_done(struct model *m, int p)
{
    struct block *b = &m->blocks[model_index_of(m, m->pending[p].addr)];
    fake_device_ops.event_release(m->device, m->pending[p].event);
    RAN(m, event_done);
    m->pending_count--;
    memmove(&m->pending[p], &m->pending[p + 1],
            (size_t)(m->pending_count - p) * sizeof *m->pending);
    if (--b->event_count == 0 && !b->uses)
        model_now_free(m, b->addr);
}

/* Records the events that a freed block has to wait for; frees it if there are none. */
static void record_events(struct model *m, uint64_t addr)
{
    struct block *b = &m->blocks[model_index_of(m, addr)];
    for (uint64_t stream = 0; stream < FAKE_STREAMS; stream++) {
        struct pending *p = &m->pending[m->pending_count];
        if (!(b->uses & 1u << stream))
            continue;
        if (m->pending_count == MODEL_PENDING_MAX)
            abort();
        *p = (struct pending){stream, 0, addr};
        if (fake_device_ops.event_record(m->device, stream, &p->event)) {
            RAN(m, record_failed);
            continue;
        }
        b->uses &= ~(1u << stream);
        b->event_count++;
        m->pending_count++;
    }
    if (b->uses)
        m->deferred[m->deferred_count++] = (struct deferred){addr, true};
    else if (!b->event_count)
        model_now_free(m, addr);
}

/* Records the events that could not be recorded before, in order: those that the device rejected,
 * or those that waited for the end of a capture. Uses during a capture are part of its graph and
 * need none. */
static void record_deferred(struct model *m, bool refused)
{
    int count = m->deferred_count;
    static struct deferred list[MODEL_PENDING_MAX];
    memcpy(list, m->deferred, (size_t)count * sizeof *list);
    m->deferred_count = 0;
    for (int i = 0; i < count; i++) {
        struct block *b = &m->blocks[model_index_of(m, list[i].addr)];
        if (list[i].refused != refused) {
            m->deferred[m->deferred_count++] = list[i];
            continue;
        }
        m->counts[MODEL_capture_dropped] += (b->uses & b->capture_uses) != 0;
        b->uses &= ~b->capture_uses;
        b->capture_uses = 0;
        record_events(m, list[i].addr);
    }
}

/* Streams by ascending value; in each, events in the order they were recorded. */
void model_look_at_events(struct model *m, bool wait)
{
    record_deferred(m, true);
    record_deferred(m, false);
    for (uint64_t stream = 0; stream < FAKE_STREAMS; stream++) {
        for (int p = 0; p < m->pending_count;) {
            bool ready = true;
            if (m->pending[p].stream != stream) {
                p++;
                continue;
            }
            enum vs_err err =
                wait ? fake_device_ops.event_synchronize(m->device, m->pending[p].event)
                     : fake_device_ops.event_query(m->device, m->pending[p].event, &ready);
            m->counts[MODEL_query_failed] += err != VS_OK;
            m->counts[MODEL_event_not_ready] += !ready;
            if (err || !ready)
                break;
            event_done(m, p);
        }
    }
}

/* The live block that starts at *addr*. Addresses of ours that have lost their memory are not
 * foreign: a free there is a double free. */
static enum vs_err live_block(struct model *m, uint64_t addr, struct block **out)
{
    for (int i = 0; i < m->count; i++) {
        struct block *b = &m->blocks[i];
        if (addr < b->addr || addr - b->addr >= b->size)
            continue;
        if (!b->busy)
            return VS_ERR_STATE;
        *out = b;
        return b->addr == addr ? VS_OK : VS_ERR_ARG;
    }
    return VS_ERR_FOREIGN;
}

enum vs_err model_record_stream(struct model *m, uint64_t addr, uint64_t stream)
{
    struct block *b;
    enum vs_err err = live_block(m, addr, &b);
    if (err)
        return err;
    if (m->config.reuse == VS_REUSE_AFTER_SYNC || stream == b->stream)
        return VS_OK;
    /* part of a graph only if it never was a separate use (PyTorch treats it as part of the graph
     * once it was part of one, and then does not wait for the separate use) */
    if (!m->scope_count)
        b->capture_uses &= ~(1u << stream);
    else if (!(b->uses & 1u << stream))
        b->capture_uses |= 1u << stream;
    b->uses |= 1u << stream;
    return VS_OK;
}

enum vs_err model_free(struct model *m, uint64_t addr)
{
    struct block *b;
    enum vs_err err = live_block(m, addr, &b);
    if (err)
        return err;
    b->busy = false;
    b->waiting = true;
    model_recount(m);
    model_emit(m, VS_ALLOCATOR_FREE, b, addr, b->requested, b->size);
    if (!b->uses) {
        model_now_free(m, addr);
        return VS_OK;
    }
    RAN(m, pending);
    m->counts[MODEL_capture_deferred] += m->scope_count;
    m->deferred[m->deferred_count++] = (struct deferred){addr, !m->scope_count};
    if (m->scope_count)
        return VS_OK;
    b->capture_uses = 0;
    record_deferred(m, true);
    return VS_OK;
}
