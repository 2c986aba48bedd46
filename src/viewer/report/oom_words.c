/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences of the post-mortem; see the header. Every figure comes from struct
 * vs_oom; nothing is worked out here but halves and differences. */
#include "viewer/report/oom_words.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/vs_size.h"
#include "viewer/common/text_style.h"

#define ULL(x) ((unsigned long long)(x))

const char *vs_oom_verdict_words(enum vs_verdict verdict)
{
    switch (verdict) {
    case VS_VERDICT_CAPACITY: return "true capacity: the work needs more memory than the device has";
    case VS_VERDICT_FRAGMENTATION: return "fragmentation: enough is free, but in pieces too small";
    case VS_VERDICT_GROWTH: return "growth per step: something is kept at the end of every step";
    case VS_VERDICT_SPIKE: return "single spike: one allocation unlike any before it";
    case VS_VERDICT_OTHERS: return "other process: others hold a good part of the device";
    case VS_VERDICT_OUTSIDE: return "memory outside the program: others hold the device";
    case VS_VERDICT_LIMIT: return "imposed limit: the run was limited to less than the device has";
    case VS_VERDICT_REFUSED: return "refused: the device said no although it reported enough free memory";
    case VS_VERDICT_ABSURD: return "absurd request: no device could hold it, so the size is wrong";
    case VS_VERDICT_HOST: return "host memory: the host refused page-locked memory, not the device";
    case VS_VERDICT_COUNT: break;
    }
    return "unknown";
}

struct words {
    char (*lines)[VS_SENTENCE_MAX];
    size_t count;
};

static void say(struct words *words, const char *format, ...) VS_PRINTF(2, 3);
static void put(char *out, const char *format, ...) VS_PRINTF(2, 3);

/* One sentence; what does not fit is cut. */
static void put(char *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, VS_SENTENCE_MAX, format, args);
    va_end(args);
}

/* A call site short enough to stand inside a sentence. */
#define NAME_COLUMNS 120
static const char *name_of(char out[4 * NAME_COLUMNS + 4], const struct vs_report_site *site,
                           size_t frames)
{
    char chain[VS_CHAIN_TEXT_MAX];
    return vs_text_clip(out, vs_text_site(chain, site, frames), NAME_COLUMNS);
}

static void say(struct words *words, const char *format, ...)
{
    if (words->count == VS_EVIDENCE_MAX)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(words->lines[words->count++], VS_SENTENCE_MAX, format, args);
    va_end(args);
}

static const char *size(char *buffer, uint64_t bytes)
{
    return vs_size_format(buffer, bytes);
}

static void say_missing(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], c[VS_SIZE_TEXT_MAX];
    if (oom->missing == 0)
        return;
    if (oom->need != oom->failure.requested)
        say(words, "the request needs %s from the device (%s, rounded up) and %s was to be had: %s "
            "too little", size(a, oom->need), size(b, oom->failure.requested),
            size(c, oom->free_bytes + oom->empty_bytes),
            size((char[VS_SIZE_TEXT_MAX]){0}, oom->missing));
    else
        say(words, "the request needs %s and %s was to be had: %s too little", size(a, oom->need),
            size(b, oom->free_bytes + oom->empty_bytes), size(c, oom->missing));
}

static void say_growth(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], chain[4 * NAME_COLUMNS + 4];
    say(words, "%llu call site%s hold%s more at the end of every step since step %llu: %s per "
        "step, %s so far",
        ULL(oom->growing.count), oom->growing.count == 1 ? "" : "s",
        oom->growing.count == 1 ? "s" : "", ULL(oom->growth_since), size(a, oom->growth_per_step),
        size(b, oom->growth_bytes));
    if (oom->growing.count)
        say(words, "most of it: %s", name_of(chain, &oom->growing.items[0], 3));
}

static void say_fragmentation(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], c[VS_SIZE_TEXT_MAX];
    say(words, "%s is free on the device and %s more is cached in %llu pieces, the largest %s",
        size(a, oom->free_bytes), size(b, oom->cached), ULL(oom->holes),
        size(c, oom->largest_hole));
    say(words, "together that is %s for a request of %s: no piece is large enough",
        size(a, oom->free_bytes + oom->cached), size(b, oom->failure.requested));
}

static void say_spike(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], share[16], chain[4 * NAME_COLUMNS + 4];
    const struct vs_report_site *site =
        oom->spike_is_request ? &oom->failure.site : &oom->spike_site;
    say(words, "%s of %s at %s", oom->spike_is_request ? "the request" : "one allocation of this step",
        size(a, oom->spike_bytes), name_of(chain, site, 3));
    say(words, "it is %s of the device; the largest other single allocation was %s",
        vs_text_percent(share, oom->spike_bytes, oom->total), size(b, oom->spike_next));
    if (oom->steps_done)
        say(words, "%llu earlier step%s peaked at %s, %s of the device", ULL(oom->steps_done),
            oom->steps_done == 1 ? "" : "s", size(a, oom->steps_peak),
            vs_text_percent(share, oom->steps_peak, oom->total));
    else
        say(words, "until then the program peaked at %s, %s of the device",
            size(a, oom->earlier_peak), vs_text_percent(share, oom->earlier_peak, oom->total));
}

static void say_capacity(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], c[VS_SIZE_TEXT_MAX], share[16];
    if (oom->total && oom->failure.requested > oom->total)
        say(words, "the request alone is larger than the whole device (%s of %s)",
            size(a, oom->failure.requested), size(b, oom->total));
    say(words, "the program's own live allocations are %s, %s of the device",
        size(a, oom->allocated), vs_text_percent(share, oom->allocated, oom->total));
    if (oom->cached)
        say(words, "%s more is cached, in pieces of at most %s: %s", size(a, oom->cached),
            size(b, oom->largest_hole),
            oom->cached < oom->missing ? "less than what is missing"
                                       : "the work was still growing, so pieces are not the cause");
    if (oom->steps_begun && oom->steps_done == 0)
        say(words, "not one step was completed: the first one does not fit");
    else if (oom->steps_done)
        say(words, "%llu step%s fitted, with a peak of %s; nothing grows from step to step",
            ULL(oom->steps_done), oom->steps_done == 1 ? "" : "s", size(c, oom->steps_peak));
}

static void say_limit(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], share[16];
    if (oom->device_total)
        say(words, "the option limit left the program %s of the device's %s, and it held %s of them",
            size(a, oom->limit), size(b, oom->device_total),
            vs_text_percent(share, oom->limit - oom->free_bytes, oom->limit));
    else
        say(words, "the option limit left the program %s of the device, and it held %s of them",
            size(a, oom->limit),
            vs_text_percent(share, oom->limit - oom->free_bytes, oom->limit));
    if (oom->device_free >= oom->missing)
        say(words, "the device itself had %s free: without the limit this request would have been met",
            size(a, oom->device_free));
}

static void say_others(struct words *words, const struct vs_oom *oom)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], share[16];
    const struct vs_balance *balance = &oom->balance;
    say(words, "%llu other process%s hold%s %s, %s of the device, as NVML tells; the program's "
        "allocations are %s", ULL(balance->others_count), balance->others_count == 1 ? "" : "es",
        balance->others_count == 1 ? "s" : "", size(a, balance->others),
        vs_text_percent(share, balance->others, oom->total), size(b, oom->reserved));
    for (size_t i = 0; i < balance->process_count && i < 3; i++)
        say(words, "process %llu holds %s", ULL(balance->process[i].pid),
            size(a, balance->process[i].bytes));
}

size_t vs_oom_evidence(const struct vs_oom *oom, char out[VS_EVIDENCE_MAX][VS_SENTENCE_MAX])
{
    struct words words = {out, 0};
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], share[16];
    switch (oom->verdict) {
    case VS_VERDICT_GROWTH:
        say_growth(&words, oom);
        say_missing(&words, oom);
        break;
    case VS_VERDICT_FRAGMENTATION:
        say_fragmentation(&words, oom);
        break;
    case VS_VERDICT_SPIKE:
        say_spike(&words, oom);
        say_missing(&words, oom);
        break;
    case VS_VERDICT_OTHERS:
        say_others(&words, oom);
        say_missing(&words, oom);
        break;
    case VS_VERDICT_OUTSIDE:
        say(&words, "%s, %s of the device, is held outside this program's allocations; the "
            "program itself holds %s", size(a, oom->outside),
            vs_text_percent(share, oom->outside, oom->total), size(b, oom->reserved));
        say_missing(&words, oom);
        break;
    case VS_VERDICT_LIMIT:
        say_limit(&words, oom);
        say_missing(&words, oom);
        break;
    case VS_VERDICT_REFUSED:
        say(&words, "the device reported %s free of %s; the request needs %s",
            size(a, oom->free_bytes), size(b, oom->total),
            size((char[VS_SIZE_TEXT_MAX]){0}, oom->need));
        say(&words, "so an imposed limit (MPS, MIG, a pool's maximum), free memory in pieces, or "
            "an injected fault stands in the way");
        break;
    case VS_VERDICT_ABSURD:
        say(&words, "the request of %s (%llu bytes) is for a device of %s",
            size(a, oom->failure.requested), ULL(oom->failure.requested), size(b, oom->total));
        say(&words, "sizes like this come from a negative or overflowed product, or from bytes "
            "taken for elements");
        break;
    case VS_VERDICT_HOST:
        say(&words, "%s of page-locked memory was asked for; the program held %s of it",
            size(a, oom->failure.requested), size(b, oom->allocated));
        break;
    case VS_VERDICT_CAPACITY:
    case VS_VERDICT_COUNT:
        say_capacity(&words, oom);
        say_missing(&words, oom);
        break;
    }
    return words.count;
}

/* "which fits" or "which is not enough alone: X is missing". */
static const char *verdict_of(char *buffer, const struct vs_oom *oom, const struct vs_remedy *remedy)
{
    char a[VS_SIZE_TEXT_MAX];
    if (remedy->fits)
        snprintf(buffer, 96, "enough for the %s missing", size(a, oom->missing));
    else
        snprintf(buffer, 96, "not enough alone for the %s missing", size(a, oom->missing));
    return buffer;
}

char *vs_oom_remedy_words(const struct vs_oom *oom, size_t index, char *out)
{
    const struct vs_remedy *remedy = &oom->remedies[index];
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX], c[VS_SIZE_TEXT_MAX], enough[96];
    char chain[4 * NAME_COLUMNS + 4] = "";
    size(a, remedy->bytes);
    size(b, remedy->other);
    verdict_of(enough, oom, remedy);
    switch (remedy->kind) {
    case VS_REMEDY_FREE_GROWTH:
        if (oom->growing.count)
            name_of(chain, &oom->growing.items[0], 2);
        put(out, "free what %s keeps: without the %s kept since step %llu (%s per step) the request "
            "fits with %s to spare", chain, a, ULL(oom->growth_since), b,
            size(c, remedy->bytes - oom->missing));
        break;
    case VS_REMEDY_AVOID_SPIKE:
        name_of(chain, oom->spike_is_request ? &oom->failure.site : &oom->spike_site, 2);
        put(out, "split or avoid the %s at %s: without it the run peaks at %s, which fits", a,
            chain, b);
        break;
    case VS_REMEDY_USE_HOLES:
        put(out, "keep the free memory in one piece: %s is free in all, %s at most at one place; "
            "allocate large buffers before small long-lived ones, or reuse one buffer", a, b);
        break;
    case VS_REMEDY_RELEASE_CACHE:
        put(out, "give back cached segments that nothing uses: %s, %s", a,
            remedy->fits ? "enough for the request" : "not enough alone");
        break;
    case VS_REMEDY_STOP_OTHERS:
        if (oom->balance.known && oom->balance.others_known && remedy->bytes == oom->balance.others) {
            put(out, "end or move the other processes (%s%llu): they hold %s, %s is missing",
                oom->balance.others_count == 1 ? "process " : "the largest is process ",
                ULL(oom->balance.process_count ? oom->balance.process[0].pid : 0), a, b);
            break;
        }
        put(out, "free the device of others (nvidia-smi lists them): they and the context hold %s, "
            "%s is missing", a, b);
        break;
    case VS_REMEDY_SMALLER_STEP:
        put(out, "halve what the step needs (batch, context, checkpointing): it had allocated %s by "
            "then, and half of that is %s, %s", b, a, enough);
        break;
    case VS_REMEDY_SHRINK_SITE:
        name_of(chain, &oom->sites.items[0], 2);
        put(out, "halve what %s holds (%s, for instance 16-bit instead of "
            "32-bit): that frees %s, %s", chain, b, a, enough);
        break;
    case VS_REMEDY_SMALLER_REQUEST:
        put(out, "ask in smaller pieces: up to %s at once would have been met at that moment "
            "(%s was asked for)", a, b);
        break;
    case VS_REMEDY_BIGGER_DEVICE:
        put(out, "a device of at least %s instead of %s meets this request; what comes after it may "
            "need more", a, b);
        break;
    case VS_REMEDY_RAISE_LIMIT:
        put(out, "run with a limit of at least %s instead of %s, %s; what comes after it may need more",
            a, b, remedy->fits ? "which the device can give" : "more than the device has left");
        break;
    case VS_REMEDY_LIFT_LIMIT:
        put(out, "lift the limit that refused it: %s was free for a request that needs %s", a, b);
        break;
    case VS_REMEDY_FIX_SIZE:
        put(out, "correct the size at %s", name_of(chain, &oom->failure.site, 2));
        break;
    }
    return out;
}
