/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces as text; see the header. A statement is split into words, which the functions below take
 * from the front. */
#include "support/trace_text.h"

#include <stdio.h>

#include "support/cmocka_test.h"
#include "base/vs_size.h"
#include "trace/record/recorder_internal.h"

#define TEXT_MAX 8192
#define STATEMENT_MAX 1024

struct statement {
    char text[STATEMENT_MAX]; /* for messages */
    char words[STATEMENT_MAX], *next;
    unsigned i; /* of the repetition around it */
};

static void wrong(const struct statement *s, const char *why)
{
    fail_msg("trace: \"%s\": %s", s->text, why);
}

/* The next word; NULL at the end. */
static const char *word(struct statement *s)
{
    s->next += strspn(s->next, " ");
    if (!*s->next)
        return NULL;
    char *begin = s->next;
    s->next += strcspn(s->next, " ");
    if (*s->next)
        *s->next++ = '\0';
    return begin;
}

static const char *needed(struct statement *s)
{
    const char *text = word(s);
    if (!text)
        wrong(s, "a word is missing");
    return text;
}

static bool next_is(struct statement *s, const char *expected)
{
    size_t n = strlen(expected);
    s->next += strspn(s->next, " ");
    if (strncmp(s->next, expected, n) != 0 || (s->next[n] && s->next[n] != ' '))
        return false;
    word(s);
    return true;
}

static const char *rest(struct statement *s)
{
    const char *text = s->next + strspn(s->next, " ");
    s->next += strlen(s->next);
    return text;
}

/* A sum of numbers and multiples of i. */
static uint64_t sum(struct statement *s, const char *text)
{
    uint64_t total = 0;
    for (;;) {
        char *end;
        uint64_t number = *text == 'i' ? 1 : strtoull(text, &end, 10);
        if (*text == 'i')
            end = (char *)text;
        else if (end == text)
            wrong(s, "not a number");
        if (*end == 'i') {
            number *= s->i;
            end++;
        }
        total += number;
        if (!*end)
            return total;
        if (*end != '+')
            wrong(s, "not a sum of numbers");
        text = end + 1;
    }
}

static uint64_t bytes(struct statement *s)
{
    char text[64];
    uint64_t size;
    snprintf(text, sizeof text, "%s", needed(s));
    char *unit = strchr(text, '\0') - 1;
    if (strchr(text, 'i') && *unit == 'M') { /* 2i+11M */
        *unit = '\0';
        return sum(s, text) * MIB;
    }
    char *less = strchr(text, '-');
    if (less)
        *less++ = '\0';
    if (vs_size_parse(text, &size))
        wrong(s, "not a size");
    return less ? size - sum(s, less) : size;
}

static uint64_t address(struct statement *s)
{
    const char *text = needed(s);
    if (strncmp(text, "memory:", 7) == 0)
        return VS_ADDR_MEMORY + sum(s, text + 7);
    return VS_TRACE_ADDRESS + sum(s, text) * MIB;
}

static enum vs_family family(struct statement *s)
{
    for (enum vs_family f = 0; f < VS_FAMILY_COUNT; f++)
        if (next_is(s, vs_family_name(f)))
            return f;
    return VS_FAMILY_DEVICE;
}

/* The number of the next word in *names*. */
static uint64_t choice(struct statement *s, const char *const *names)
{
    for (uint64_t i = 0; names[i]; i++)
        if (next_is(s, names[i]))
            return i;
    wrong(s, "an unknown word");
    return 0;
}

static uint64_t stream(struct statement *s)
{
    return next_is(s, "stream") ? sum(s, needed(s)) : 0;
}

/* The number of the function or object *name*, which the trace knows from then on. */
static unsigned module_of(struct vs_builder *b, const char *name, const char *function, const char *path)
{
    unsigned i = 0;
    while (i < b->function_count && strcmp(b->functions[i], name) != 0)
        i++;
    if (i < b->function_count)
        return i;
    assert_true(i < VS_BUILDER_FUNCTIONS_MAX && strlen(name) < sizeof b->functions[0]);
    strcpy(b->functions[b->function_count++], name);
    struct vs_event e = {.kind = VS_EVENT_module, .time_ns = b->now_ns, .tid = b->tid,
                         .module = {.module = i, .alive = 1, .function = vs_builder_string(b, function),
                                    .path = vs_builder_string(b, path)}};
    if (!*function) {
        e.module.base = e.module.start = (UINT64_C(0x7f0) + i) << 32;
        e.module.end = e.module.base + MIB;
        e.module.build_id = vs_builder_string(b, "00");
    }
    vs_recorder_event(b->recorder, &e);
    return i;
}

/* Interns a call by *frame*, which is changed, from the stack *caller*. */
static uint64_t call_of(struct vs_builder *b, struct statement *s, uint64_t caller, char *frame)
{
    unsigned module, line = 1;
    char name[sizeof b->functions[0]];
    if (*frame == '@' && frame[1] != '/') {
        unsigned i = 0;
        while (i < b->native_count && strcmp(b->natives[i], frame + 1) != 0)
            i++;
        assert_true(i < VS_BUILDER_NATIVES_MAX);
        if (i == b->native_count)
            snprintf(b->natives[b->native_count++], sizeof b->natives[0], "%.63s", frame + 1);
        module = module_of(b, "@" VS_BUILDER_LIBRARY, "", VS_BUILDER_LIBRARY);
        line = 16 * (i + 1);
    } else if (*frame == '@') {
        module = module_of(b, frame, "", frame + 1);
    } else {
        char *path = strchr(frame, ' '), *number = NULL;
        if (path)
            *path++ = '\0';
        if (path && *path != '/' && *path != '<') {
            number = path;
            path = NULL;
        } else if (path && (number = strrchr(path, ':')) != NULL) {
            *number++ = '\0';
        }
        if (number)
            line = (unsigned)sum(s, number);
        snprintf(name, sizeof name, "%.120s %.120s", frame, path ? path : "/opt/demo/train.py");
        module = module_of(b, name, frame, strchr(name, ' ') + 1);
    }
    struct vs_recorder *r = b->recorder;
    vs_lock_acquire(&r->lock);
    assert_true(vs_window_reserve_locked(r, VS_STACK_NODE_BYTES_MAX));
    uint64_t id = vs_intern_node_locked(r, caller, module + 1, line);
    vs_lock_release(&r->lock);
    return id;
}

/* The stack of *frames*, the innermost first: the last one is interned first. */
static uint64_t stack_of(struct vs_builder *b, struct statement *s, const char *frames)
{
    const char *next = strstr(frames, " < ");
    char frame[STATEMENT_MAX];
    snprintf(frame, sizeof frame, "%.*s", (int)(next ? next - frames : (long)strlen(frames)), frames);
    return call_of(b, s, next ? stack_of(b, s, next + 3) : 0, frame);
}

uint64_t vs_trace_site(struct vs_builder *b, const char *function, unsigned line)
{
    char frame[80];
    snprintf(frame, sizeof frame, "%s %u", function, line);
    return stack_of(b, &(struct statement){.text = ""}, frame);
}

static void run_statement(struct vs_builder *b, const char *text, size_t size, unsigned i)
{
    struct statement s;
    assert_true(size < sizeof s.text);
    s.i = i;
    snprintf(s.text, sizeof s.text, "%.*s", (int)size, text);
    memcpy(s.words, s.text, sizeof s.words);
    s.next = s.words;
    const char *verb = word(&s);
    if (!verb)
        return;
    if (!strcmp(verb, "device")) {
        b->total_bytes = bytes(&s);
        vs_builder_device(b, b->device, rest(&s), b->total_bytes);
    } else if (!strcmp(verb, "at")) {
        const char *frames = rest(&s);
        b->stack = *frames ? stack_of(b, &s, frames) : 0;
    } else if (!strcmp(verb, "gpu")) {
        b->device = sum(&s, needed(&s));
    } else if (!strcmp(verb, "by")) {
        snprintf(b->api, sizeof b->api, "%s", rest(&s));
    } else if (!strcmp(verb, "thread")) {
        b->tid = VS_BUILDER_PID + (uint32_t)sum(&s, needed(&s));
    } else if (!strcmp(verb, "step")) {
        vs_builder_step(b, (unsigned)sum(&s, needed(&s)));
    } else if (!strcmp(verb, "push")) {
        vs_builder_push(b, rest(&s));
    } else if (!strcmp(verb, "pop")) {
        vs_builder_pop(b);
    } else if (!strcmp(verb, "mark")) {
        vs_builder_event(b, EVENT(mark, .name = vs_builder_string(b, rest(&s))));
    } else if (!strcmp(verb, "option")) {
        uint64_t name = vs_builder_string(b, needed(&s));
        vs_builder_event(b, EVENT(option, .name = name, .value = vs_builder_string(b, rest(&s))));
    } else if (!strcmp(verb, "alloc")) {
        uint64_t addr = address(&s), size_bytes = bytes(&s);
        enum vs_family f = family(&s);
        vs_builder_alloc(b, b->device, f, addr, size_bytes, next_is(&s, "as") ? bytes(&s) : size_bytes);
    } else if (!strcmp(verb, "free")) {
        vs_builder_free(b, b->device, address(&s));
    } else if (!strcmp(verb, "fail")) {
        uint64_t requested = bytes(&s);
        enum vs_family f = family(&s);
        bool known = next_is(&s, "free");
        uint64_t free_bytes = known ? bytes(&s) : 0;
        const char *api = next_is(&s, "by") ? needed(&s) : "cudaMalloc";
        vs_builder_event(b, EVENT(alloc_failed, .requested = requested, .family = f,
                                  .device = b->device, .context = 1 + b->device, .stack = b->stack,
                                  .error = next_is(&s, "error") ? sum(&s, needed(&s)) : 2,
                                  .api = vs_builder_string(b, api),
                                  .device_free_bytes = free_bytes,
                                  .device_total_bytes = known ? b->total_bytes : 0));
    } else if (!strcmp(verb, "segment")) {
        uint64_t addr = address(&s), size_bytes = bytes(&s), on = stream(&s);
        vs_builder_event(b, EVENT(segment_alloc, .addr = addr, .size = size_bytes,
                                  .device = b->device, .context = 1 + b->device, .stack = b->stack,
                                  .stream = on,
                                  .pool = next_is(&s, "pool") ? sum(&s, needed(&s)) : 0));
    } else if (!strcmp(verb, "grow")) {
        uint64_t addr = address(&s), size_bytes = bytes(&s);
        vs_builder_event(b, EVENT(segment_map, .addr = addr, .size = size_bytes,
                                  .reserved = size_bytes, .device = b->device,
                                  .context = 1 + b->device, .pool = 1));
    } else if (!strcmp(verb, "shrink")) {
        uint64_t addr = address(&s), size_bytes = bytes(&s);
        vs_builder_event(b, EVENT(segment_unmap, .addr = addr, .size = size_bytes,
                                  .reserved = size_bytes, .device = b->device));
    } else if (!strcmp(verb, "unsegment")) {
        uint64_t addr = address(&s);
        vs_builder_segment_free(b, b->device, addr, bytes(&s));
    } else if (!strcmp(verb, "tensor")) {
        struct vs_event e = EVENT(framework_alloc, .device = b->device, .stack = b->stack);
        e.framework_alloc.addr = address(&s);
        e.framework_alloc.size = bytes(&s);
        e.framework_alloc.framework_stream = stream(&s);
        if (next_is(&s, "of")) {
            e.framework_alloc.total_allocated = bytes(&s);
            e.framework_alloc.total_reserved = bytes(&s);
        }
        vs_builder_event(b, e);
    } else if (!strcmp(verb, "drop")) {
        vs_builder_event(b, EVENT(framework_free, .addr = address(&s), .device = b->device));
    } else if (!strcmp(verb, "run")) {
        const char *pass = needed(&s);
        vs_builder_event(b, EVENT(torch_module, .pass = strcspn("nfbr", (char[]){*pass, 0}),
                                  .path = vs_builder_string(b, rest(&s))));
    } else if (!strcmp(verb, "own")) {
        uint64_t addr = address(&s);
        const char *what = needed(&s);
        vs_builder_event(b, EVENT(torch_tensor, .addr = addr, .device = b->device,
                                  .what = strcspn(" pgs r", (char[]){*what, 0}),
                                  .name = vs_builder_string(b, rest(&s))));
    } else if (!strcmp(verb, "raise")) {
        vs_builder_event(b, EVENT(framework_oom, .requested = bytes(&s), .stack = b->stack));
    } else if (!strcmp(verb, "map")) {
        uint64_t addr = address(&s), size_bytes = bytes(&s);
        vs_builder_event(b, EVENT(vmm_map, .addr = addr, .size = size_bytes,
                                  .memory = sum(&s, needed(&s))));
    } else if (!strcmp(verb, "unmap")) {
        vs_builder_event(b, EVENT(vmm_unmap, .addr = address(&s)));
    } else if (!strcmp(verb, "sample")) {
        vs_builder_event(b, EVENT(device_sample, .device = b->device, .free_bytes = bytes(&s),
                                  .total_bytes = b->total_bytes));
    } else if (!strcmp(verb, "kernel")) {
        uint64_t on = sum(&s, needed(&s)), start = sum(&s, needed(&s)), length = sum(&s, needed(&s));
        vs_builder_kernel(b, b->device, on, rest(&s), start, length);
    } else if (!strcmp(verb, "call")) {
        b->correlation = ++b->calls;
        vs_builder_event(b, EVENT(work_call, .correlation = b->correlation, .stack = b->stack,
                                  .api = vs_builder_string(b, "cudaLaunch")));
    } else if (!strcmp(verb, "switch")) {
        vs_builder_event(b, EVENT(activity_switched, .on = next_is(&s, "on")));
    } else if (!strcmp(verb, "wait")) {
        uint64_t kind = sum(&s, needed(&s)), start = b->start_ns + sum(&s, needed(&s));
        vs_builder_event(b, EVENT(sync, .start_ns = start, .end_ns = start + sum(&s, needed(&s)),
                                  .device = b->device, .sync_kind = kind, .stack = b->stack,
                                  .api = vs_builder_string(b, "cudaStreamSynchronize")));
    } else if (!strcmp(verb, "context")) {
        uint64_t context = sum(&s, needed(&s));
        vs_builder_context(b, context, b->device, !next_is(&s, "ends"));
    } else if (!strcmp(verb, "usage")) {
        static const char *const whats[] = {"own", "others", "process", "pools", NULL};
        static const char *const hows[] = {"by_pid", "by_rule", "unattributed", "no_bytes", NULL};
        struct vs_event e = EVENT(device_usage, .what = choice(&s, whats));
        e.device_usage.bytes = bytes(&s);
        e.device_usage.count = next_is(&s, "count") ? sum(&s, needed(&s)) : 1;
        e.device_usage.pid = next_is(&s, "pid") ? sum(&s, needed(&s)) : 0;
        e.device_usage.how = *s.next ? choice(&s, hows) : VS_USAGE_BY_PID;
        vs_builder_event(b, e);
    } else if (!strcmp(verb, "overhead")) {
        static const char *const whats[] = {"context", "module", "limit", NULL};
        static const char *const hows[] = {"measured", "reported", "at_most", NULL};
        struct vs_event e = EVENT(overhead, .what = choice(&s, whats), .device = b->device,
                                  .stack = b->stack);
        e.overhead.context = sum(&s, needed(&s));
        bool less = next_is(&s, "less");
        e.overhead.bytes = less ? -bytes(&s) : bytes(&s);
        e.overhead.how = *s.next ? choice(&s, hows) : VS_OVERHEAD_MEASURED;
        vs_builder_event(b, e);
    } else if (!strcmp(verb, "refused")) {
        static const char *const whats[] = {"context", "module", "limit", "launch", NULL};
        struct vs_event e = EVENT(overhead_failed, .what = choice(&s, whats), .error = 2,
                                  .api = vs_builder_string(b, "cuCtxCreate"),
                                  .device_total_bytes = b->total_bytes);
        e.overhead_failed.context = sum(&s, needed(&s));
        e.overhead_failed.device_free_bytes = next_is(&s, "free") ? bytes(&s) : 0;
        vs_builder_event(b, e);
    } else if (!strcmp(verb, "graphs")) {
        uint64_t reserved = bytes(&s), used = next_is(&s, "used") ? bytes(&s) : 0;
        vs_builder_event(b, EVENT(graph_memory, .used = used, .used_high = used,
                                  .reserved = reserved, .reserved_high = reserved));
    } else if (!strcmp(verb, "copy")) {
        uint64_t on = sum(&s, needed(&s));
        enum vs_copy_kind kind = next_is(&s, "htod") ? VS_COPY_HTOD : VS_COPY_DTOH;
        if (kind == VS_COPY_DTOH && !next_is(&s, "dtoh"))
            wrong(&s, "a copy from where to where?");
        uint64_t copied = bytes(&s), start = sum(&s, needed(&s)), length = sum(&s, needed(&s));
        b->host_memory = next_is(&s, "pageable") ? VS_MEMORY_PAGEABLE
                         : next_is(&s, "pinned") ? VS_MEMORY_PINNED : VS_MEMORY_UNKNOWN;
        vs_builder_memcpy(b, b->device, on, kind, copied, start, length);
    } else {
        wrong(&s, "not a statement");
    }
    if (*rest(&s))
        wrong(&s, "more words than it takes");
}

static void run(struct vs_builder *b, const char *text, const char *end, unsigned i)
{
    while (text < end) {
        text += strspn(text, " ;\n");
        size_t size = strcspn(text, ";\n{}");
        unsigned times;
        if (text + size >= end || text[size] != '{') {
            size = text + size < end ? size : text < end ? (size_t)(end - text) : 0;
            run_statement(b, text, size, i);
            text += size + 1;
            continue;
        }
        const char *close = text + size;
        for (int depth = 1; depth && *close++;)
            depth += *close == '{' ? 1 : *close == '}' ? -1 : 0;
        if (sscanf(text, "repeat %u {", &times) != 1 || !*close)
            fail_msg("trace: \"%s\": not repeat N { ... }", text);
        for (unsigned n = 0; n < times; n++)
            run(b, text + size + 1, close, n);
        text = close + 1;
    }
}

void vs_trace(struct vs_builder *builder, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_in_range(size, 0, sizeof text - 1);
    run(builder, text, text + size, 0);
}
