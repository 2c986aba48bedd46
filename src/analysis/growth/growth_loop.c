/* SPDX-License-Identifier: Apache-2.0
 *
 * A symbol is a call site, or a call site and a size where sites alone do not
 * repeat (a trace without stacks). Symbols with about the same number of regular requests belong to
 * one loop, and one of them marks its repetitions. Only transient bytes are compared: live bytes
 * that are freed later. What stays, such as a leak, does not hide the floor of a loop: the lowest
 * transient bytes of each repetition. */
#include "analysis/growth/growth_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_map.h"

#define REPEATS_MIN 3u
#define REPEATS_SIZED_MIN 5u /* of a call site and a size: more of them repeat by chance */
#define REGULAR_MIN 0.6  /* share of distances between half and twice the median */
#define LOOPS_MAX 24u
#define SAMPLES 512u /* of distances or heights, for their median */
#define RETURN_MAX 0.35  /* what the floor both rises and falls, of the height of a repetition */
#define FLOOR_MAX 0.1    /* height above an outer loop's floor, of the repetition's height */
#define ALONE_MIN 0.9    /* share of the requests at the mark's call site when no other repeats */
#define SPAN_MIN 0.4     /* share of the requests that lie in repetitions of usual length */
#define PRESENT_MIN 0.6  /* a call site of the loop has requests in this share of repetitions */
#define COVER_MIN 0.5    /* share of the requests that are of such call sites */
#define SAME_MIN 0.5     /* share of these with as many requests as in the repetition before */
#define SAME_SIZED_MIN 0.75
/* a loop of other requests each time, which is back at the floor in every repetition */
#define RETURNS_REGULAR 0.9
#define RETURNS_MIN 8u
#define RETURNS_FLOOR 0.1
/* fewer requests of one call site in a row are a list of buffers, if there is no time for work between them */
#define LONE_MIN 10u
#define LONE_NS 1000000u
#define TURNS_MAX 2u /* times that a thread comes back to the mark after another one */

struct loop_symbol {
    uint64_t size;
    uint32_t site, count;
    uint32_t first, last; /* of its requests */
    uint32_t usual_gap;
    double regular;
    double level;        /* mean transient bytes before its requests */
};

/* Transient bytes before a request and after it; before a request of another account UINT64_MAX. */
struct loop_bytes {
    uint64_t before, after;
};

/* The lowest transient bytes of a repetition. */
struct loop_low {
    uint64_t level;
    uint32_t at;
};

struct loop_group {
    struct loop_symbol *mark;
    struct loop_low *lows; /* of each repetition */
    size_t count;
    double height; /* median of highest - lowest transient bytes of a repetition */
    double floor;  /* mean of the lows */
    size_t frees;  /* repetitions in which live bytes rise less than by all their requests */
    double change; /* mean of what the floor both rises and falls between two repetitions */
};

struct loop_search {
    const struct vs_loop_requests *requests;
    bool sized;
    uint32_t account;
    struct loop_symbol *symbols; /* all, then the regular ones */
    size_t symbol_count, symbol_capacity, all_count;
    uint32_t *next, *symbol_of; /* of each request: the next one of its symbol, and the symbol */
    struct loop_bytes *bytes;   /* likewise */
    struct loop_group groups[LOOPS_MAX];
    size_t group_count;
};

void vs_loop_grow(struct vs_loop_requests *requests)
{
    requests->capacity = requests->capacity ? 2 * requests->capacity : 16;
    requests->items = vs_xrealloc(requests->items, requests->capacity, sizeof *requests->items);
}

void vs_loop_free(struct vs_loop_requests *requests)
{
    free(requests->items);
    *requests = (struct vs_loop_requests){0};
}

/* Lists the symbols and the requests of each. A call site is its own number. */
static void list_symbols(struct loop_search *search)
{
    struct vs_map by_key = {0};
    search->all_count = 0;
    for (size_t i = 0; i < search->requests->count; i++) {
        const struct vs_loop_request *request = vs_loop_at(search->requests, i);
        search->symbol_of[i] = UINT32_MAX;
        if (request->account != search->account)
            continue;
        uint64_t index = request->site;
        if (search->sized) {
            uint64_t key = (index << 1 | 1) ^ (request->size + 1) * UINT64_C(0x9e3779b97f4a7c15) << 1;
            const uint64_t *known = vs_map_get(&by_key, key);
            index = known ? *known : vs_xmap_number(&by_key, key, search->all_count);
        }
        if (index >= search->all_count) {
            search->all_count = index + 1;
            vs_vec_room(&search->symbols, &search->symbol_capacity, index + 1,
                        sizeof *search->symbols);
        }
        struct loop_symbol *symbol = &search->symbols[index];
        if (symbol->count++ == 0)
            *symbol = (struct loop_symbol){request->size, request->site, 1, .first = (uint32_t)i};
        else
            search->next[symbol->last] = (uint32_t)i;
        symbol->last = (uint32_t)i;
        search->symbol_of[i] = (uint32_t)index;
    }
    vs_map_free(&by_key);
}

/* Whether *symbol* comes at regular distances until the end; fills in its distances. */
static bool is_regular(struct loop_search *search, struct loop_symbol *symbol)
{
    if (symbol->count < (search->sized ? REPEATS_SIZED_MIN : REPEATS_MIN))
        return false;
    const uint32_t *next = search->next;
    uint32_t n = symbol->count - 1, taken = 0, each = (n + SAMPLES - 1) / SAMPLES, sample = 0;
    uint64_t gaps[SAMPLES], longest = 0, usual = 0, within = 0;
    for (uint32_t at = symbol->first, i = 0; at != symbol->last; at = next[at], i++) {
        uint64_t gap = next[at] - at;
        longest = gap > longest ? gap : longest;
        if (i == sample) {
            gaps[taken++] = gap;
            sample += each;
        }
    }
    if (search->requests->count - symbol->last > 2 * longest + 8)
        return false;
    uint64_t median = vs_vec_nth(gaps, taken, taken / 2);
    for (uint32_t at = symbol->first; at != symbol->last; at = next[at]) {
        uint64_t gap = next[at] - at;
        if (2 * gap < median || gap > 2 * median)
            continue;
        usual++;
        within += gap;
    }
    symbol->usual_gap = (uint32_t)median;
    symbol->regular = (double)usual / n;
    return symbol->regular >= REGULAR_MIN &&
           (double)within >= SPAN_MIN * (symbol->last - symbol->first);
}

/* Finds the floor of a loop, its height and how steadily the floor changes. */
static void measure_group(struct loop_search *search, struct loop_group *group)
{
    const struct loop_symbol *mark = group->mark;
    uint64_t heights[SAMPLES], floors = 0, rises = 0, floor = 0;
    uint64_t level = vs_loop_at(search->requests, mark->first)->level;
    size_t taken = 0, each = (mark->count + SAMPLES - 1) / SAMPLES, sample = 0;
    group->lows = vs_xcalloc(mark->count, sizeof *group->lows);
    for (uint32_t from = mark->first, end; from != mark->last; from = end, group->count++) {
        struct loop_low low = {UINT64_MAX, from};
        uint64_t high = 0, requested = 0;
        end = search->next[from];
        for (uint32_t i = from; i < end; i++) {
            struct loop_bytes bytes = search->bytes[i];
            if (bytes.before == UINT64_MAX)
                continue;
            requested += bytes.after - bytes.before;
            if (bytes.before < low.level)
                low = (struct loop_low){bytes.before, i};
            if (bytes.after > high)
                high = bytes.after;
        }
        uint64_t kept = level + requested;
        level = vs_loop_at(search->requests, end)->level;
        group->frees += level < kept;
        rises += group->count && low.level > floor ? low.level - floor : 0;
        floor = low.level;
        floors += floor;
        group->lows[group->count] = low;
        if (group->count == sample) {
            heights[taken++] = high - floor;
            sample += each;
        }
    }
    /* the lows rose by *rises* in all; how far they fell follows from the first and the last of them */
    uint64_t falls = rises + group->lows[0].level - floor;
    group->floor = (double)floors / (double)group->count;
    group->height = (double)vs_vec_nth(heights, taken, taken / 2);
    group->change = (double)(rises < falls ? rises : falls) / (double)group->count;
}

/* Symbols with about the same count form a group. */
static void group_symbols(struct loop_search *search)
{
    for (size_t s = 0; s < search->symbol_count; s++) {
        struct loop_symbol *symbol = &search->symbols[s];
        uint64_t sum = search->bytes[symbol->last].before;
        for (uint32_t at = symbol->first; at != symbol->last; at = search->next[at])
            sum += search->bytes[at].before;
        symbol->level = (double)sum / symbol->count;
    }
    VS_SORT(search->symbols, search->symbol_count, VS_DOWN(count), VS_UP(first));
    uint32_t most = 0;
    for (size_t s = 0; s < search->symbol_count; s++) {
        struct loop_symbol *symbol = &search->symbols[s];
        struct loop_group *group =
            search->group_count ? &search->groups[search->group_count - 1] : NULL;
        uint64_t count = symbol->count;
        if (group && (count + 1 >= most || 5 * count >= UINT64_C(4) * most)) {
            /* the more regular symbol marks better; of nearly equal ones the one at the lower
             * live bytes */
            bool regular = symbol->regular >= 0.9, other = group->mark->regular >= 0.9;
            if (regular != other ? regular : symbol->level < group->mark->level)
                group->mark = symbol;
            continue;
        }
        if (search->group_count == LOOPS_MAX)
            break;
        search->groups[search->group_count++].mark = symbol;
        most = symbol->count;
    }
    for (size_t g = 0; g < search->group_count; g++)
        measure_group(search, &search->groups[g]);
}

/* By how much the floor of *inner* is above that of *outer*, on average. */
static double above_floor(const struct loop_group *inner, const struct loop_group *outer)
{
    double sum = 0;
    size_t n = 0, o = 0;
    for (size_t i = 0; i < inner->count; i++) {
        const struct loop_low *low = &inner->lows[i];
        while (o + 1 < outer->count && outer->lows[o + 1].at <= low->at)
            o++;
        if (o + 1 >= outer->count || low->at < outer->lows[o].at)
            continue;
        const struct loop_low *from = &outer->lows[o], *to = &outer->lows[o + 1];
        double share = (double)(low->at - from->at) / (double)(to->at - from->at);
        sum += (double)low->level - (double)from->level -
               share * ((double)to->level - (double)from->level);
        n++;
    }
    return n ? sum / (double)n : 0;
}

/* Whether the floor stays the same from one repetition to the next, and most free memory. */
static bool is_steady(const struct loop_group *group)
{
    return 2 * group->frees >= group->count && group->change <= RETURN_MAX * group->height;
}

/* How the requests of a call site repeat. */
struct loop_presence {
    uint32_t now, before; /* requests in a repetition, and in the last one with any */
    uint32_t last;        /* that one's number + 1 */
    uint32_t present, same, total;
};

/* Whether most requests are of call sites that are in most repetitions, as often as in the one
 * before: otherwise the mark comes at regular distances by chance. */
static bool repeats_the_same(const struct loop_search *search, const struct loop_symbol *mark)
{
    struct loop_presence *sites = vs_xcalloc(search->all_count, sizeof *sites);
    uint64_t covered = 0, total = 0, same = 0, all = 0;
    for (uint32_t from = mark->first, end, k = 0; from != mark->last; from = end, k++) {
        end = search->next[from];
        for (uint32_t i = from; i < end; i++)
            if (search->symbol_of[i] != UINT32_MAX)
                sites[search->symbol_of[i]].now++;
        for (uint32_t i = from; i < end; i++) {
            uint32_t symbol = search->symbol_of[i];
            struct loop_presence *site = symbol == UINT32_MAX ? NULL : &sites[symbol];
            if (!site || site->now == 0)
                continue; /* counted */
            site->present++;
            site->same += k && site->last == k && site->now == site->before;
            site->total += site->now;
            site->before = site->now;
            site->last = k + 1;
            site->now = 0;
        }
    }
    for (size_t s = 0; s < search->all_count; s++) {
        total += sites[s].total;
        if (sites[s].present < PRESENT_MIN * (mark->count - 1))
            continue;
        covered += sites[s].total;
        if (s == search->symbol_of[mark->first])
            continue; /* the mark is in each once */
        same += sites[s].same;
        all += sites[s].present - 1;
    }
    free(sites);
    if (!all && (double)covered < ALONE_MIN * (double)total)
        same = 0, all = 1;
    double same_min = search->sized ? SAME_SIZED_MIN : SAME_MIN;
    return (double)same >= same_min * (double)all && (double)covered >= COVER_MIN * (double)total;
}

/* Whether the requests of *mark* are the repetitions of one loop. Where threads take turns at them each
 * has a loop of its own. */
static bool is_one_loop(const struct loop_search *search, const struct loop_symbol *mark)
{
    struct vs_map threads = {0};
    const struct vs_loop_request *before = NULL;
    uint64_t turns = 0, shortest = UINT64_MAX;
    for (uint32_t at = mark->first, i = 0; i < mark->count; at = search->next[at], i++) {
        const struct vs_loop_request *request = vs_loop_at(search->requests, at);
        if (before && request->time_ns - before->time_ns < shortest)
            shortest = request->time_ns - before->time_ns;
        if (!before || request->thread != before->thread) {
            vs_xmap_put(&threads, request->thread + UINT64_C(1), 1);
            turns++;
        }
        before = request;
    }
    uint64_t returns = turns - threads.count; /* to a thread that had the mark before */
    vs_map_free(&threads);
    return returns <= TURNS_MAX &&
           (mark->usual_gap > 1 || mark->count >= LONE_MIN || shortest >= LONE_NS);
}

/* The innermost loop that reaches the floor of all loops around it in each repetition, or NULL. */
static const struct loop_group *innermost(const struct loop_search *search)
{
    for (size_t g = 0; g < search->group_count; g++) {
        const struct loop_group *group = &search->groups[g];
        bool same = is_steady(group);
        for (size_t o = g + 1; same && o < search->group_count; o++)
            same = !is_steady(&search->groups[o]) ||
                   above_floor(group, &search->groups[o]) <= FLOOR_MAX * group->height;
        /* whether the live bytes at the end of each repetition are those at its begin, whatever
         * lies between */
        bool returns = !search->sized && group->mark->regular >= RETURNS_REGULAR &&
                       group->mark->count >= RETURNS_MIN &&
                       group->change <= RETURNS_FLOOR * group->height &&
                       group->floor <= RETURNS_FLOOR * group->height;
        if (same && is_one_loop(search, group->mark) && (returns || repeats_the_same(search, group->mark)))
            return group;
    }
    return NULL;
}

/* The call site that requests first after the lowest live bytes in most repetitions: a step begins
 * with its first request after the mark. The mark itself where there is no such site. */
static uint32_t first_after_floor(const struct loop_search *search, const struct loop_group *group)
{
    uint32_t *repetitions = NULL, best = group->mark->site, most = 0; /* by call site */
    size_t capacity = 0;
    for (size_t k = 0; k < group->count; k++) {
        uint32_t site = vs_loop_at(search->requests, group->lows[k].at)->site;
        vs_vec_room(&repetitions, &capacity, site + 1, sizeof *repetitions);
        uint32_t same = ++repetitions[site];
        if (same > most || (same == most && site < best))
            most = same, best = site;
    }
    free(repetitions);
    return most >= REGULAR_MIN * (double)group->count ? best : group->mark->site;
}

void vs_loop_find(const struct vs_loop_requests *requests, struct vs_loop *out)
{
    struct loop_search search = {.requests = requests};
    size_t count = requests->count;
    uint32_t lead = 0;
    *out = (struct vs_loop){.found = false};
    if (count < REPEATS_MIN)
        return;
    /* Only the account with most requests is searched: the majority, or one of several busy ones.
     * Others have their own floor. */
    for (size_t i = 0; i < count; i++) {
        uint32_t account = requests->items[i].account;
        if (lead == 0)
            search.account = account;
        lead += account == search.account ? 1 : -1u;
    }
    search.next = vs_xcalloc(count, sizeof *search.next);
    search.symbol_of = vs_xcalloc(count, sizeof *search.symbol_of);
    search.bytes = vs_xcalloc(count, sizeof *search.bytes);
    uint64_t stays = UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        const struct vs_loop_request *request = vs_loop_at(requests, i);
        search.bytes[i].before = UINT64_MAX;
        if (request->account != search.account)
            continue;
        stays = request->level < stays ? request->level : stays;
        search.bytes[i].before = request->level - stays;
        search.bytes[i].after = search.bytes[i].before + request->size;
    }
    for (int sized = 0; sized < 2 && !out->found; sized++) {
        search.sized = sized;
        list_symbols(&search);
        /* The regular symbols only, and of these the ones that repeat in most of the part that
         * repeats: a loop at the very end may be a part of the last step. */
        size_t regular = 0, kept = 0, longest = 0;
        for (size_t i = 0; i < search.all_count; i++) {
            struct loop_symbol *symbol = &search.symbols[i];
            if (!is_regular(&search, symbol))
                continue;
            longest = count - symbol->first > longest ? count - symbol->first : longest;
            search.symbols[regular++] = *symbol;
        }
        for (size_t i = 0; i < regular; i++)
            if (2 * (count - search.symbols[i].first) >= longest)
                search.symbols[kept++] = search.symbols[i];
        search.symbol_count = kept;
        group_symbols(&search);
        const struct loop_group *group = innermost(&search);
        if (group)
            *out = (struct vs_loop){.found = true, .sized = sized, .site = group->mark->site,
                                    .begin = first_after_floor(&search, group),
                                    .account = search.account, .size = group->mark->size,
                                    .usual = group->mark->usual_gap, .repeats = group->mark->count,
                                    .regular = group->mark->regular};
        for (size_t g = 0; g < search.group_count; g++)
            free(search.groups[g].lows);
        search.group_count = 0;
        memset(search.groups, 0, sizeof search.groups);
        memset(search.symbols, 0, search.all_count * sizeof *search.symbols);
    }
    free(search.next);
    free(search.symbol_of);
    free(search.bytes);
    free(search.symbols);
}
