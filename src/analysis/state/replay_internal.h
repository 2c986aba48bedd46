/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the replay: replay.c passes each event to replay_live.c, replay_segment.c,
 * replay_failure.c or replay_totals.c (allocations not recorded one by one), or applies it itself.
 * Private to these. */
#ifndef VS_REPLAY_INTERNAL_H
#define VS_REPLAY_INTERNAL_H

#include "analysis/state/peak_states.h"
#include "analysis/state/replay.h"

/* vs_replay_publish: passes a change on to those that asked for its kind. */
void vs_replay_publish(const struct vs_replay *replay, const struct vs_published *change);
static inline void vs_replay_publish_block(const struct vs_replay *replay, enum vs_change_kind kind,
                                           const struct vs_live *live)
{
    if ((live->level == VS_LEVEL_FRAMEWORK ? replay->tensors_subscribed : replay->subscribed) & kind)
        vs_replay_publish(replay, &(struct vs_published){.kind = kind, .slot = vs_replay_slot(replay, live),
                                                         .live = live, .event = replay->event});
}

/* vs_replay_account_for: the index of *device*, added when new (_new); VS_ACCOUNT_NONE beyond the bound. */
unsigned vs_replay_account_new(struct vs_replay *replay, uint64_t device);
static inline unsigned vs_replay_account_for(struct vs_replay *replay, uint64_t device)
{
    bool first = replay->account_count && replay->accounts[0]->device == device;
    return first ? 0 : vs_replay_account_new(replay, device);
}

/* vs_replay_note_peaks: the sums of *account* are *now* at *time_ns*; for those in *rose* (enum
 * vs_rise) that is the highest value: stores where and when (_set_peaks). */
void vs_replay_set_peaks(struct vs_replay *replay, struct vs_account *account,
                         struct vs_place place, const struct vs_levels *now, uint64_t time_ns,
                         unsigned rose);
static inline bool vs_replay_reserved_fuller(const struct vs_account *account, const struct vs_levels *now)
{
    return now->reserved == account->peak_reserved.bytes && now->allocated > account->peak_reserved.allocated;
}
static inline void vs_replay_note_peaks(struct vs_replay *replay, struct vs_account *account,
                                        struct vs_place place, const struct vs_levels *now, uint64_t time_ns,
                                        unsigned rose)
{
    if (rose || vs_replay_reserved_fuller(account, now))
        vs_replay_set_peaks(replay, account, place, now, time_ns, rose);
    if (now->allocated > account->step_peak)
        account->step_peak = now->allocated;
}

/* vs_replay_note_use: memory of a device was added, so that its sums are *now*; *graphs*: bytes that were held
 * for graphs beyond them. */
void vs_replay_note_use(struct vs_replay *replay, struct vs_account *account, struct vs_place place,
                        const struct vs_levels *now, uint64_t graphs);

/* vs_replay_change: apply *change* of segments or graphs to the account *index*. */
void vs_replay_change(struct vs_replay *replay, unsigned index, const struct vs_change *change,
                      uint32_t tid);

/* Each applies events of its kinds: of memory of the device (replay_live.c), of segments and mappings
 * (replay_segment.c), of a framework's blocks (replay_framework.c), refusals (replay_failure.c). */
void vs_replay_alloc(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_free(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_segment(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_map(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_unmap(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_mapped(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_framework(struct vs_replay *replay, const struct vs_event *event);
void vs_replay_failure(struct vs_replay *replay, const struct vs_event *event);

/* vs_replay_lose_live: live memory of *context* on the account *device* was lost with the context,
 * except that of pools, which belongs to the device. vs_replay_lose_segments: likewise. */
void vs_replay_lose_live(struct vs_replay *replay, uint64_t context, unsigned device);
void vs_replay_lose_segments(struct vs_replay *replay, uint64_t context, unsigned device);

/* vs_replay_memory_at: the physical memory that is mapped at *addr*, or NULL. */
const struct vs_live *vs_replay_memory_at(const struct vs_replay *replay, uint64_t addr);

/* vs_replay_reading: the device reported *free_bytes* of *total*; nothing happens if that is
 * impossible, or *total* is 0. */
void vs_replay_reading(struct vs_replay *replay, struct vs_account *account, uint32_t tid,
                       uint64_t free_bytes, uint64_t total);

/* vs_replay_served: *requested* bytes were allocated at *level* by thread *tid* at *stack*: the
 * program recovered from that thread's failures of at most that size (a framework's: of any thread), and
 * from its larger ones of that call site. A framework's request that was refused and then repeated with
 * success does not count as a failure.
 * vs_replay_step_served: likewise when a step ended that began after the failure.
 * vs_replay_context_served: likewise for failed contexts when one exists. */
void vs_replay_served(struct vs_replay *replay, unsigned account, enum vs_level level,
                      uint64_t requested, uint64_t stack, uint32_t tid);
void vs_replay_step_served(struct vs_replay *replay);
void vs_replay_context_served(struct vs_replay *replay, unsigned account);

/* The user's level (user_level.c). vs_user_allocated: its present sum. vs_user_split: *account* has
 * a framework: keep its user's level from now on. */
uint64_t vs_user_allocated(const struct vs_account *account);
void vs_user_split(struct vs_replay *replay, unsigned account);

/* vs_user_judge_site: *site* is about to make its first allocation: decides by its stack whether a
 * framework's allocator made it. vs_user_holds_tensors: a framework's block lies in memory of
 * *site*. */
void vs_user_judge_site(struct vs_replay *replay, struct vs_site *site);
void vs_user_holds_tensors(struct vs_replay *replay, struct vs_site *site);

/* Changes of an account that has split: memory of the device was added, or freed (by the program, or
 * lost); the sum rose to *bytes* at *place*, by one allocation of *size* (0: several). */
void vs_user_device_freed(struct vs_account *account, const struct vs_site *site,
                          const struct vs_live *live, bool freed);
void vs_user_device_rose(struct vs_replay *replay, unsigned account, const struct vs_live *live);
void vs_user_rose(struct vs_replay *replay, unsigned account, struct vs_place place, uint64_t size,
                  uint64_t bytes);
void vs_user_step_end(struct vs_account *account, const struct vs_steps *steps);
void vs_user_window(const struct vs_replay *replay, struct vs_account *account,
                    struct vs_place place);

/* vs_replay_settle: a window began between two groups of `unrecorded`: the sums after the second
 * group are a level of the window. Called before the next other event, and at the end. */
void vs_replay_settle(struct vs_replay *replay);

#endif
