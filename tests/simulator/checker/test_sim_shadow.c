/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks and the map of accesses, compared with an oracle that keeps every access to every
 * byte and compares each pair. The map may drop accesses that are no longer needed, so the two must
 * agree on this: every report of the map is a conflict between two unordered accesses; and of a
 * byte with conflicts, the first is reported. */
#include <string.h>

#include "support/cmocka_test.h"

#include "simulator/checker/vs_sim_shadow.h"

#define LANES 4
#define SPACE 48
#define STEPS 160
#define BASE 4096

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % below);
}

static struct vs_sim_actor *actor_new(uint32_t lane, uint64_t seq)
{
    struct vs_sim_actor *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->refs = 1;
    a->lane = lane;
    a->seq = seq;
    return a;
}

/* ---- the oracle ---- */

struct step { /* one access of one op */
    struct vs_sim_actor *actor;
    enum vs_sim_how how;
    unsigned begin, end;
    uint64_t knows[LANES + 1];
};

struct history {
    struct step steps[STEPS];
    unsigned count;
    bool raced[SPACE], written[SPACE];
    bool reported[SPACE]; /* by the map, in the current step */
    const struct step *now;
    unsigned false_reports;
};

static bool known(const struct step *later, const struct vs_sim_actor *earlier)
{
    return later->knows[earlier->lane] >= earlier->seq || earlier == later->actor;
}

static bool conflicting(enum vs_sim_how a, enum vs_sim_how b)
{
    return (a != VS_SIM_READS || b != VS_SIM_READS) &&
           (a != VS_SIM_CHANGES || b != VS_SIM_CHANGES);
}

static void reported(void *to, const struct vs_sim_access *access, struct vs_sim_actor *earlier,
                     enum vs_sim_how how, uintptr_t begin, uintptr_t end)
{
    struct history *h = to;
    assert_ptr_equal(access->actor, h->now->actor);
    for (uintptr_t at = begin; at < end; at++) {
        bool real = false;
        h->reported[at - BASE] = true;
        for (unsigned i = 0; i < h->count; i++) {
            const struct step *s = &h->steps[i];
            real |= s->actor == earlier && s->how == how && at - BASE >= s->begin &&
                    at - BASE < s->end && conflicting(s->how, h->now->how) &&
                    !known(h->now, s->actor);
        }
        h->false_reports += !real;
    }
}

/* One access of an op that may make several. */
static void access_once(struct history *h, struct vs_sim_shadow *shadow, struct vs_sim_actor *actor,
                        const struct vs_sim_clock *clock)
{
    struct step *now = &h->steps[h->count];
    struct vs_sim_unwritten unwritten = {0};
    now->begin = draw(SPACE);
    now->end = now->begin + 1 + draw(draw(3) ? 6 : SPACE - now->begin);
    if (now->end > SPACE)
        now->end = SPACE;
    now->how = draw(3) ? VS_SIM_READS : draw(2) ? VS_SIM_WRITES : VS_SIM_CHANGES;
    now->actor = vs_sim_actor_ref(actor);
    for (uint32_t i = 0; i <= LANES; i++)
        now->knows[i] = i == actor->lane ? actor->seq : vs_sim_clock_at(clock, i);
    h->now = now;
    memset(h->reported, 0, sizeof h->reported);
    struct vs_sim_access access = {BASE + now->begin, BASE + now->end, now->how, actor, clock};
    vs_sim_shadow_access(shadow, &access, reported, h, &unwritten);
    assert_true(vs_sim_shadow_check(shadow));
    size_t never = 0;
    for (unsigned at = now->begin; at < now->end; at++) {
        bool races = false;
        for (unsigned i = 0; i < h->count; i++) {
            const struct step *s = &h->steps[i];
            races |= at >= s->begin && at < s->end && conflicting(s->how, now->how) &&
                     !known(now, s->actor);
        }
        if (races && !h->raced[at])
            assert_true(h->reported[at]);
        h->raced[at] |= races;
        if (!h->written[at] && !never++ && now->how != VS_SIM_WRITES)
            assert_int_equal(unwritten.first, BASE + at);
        h->written[at] |= now->how != VS_SIM_READS;
    }
    if (now->how != VS_SIM_WRITES)
        assert_int_equal(unwritten.bytes, never);
    assert_int_equal(h->false_reports, 0);
    h->count++;
}

static void one_history(uint64_t seed)
{
    static struct history h;
    struct vs_sim_shadow shadow = {0};
    struct vs_sim_clock *clocks[LANES + 1] = {0};
    uint64_t seq[LANES + 1] = {0};
    memset(&h, 0, sizeof h);
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    unsigned joins = 1 + draw(4);
    while (h.count < STEPS - 4) {
        uint32_t lane = 1 + draw(LANES), other = 1 + draw(LANES);
        for (unsigned j = draw(joins + 1); j; j--) { /* wait for all work of the other so far */
            vs_sim_clock_join(&clocks[lane], clocks[other]);
            vs_sim_clock_raise(&clocks[lane], other, seq[other]);
            other = 1 + draw(LANES);
        }
        struct vs_sim_actor *actor = actor_new(lane, ++seq[lane]);
        struct vs_sim_clock *clock = vs_sim_clock_ref(clocks[lane]);
        for (unsigned n = 1 + draw(4); n; n--)
            access_once(&h, &shadow, actor, clock);
        vs_sim_clock_unref(clock);
        vs_sim_actor_unref(actor);
    }
    vs_sim_shadow_free(&shadow);
    for (unsigned i = 0; i < h.count; i++) {
        assert_int_equal(h.steps[i].actor->refs >= 1, 1);
        vs_sim_actor_unref(h.steps[i].actor);
    }
    for (int i = 0; i <= LANES; i++)
        vs_sim_clock_unref(clocks[i]);
}

TEST(random_histories_agree_with_the_oracle)
{
    for (uint64_t seed = 1; seed <= 2000; seed++)
        one_history(seed);
}

/* ---- single facts ---- */

static unsigned conflicts;

static void count_conflict(void *to, const struct vs_sim_access *access,
                           struct vs_sim_actor *earlier, enum vs_sim_how how, uintptr_t begin,
                           uintptr_t end)
{
    (void)to, (void)access, (void)earlier, (void)how, (void)begin, (void)end;
    conflicts++;
}

static unsigned touch(struct vs_sim_shadow *shadow, uintptr_t begin, uintptr_t end, enum vs_sim_how how,
                      struct vs_sim_actor *actor)
{
    struct vs_sim_access access = {begin, end, how, actor, NULL};
    conflicts = 0;
    vs_sim_shadow_access(shadow, &access, count_conflict, NULL, NULL);
    assert_true(vs_sim_shadow_check(shadow));
    return conflicts;
}

TEST(a_sweep_of_small_accesses_stays_one_piece)
{
    struct vs_sim_shadow shadow = {0};
    struct vs_sim_actor *a = actor_new(1, 1);
    for (uintptr_t at = BASE; at < BASE + 40000; at += 4)
        touch(&shadow, at, at + 4, VS_SIM_WRITES, a);
    assert_int_equal(shadow.pieces, 1);
    for (uintptr_t at = BASE + 40000; at > BASE; at -= 4)
        touch(&shadow, at - 4, at, VS_SIM_READS, a);
    assert_int_equal(shadow.pieces, 1);
    vs_sim_shadow_free(&shadow);
    assert_int_equal(a->refs, 1);
    vs_sim_actor_unref(a);
}

TEST(neighbours_do_not_conflict_and_one_byte_does)
{
    struct vs_sim_shadow shadow = {0};
    struct vs_sim_actor *a = actor_new(1, 1), *b = actor_new(2, 1);
    assert_int_equal(touch(&shadow, BASE, BASE + 100, VS_SIM_WRITES, a), 0);
    assert_int_equal(touch(&shadow, BASE + 100, BASE + 200, VS_SIM_WRITES, b), 0);
    assert_int_equal(touch(&shadow, BASE + 99, BASE + 100, VS_SIM_READS, b), 1);
    vs_sim_shadow_free(&shadow);
    vs_sim_actor_unref(a);
    vs_sim_actor_unref(b);
}

/* Dropped accesses must not invent conflicts: more readers than are kept, then a write. */
TEST(more_readers_than_are_kept_are_no_false_alarm)
{
    struct vs_sim_shadow shadow = {0};
    struct vs_sim_clock *all = NULL;
    for (uint32_t lane = 1; lane <= 40; lane++) {
        struct vs_sim_actor *reader = actor_new(lane, 1);
        assert_int_equal(touch(&shadow, BASE, BASE + 64, VS_SIM_READS, reader), 0);
        vs_sim_clock_raise(&all, lane, 1);
        vs_sim_actor_unref(reader);
    }
    struct vs_sim_actor *writer = actor_new(41, 1);
    struct vs_sim_access access = {BASE, BASE + 64, VS_SIM_WRITES, writer, all};
    conflicts = 0;
    vs_sim_shadow_access(&shadow, &access, count_conflict, NULL, NULL);
    assert_int_equal(conflicts, 0);
    vs_sim_shadow_free(&shadow);
    vs_sim_actor_unref(writer);
    vs_sim_clock_unref(all);
}

TEST(too_many_pieces_are_forgotten)
{
    struct vs_sim_shadow shadow = {0};
    struct vs_sim_actor *a = actor_new(1, 1), *b = actor_new(2, 1);
    for (uintptr_t i = 0; i < 300000; i++) {
        struct vs_sim_access access = {BASE + i * 8, BASE + i * 8 + 4, VS_SIM_WRITES, a, NULL};
        vs_sim_shadow_access(&shadow, &access, count_conflict, NULL, NULL);
    }
    assert_true(vs_sim_shadow_check(&shadow));
    assert_true(shadow.pieces < 262144);
    assert_int_equal(touch(&shadow, BASE, BASE + 8, VS_SIM_WRITES, b), 0); /* missed, not invented */
    assert_int_equal(vs_sim_shadow_unwritten(&shadow, BASE, BASE + 4096), 0);
    vs_sim_shadow_free(&shadow);
    vs_sim_actor_unref(a);
    vs_sim_actor_unref(b);
}

TEST(a_copy_carries_what_was_not_written)
{
    struct vs_sim_shadow from = {0}, to = {0};
    struct vs_sim_actor *a = actor_new(1, 1);
    touch(&from, BASE + 10, BASE + 20, VS_SIM_WRITES, a);
    touch(&from, BASE + 30, BASE + 40, VS_SIM_WRITES, a);
    touch(&to, 2 * BASE, 2 * BASE + 60, VS_SIM_WRITES, a);
    assert_int_equal(vs_sim_shadow_unwritten(&to, 2 * BASE, 2 * BASE + 60), 0);
    vs_sim_shadow_copy_unwritten(&from, BASE, 50, &to, 2 * BASE);
    assert_true(vs_sim_shadow_check(&to));
    assert_int_equal(vs_sim_shadow_unwritten(&to, 2 * BASE, 2 * BASE + 60), 30);
    assert_int_equal(vs_sim_shadow_unwritten(&to, 2 * BASE + 10, 2 * BASE + 20), 0);
    assert_int_equal(vs_sim_shadow_unwritten(&to, 2 * BASE + 20, 2 * BASE + 30), 10);
    vs_sim_shadow_free(&from);
    vs_sim_shadow_free(&to);
    vs_sim_actor_unref(a);
}

TEST(a_clock_that_was_handed_out_does_not_change)
{
    struct vs_sim_clock *mine = NULL, *given, *other = NULL;
    vs_sim_clock_raise(&mine, 3, 7);
    given = vs_sim_clock_ref(mine);
    vs_sim_clock_raise(&other, 9, 1);
    vs_sim_clock_join(&mine, other);
    assert_int_equal(vs_sim_clock_at(given, 9), 0);
    assert_int_equal(vs_sim_clock_at(mine, 9), 1);
    assert_int_equal(vs_sim_clock_at(mine, 3), 7);
    vs_sim_clock_unref(mine);
    vs_sim_clock_unref(given);
    vs_sim_clock_unref(other);
}
