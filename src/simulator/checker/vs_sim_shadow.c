/* SPDX-License-Identifier: Apache-2.0
 *
 * Shadow of one allocation: a treap of disjoint pieces ordered by address. An access cuts out the
 * pieces that it covers, checks each, and inserts pieces with the new state, merged with equal
 * neighbours.
 *
 * Only the last write and the reads since then are stored: a later access that is not ordered after
 * an older one is not ordered after the stored ones either, or the conflict was reported when those
 * were entered. Likewise a read replaces those that happened before it. */
#include "simulator/checker/vs_sim_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/vs_treap.h"
#include "simulator/driver/vs_sim_host.h"

#define READS_MAX 6       /* stored concurrent readers of one piece */
#define PIECES_MAX 262144 /* of one allocation, before it is forgotten */

struct vs_sim_piece {
    struct vs_sim_piece *left, *right;
    bool written;
    uint8_t read_count, changes; /* one bit per read: it is an atomic change */
    uintptr_t begin, end;
    struct vs_sim_actor *write; /* NULL: no known writer */
    struct vs_sim_actor *reads[READS_MAX];
};

void vs_sim_actor_unref(struct vs_sim_actor *actor)
{
    if (actor && !--actor->refs)
        free(actor);
}

/* ---- pieces ---- */

static struct vs_sim_piece *piece_new(uintptr_t begin, uintptr_t end)
{
    struct vs_sim_piece *p = vs_sim_need(calloc(1, sizeof *p));
    p->begin = begin;
    p->end = end;
    return p;
}

static void reads_drop(struct vs_sim_piece *p)
{
    for (unsigned i = 0; i < p->read_count; i++)
        vs_sim_actor_unref(p->reads[i]);
    p->read_count = p->changes = 0;
}

static void piece_free(struct vs_sim_piece *p)
{
    reads_drop(p);
    vs_sim_actor_unref(p->write);
    free(p);
}

/* Frees a tree; returns the number of its pieces. */
static size_t tree_free(struct vs_sim_piece *tree)
{
    size_t count = 0;
    while (tree) {
        struct vs_sim_piece *right = tree->right;
        count += tree_free(tree->left) + 1;
        piece_free(tree);
        tree = right;
    }
    return count;
}

static bool same_state(const struct vs_sim_piece *a, const struct vs_sim_piece *b)
{
    return a->written == b->written && a->write == b->write && a->read_count == b->read_count &&
           a->changes == b->changes &&
           !memcmp(a->reads, b->reads, a->read_count * sizeof a->reads[0]);
}

/* ---- the treap ---- */

VS_TREAP_BY(piece, struct vs_sim_piece, begin)

/* The last piece that begins at or below *address*. */
static struct vs_sim_piece *floor_of(struct vs_sim_piece *tree, uintptr_t address)
{
    return piece_last_before(tree, (uint64_t)address + 1);
}

/* Splits pieces so that none contains *address* in its middle. */
static void cut_at(struct vs_sim_shadow *shadow, uintptr_t address)
{
    struct vs_sim_piece *p = floor_of(shadow->root, address);
    if (!p || p->begin == address || p->end <= address)
        return;
    struct vs_sim_piece *rest = piece_new(address, p->end);
    rest->written = p->written;
    rest->write = vs_sim_actor_ref(p->write);
    rest->read_count = p->read_count;
    rest->changes = p->changes;
    for (unsigned i = 0; i < p->read_count; i++)
        rest->reads[i] = vs_sim_actor_ref(p->reads[i]);
    p->end = address;
    piece_insert(&shadow->root, rest, address);
    shadow->pieces++;
}

/* Takes the pieces of [begin, end) out of the tree, between *low* and *high*. */
static struct vs_sim_piece *take_out(struct vs_sim_shadow *shadow, uintptr_t begin, uintptr_t end,
                                     struct vs_sim_piece **low, struct vs_sim_piece **high)
{
    struct vs_sim_piece *middle;
    cut_at(shadow, begin);
    cut_at(shadow, end);
    piece_split(shadow->root, begin, low, &middle);
    piece_split(middle, end, &middle, high);
    return middle;
}

void vs_sim_shadow_free(struct vs_sim_shadow *shadow)
{
    tree_free(shadow->root);
    *shadow = (struct vs_sim_shadow){0};
}

/* ---- one access on one piece ---- */

struct work {
    const struct vs_sim_access *access;
    vs_sim_conflict conflict;
    void *to;
    struct vs_sim_unwritten unwritten;
};

static bool ordered(const struct vs_sim_access *access, const struct vs_sim_actor *earlier)
{
    return vs_sim_ordered(earlier, access->actor, access->clock);
}

static void look(const struct work *w, const struct vs_sim_piece *p)
{
    const struct vs_sim_access *a = w->access;
    uintptr_t begin = p->begin > a->begin ? p->begin : a->begin;
    uintptr_t end = p->end < a->end ? p->end : a->end;
    if (!ordered(a, p->write))
        w->conflict(w->to, a, p->write, VS_SIM_WRITES, begin, end);
    for (unsigned i = 0; i < p->read_count; i++) {
        enum vs_sim_how how = p->changes >> i & 1 ? VS_SIM_CHANGES : VS_SIM_READS;
        if ((a->how == VS_SIM_WRITES || a->how != how) && !ordered(a, p->reads[i]))
            w->conflict(w->to, a, p->reads[i], how, begin, end);
    }
}

static void reads_remove(struct vs_sim_piece *p, unsigned i)
{
    unsigned below = (1u << i) - 1;
    vs_sim_actor_unref(p->reads[i]);
    memmove(p->reads + i, p->reads + i + 1, (--p->read_count - i) * sizeof p->reads[0]);
    p->changes = (uint8_t)((p->changes & below) | (p->changes >> 1 & ~below));
}

static void add_unwritten(struct work *w, uintptr_t begin, uintptr_t end)
{
    if (!w->unwritten.bytes)
        w->unwritten.first = begin;
    w->unwritten.bytes += end - begin;
}

static void enter(struct work *w, struct vs_sim_piece *p)
{
    const struct vs_sim_access *a = w->access;
    bool change = a->how == VS_SIM_CHANGES;
    look(w, p);
    if (a->how == VS_SIM_WRITES) {
        reads_drop(p);
        vs_sim_actor_ref(a->actor);
        vs_sim_actor_unref(p->write);
        p->write = a->actor;
        p->written = true;
        return;
    }
    if (!p->written)
        add_unwritten(w, p->begin, p->end);
    /* a new read or change replaces those of its own kind that happened before it: an access that
     * conflicts with them conflicts with it too */
    p->written |= change;
    if (p->write && p->write->lane == a->actor->lane && p->write->seq == a->actor->seq)
        return; /* a conflict with it is a conflict with its write */
    for (unsigned i = p->read_count; i-- > 0;)
        if ((p->changes >> i & 1) == change && ordered(a, p->reads[i]))
            reads_remove(p, i);
    if (p->read_count == READS_MAX)
        reads_remove(p, 0);
    p->changes |= (uint8_t)(change << p->read_count);
    p->reads[p->read_count++] = vs_sim_actor_ref(a->actor);
}

/* Nothing changes: this actor was entered before, or the piece has exactly these bounds. */
static bool enter_in_place(struct work *w, struct vs_sim_shadow *shadow)
{
    const struct vs_sim_access *a = w->access;
    struct vs_sim_piece *p = floor_of(shadow->root, a->begin);
    if (!p || p->end < a->end)
        return false;
    if (p->begin == a->begin && p->end == a->end) {
        enter(w, p);
        return true;
    }
    if (p->write == a->actor && !p->read_count)
        return true;
    for (unsigned i = 0; a->how != VS_SIM_WRITES && i < p->read_count; i++)
        if (p->reads[i] == a->actor && (p->changes >> i & 1) == (a->how == VS_SIM_CHANGES)) {
            if (!p->written)
                add_unwritten(w, a->begin, a->end);
            return true;
        }
    return false;
}

/* ---- many pieces ---- */

struct run { /* pieces in address order, out of the tree */
    struct vs_sim_piece *first, *last; /* linked by right */
};

static void run_add(struct vs_sim_shadow *shadow, struct run *run, struct vs_sim_piece *p)
{
    struct vs_sim_piece *last = run->last;
    if (last && last->end == p->begin && same_state(last, p)) {
        last->end = p->end;
        piece_free(p);
        shadow->pieces--;
        return;
    }
    p->left = p->right = NULL;
    if (last)
        last->right = p;
    else
        run->first = p;
    run->last = p;
}

static void gap_fill(struct work *w, struct vs_sim_shadow *shadow, struct run *run,
                     uintptr_t begin, uintptr_t end)
{
    if (begin >= end)
        return;
    struct vs_sim_piece *p = piece_new(begin, end);
    shadow->pieces++;
    enter(w, p);
    run_add(shadow, run, p);
}

static void enter_tree(struct work *w, struct vs_sim_shadow *shadow, struct vs_sim_piece *tree,
                       struct run *run, uintptr_t *at)
{
    while (tree) {
        struct vs_sim_piece *right = tree->right;
        enter_tree(w, shadow, tree->left, run, at);
        gap_fill(w, shadow, run, *at, tree->begin);
        *at = tree->end;
        enter(w, tree);
        run_add(shadow, run, tree);
        tree = right;
    }
}

static struct vs_sim_piece *last_of(struct vs_sim_piece *tree)
{
    while (tree && tree->right)
        tree = tree->right;
    return tree;
}

static struct vs_sim_piece *first_of(struct vs_sim_piece *tree)
{
    while (tree && tree->left)
        tree = tree->left;
    return tree;
}

/* Merges the outermost pieces of *run* with equal neighbours. */
static void run_insert(struct vs_sim_shadow *shadow, struct vs_sim_piece *low, struct run *run,
                       struct vs_sim_piece *high)
{
    struct run whole = {0};
    struct vs_sim_piece *before = last_of(low), *after = first_of(high), *rest;
    if (before) {
        piece_split(low, before->begin, &low, &rest);
        run_add(shadow, &whole, before);
    }
    for (struct vs_sim_piece *p = run->first, *next; p; p = next) {
        next = p->right;
        run_add(shadow, &whole, p);
    }
    if (after) {
        piece_split(high, after->begin + 1, &rest, &high);
        run_add(shadow, &whole, after);
    }
    for (struct vs_sim_piece *p = whole.first, *next; p; p = next) {
        next = p->right;
        p->right = NULL;
        low = piece_merge(low, p);
    }
    shadow->root = piece_merge(low, high);
}

void vs_sim_shadow_access(struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                          vs_sim_conflict conflict, void *to, struct vs_sim_unwritten *unwritten)
{
    struct work w = {access, conflict, to, {0}};
    uintptr_t begin = access->begin, end = access->end, at = begin;
    if (begin < end && !enter_in_place(&w, shadow)) {
        struct vs_sim_piece *low, *high, *middle = take_out(shadow, begin, end, &low, &high);
        struct run run = {0};
        enter_tree(&w, shadow, middle, &run, &at);
        gap_fill(&w, shadow, &run, at, end);
        run_insert(shadow, low, &run, high);
    }
    if (unwritten)
        *unwritten = w.unwritten;
    if (shadow->pieces > PIECES_MAX) {
        if (shadow->root) {
            uintptr_t first = first_of(shadow->root)->begin, last = last_of(shadow->root)->end;
            begin = first < begin ? first : begin;
            end = last > end ? last : end;
        }
        vs_sim_shadow_free(shadow);
        shadow->root = piece_new(begin, end); /* written by an unknown writer */
        shadow->root->written = true;
        shadow->pieces = 1;
    }
}

static void end_tree(const struct work *w, const struct vs_sim_piece *tree)
{
    for (; tree; tree = tree->right) {
        end_tree(w, tree->left);
        look(w, tree);
    }
}

void vs_sim_shadow_end(const struct vs_sim_shadow *shadow, const struct vs_sim_access *access,
                       vs_sim_conflict conflict, void *to)
{
    struct work w = {access, conflict, to, {0}};
    end_tree(&w, shadow->root);
}

/* ---- written bytes ---- */

static void set_unwritten(struct vs_sim_piece *tree)
{
    for (; tree; tree = tree->right) {
        set_unwritten(tree->left);
        tree->written = false;
    }
}

/* The end, at most *end*, of the bytes from *at* on that have the same state. */
static uintptr_t stretch(const struct vs_sim_shadow *shadow, uintptr_t at, uintptr_t end,
                         bool *written)
{
    struct vs_sim_piece *p = floor_of(shadow->root, at);
    *written = p && p->end > at && p->written;
    if (p && p->end > at)
        return p->end < end ? p->end : end;
    p = piece_first_from(shadow->root, (uint64_t)at + 1); /* a gap, up to the next piece */
    return p && p->begin < end ? p->begin : end;
}

size_t vs_sim_shadow_unwritten(const struct vs_sim_shadow *shadow, uintptr_t begin, uintptr_t end)
{
    size_t count = 0;
    bool written;
    for (uintptr_t next; begin < end; begin = next) {
        next = stretch(shadow, begin, end, &written);
        count += written ? 0 : next - begin;
    }
    return count;
}

void vs_sim_shadow_copy_unwritten(const struct vs_sim_shadow *from, uintptr_t begin, size_t bytes,
                                  struct vs_sim_shadow *to, uintptr_t to_begin)
{
    bool written;
    for (uintptr_t at = begin, end = begin + bytes, next; at < end; at = next) {
        next = stretch(from, at, end, &written);
        if (written)
            continue;
        struct vs_sim_piece *low, *high, *middle =
            take_out(to, to_begin + (at - begin), to_begin + (next - begin), &low, &high);
        set_unwritten(middle);
        to->root = piece_merge(piece_merge(low, middle), high);
    }
}

static bool check_piece(void *count, const struct vs_sim_piece *p, const struct vs_sim_piece *last)
{
    ++*(size_t *)count;
    return (!last || p->begin >= last->end) && p->end > p->begin && p->read_count <= READS_MAX;
}

bool vs_sim_shadow_check(const struct vs_sim_shadow *shadow)
{
    const struct vs_sim_piece *last = NULL;
    size_t count = 0;
    return piece_check(shadow->root, check_piece, &count, &last) && count == shadow->pieces;
}
