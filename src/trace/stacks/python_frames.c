/* SPDX-License-Identifier: Apache-2.0
 *
 * The calling thread's Python frames, innermost first. This runs for every recorded stack, new or
 * cached: a few loads per frame, and two reads through the kernel in a detached thread of a
 * free-threaded build (3.14 on). A step stores the code object, the position in it, and a mark of
 * the code object, because code objects are freed and their addresses reused.
 *
 * 3.12 and later number code objects per interpreter: the mark is that number combined with the
 * interpreter's, which is never reused. For earlier versions the mark is a hash of the parts that a
 * stack shows (names, file, first lines).
 *
 * The frames cannot be freed meanwhile (see the header), and each is reached from a live one.
 * Pointers are checked for plausibility all the same, because a debugger or another tracer in the
 * process may have inserted frames of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/stacks/python.h"

/* reads memory of other code, under other locking rules */
#define NOT_CHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

/* Owners with this value or above are the eval loop itself (3.12: C stack; 3.14: interpreter). */
#define OWNER_LOOP 3u
#define OWNER_GENERATOR 1u
#define CODE_UNIT 2u
#define MARKED_MAX 2048u /* bytes of a file name or a table of lines */
#define COPIES_MAX (1u << 20) /* of instructions: one per thread */
#define STEP_LIMIT (4u * VS_PYTHON_STEPS_MAX) /* frames examined, stored or not */

NOT_CHECKED static inline uint64_t word(uint64_t at, uint32_t offset)
{
    return *(const volatile uint64_t *)(uintptr_t)(at + offset);
}

NOT_CHECKED static inline uint32_t half(uint64_t at, uint32_t offset)
{
    return *(const volatile uint32_t *)(uintptr_t)(at + offset);
}

NOT_CHECKED static inline uint8_t byte(uint64_t at, uint32_t offset)
{
    return *(const volatile uint8_t *)(uintptr_t)(at + offset);
}

/* Whether an object can have this address. */
static inline bool plausible(uint64_t at)
{
    return at >= 4096 && at < UINT64_C(1) << 47 && at % sizeof(uint64_t) == 0;
}

/* Memory that other threads may change or free is read through the kernel. */
static bool read_safely(uint64_t at, uint32_t offset, uint64_t *value)
{
    struct iovec to = {value, sizeof *value};
    struct iovec from = {(void *)(uintptr_t)(at + offset), sizeof *value};
    return plausible(at) &&
           process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof *value;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) *
                                (b ^ UINT64_C(0xd1b54a32d192ed03));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* --- marks --- */

struct python_frames_walk {
    const struct vs_python *python;
    struct vs_python_step *steps;
    size_t count, frames, frames_max;
    uint64_t last_code, last_mark; /* cached, because recursion and files with many functions are
                                    * common */
    bool last_own;
    uint64_t last_file, file_mark;
    uint64_t interpreter_mark; /* of the interpreter that owns the code objects; 0: the first one */
    bool attached;             /* Python frees no memory under this thread now */
};

/* Hash of the bytes of an object. Of a long one: its length, beginning and end only. */
NOT_CHECKED static uint64_t mark_of_bytes(uint64_t at, uint64_t bytes)
{
    enum { WORD = sizeof(uint64_t), HALF = sizeof(uint32_t) };
    uint64_t mark = bytes, other = ~bytes;
    if (bytes > MARKED_MAX) {
        mark = mix(bytes, word(at + bytes - 2 * WORD, 0));
        bytes = MARKED_MAX;
    }
    uint64_t end = at + bytes;
    for (; end - at >= 4 * WORD; at += 4 * WORD) { /* the two products are computed in parallel */
        mark = mix(mark ^ word(at, 0), word(at, WORD));
        other = mix(other ^ word(at, 2 * WORD), word(at, 3 * WORD));
    }
    mark ^= other << 32 ^ other >> 32;
    if (end - at >= 2 * WORD) {
        mark = mix(mark ^ word(at, 0), word(at, WORD));
        at += 2 * WORD;
    }
    /* the rest: its beginning and its end, which may overlap */
    if (end - at >= WORD)
        return mix(mark ^ word(at, 0), word(end - WORD, 0));
    if (end - at >= HALF)
        return mix(mark ^ half(at, 0), half(end - HALF, 0));
    for (; at < end; at++)
        mark = mix(mark, byte(at, 0));
    return mark;
}

/* A str subclass has its characters elsewhere. */
static uint64_t mark_of_text(const struct vs_python_layout *l, uint64_t text)
{
    uint32_t state = half(text, l->text_state) >> l->text_shift, kind = VS_PYTHON_KIND(state);
    uint64_t length = word(text, l->length);
    if (!(state & VS_PYTHON_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
        return mix(text, length);
    return mark_of_bytes(text + (state & VS_PYTHON_ASCII ? l->text_ascii : l->text_compact),
                         length * kind);
}

static uint64_t mark_of_code(struct python_frames_walk *w, uint64_t code)
{
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t first = half(code, l->code_first_line);
    if (l->code_version != VS_PYTHON_NONE) {
        uint32_t version = half(code, l->code_version);
        if (version)
            return (first << 32 | version) ^ w->interpreter_mark;
    }
    uint64_t file = word(code, l->code_file), name = word(code, l->code_name);
    uint64_t lines = word(code, l->code_lines);
    if (!plausible(file) || !plausible(name) || !plausible(lines))
        return first;
    /* names are interned: their hash is stored */
    uint64_t mark = mix(word(name, l->text_hash), first ^ word(name, l->length));
    mark = mix(mark, mark_of_bytes(lines + l->bytes_data, word(lines, l->length)));
    if (file != w->last_file) {
        w->last_file = file;
        w->file_mark = mark_of_text(l, file);
    }
    return mix(mark, w->file_mark);
}

/* --- frames --- */

static inline bool full(const struct python_frames_walk *w)
{
    return w->frames == w->frames_max || w->count + 2 > VS_PYTHON_STEPS_MAX;
}

static inline void add_end(struct python_frames_walk *w, uint64_t anchor)
{
    w->steps[w->count++] = (struct vs_python_step){0, anchor, 0};
}

/* Code of vramscope's own Python part (python/startup), whose file names begin with <vramscope>: it
 * calls PyTorch's operations in place of the program, and would be the call site of each. */
NOT_CHECKED static bool is_own_code(const struct python_frames_walk *w, uint64_t code)
{
    static const char own[] = "<vramscope>";
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t file = word(code, l->code_file);
    if (!plausible(file))
        return false;
    uint32_t state = half(file, l->text_state) >> l->text_shift;
    if (!(state & VS_PYTHON_COMPACT) || !(state & VS_PYTHON_ASCII) ||
        word(file, l->length) < sizeof own - 1)
        return false;
    for (size_t i = 0; i < sizeof own - 1; i++)
        if (byte(file + l->text_ascii, (uint32_t)i) != (uint8_t)own[i])
            return false;
    return true;
}

static inline void add_frame(struct python_frames_walk *w, uint64_t code, uint64_t instr)
{
    if (code != w->last_code) {
        w->last_code = code;
        w->last_own = is_own_code(w, code);
        w->last_mark = w->last_own ? 0 : mark_of_code(w, code);
    }
    if (w->last_own)
        return;
    w->steps[w->count++] = (struct vs_python_step){code, instr, w->last_mark};
    w->frames++;
}

static inline bool is_code(const struct python_frames_walk *w, uint64_t code)
{
    return plausible(code) && word(code, w->python->layout.object_type) == w->python->code_type;
}

/* Python omits these from its own tracebacks: not started yet, or created by Python itself. */
static inline bool is_complete(const struct python_frames_walk *w, uint64_t frame, uint64_t code, uint64_t instr)
{
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t first = code + l->code_code +
                     (uint64_t)half(code, l->code_traceable) * CODE_UNIT;
    return instr >= first || byte(frame, l->frame_owner) == OWNER_GENERATOR;
}

static void walk_frame_objects(struct python_frames_walk *w, const char *thread)
{
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t state = (uint64_t)(uintptr_t)thread, frame = word(state, l->thread_top), cframe = 0;
    if (l->thread_cframe != VS_PYTHON_NONE)
        cframe = word(state, l->thread_cframe);
    while (plausible(frame) && !full(w)) {
        uint64_t code = word(frame, l->frame_code);
        if (!is_code(w, code))
            break;
        add_frame(w, code, half(frame, l->frame_instr));
        add_end(w, cframe);
        frame = word(frame, l->frame_previous);
        if (cframe)
            cframe = word(cframe, l->cframe_previous);
    }
}

static void walk_entry_flag(struct python_frames_walk *w, const char *thread)
{
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t cframe = word((uint64_t)(uintptr_t)thread, l->thread_cframe);
    uint64_t frame = plausible(cframe) ? word(cframe, l->cframe_frame) : 0;
    for (unsigned i = 0; plausible(frame) && !full(w) && i < STEP_LIMIT; i++) {
        uint64_t code = word(frame, l->frame_code), instr = word(frame, l->frame_instr);
        if (!is_code(w, code))
            break;
        if (is_complete(w, frame, code, instr))
            add_frame(w, code, instr);
        if (byte(frame, l->frame_entry)) {
            add_end(w, cframe);
            cframe = plausible(cframe) ? word(cframe, l->cframe_previous) : 0;
        }
        frame = word(frame, l->frame_previous);
    }
}

/* Free-threaded builds: threads run copies of a code object's instructions. *instr* becomes the
 * address in the object itself. The array of copies grows by replacement, and the old array is
 * freed once no attached thread can be reading it. */
static bool find_original(const struct python_frames_walk *w, uint64_t code, uint32_t copy, uint64_t *instr)
{
    const struct vs_python_layout *l = &w->python->layout;
    const uint32_t offset = VS_PYTHON_COPIES_DATA + copy * (uint32_t)sizeof(uint64_t);
    uint64_t copies = word(code, l->code_copies), count = 0, start = 0;
    if (copy >= COPIES_MAX || !plausible(copies))
        return false;
    if (w->attached) {
        count = word(copies, 0);
        start = copy < count ? word(copies, offset) : 0;
    } else if (!read_safely(copies, 0, &count) || copy >= count ||
               !read_safely(copies, offset, &start)) {
        return false;
    }
    uint64_t distance = *instr - start;
    if (!start || distance >= word(code, l->length) * CODE_UNIT)
        return false;
    *instr = code + l->code_code + distance;
    return true;
}

static void walk_entry_frame(struct python_frames_walk *w, const char *thread)
{
    const struct vs_python_layout *l = &w->python->layout;
    uint64_t frame = word((uint64_t)(uintptr_t)thread, l->thread_top);
    if (l->cframe_frame != VS_PYTHON_NONE)
        frame = plausible(frame) ? word(frame, l->cframe_frame) : 0;
    for (unsigned i = 0; plausible(frame) && !full(w) && i < STEP_LIMIT; i++) {
        uint64_t code = word(frame, l->frame_code) & ~UINT64_C(7); /* 3.14 has tag bits here */
        uint64_t instr = word(frame, l->frame_instr);
        uint32_t copy = l->frame_copy != VS_PYTHON_NONE ? half(frame, l->frame_copy) : 0;
        if (byte(frame, l->frame_owner) >= OWNER_LOOP) {
            add_end(w, frame);
        } else if (!is_code(w, code)) {
            break;
        } else if (copy && !find_original(w, code, copy, &instr)) {
            w->frames = 0; /* no frames rather than a wrong line */
            break;
        } else if (is_complete(w, frame, code, instr)) {
            add_frame(w, code, instr);
        }
        frame = word(frame, l->frame_previous);
    }
}

/* Sets the values that apply to the whole walk of *thread*'s frames. */
static void begin(struct python_frames_walk *w, uint64_t thread)
{
    const struct vs_python_layout *l = &w->python->layout;
    if (l->interpreter_id != VS_PYTHON_NONE) {
        uint64_t interpreter = word(thread, l->thread_interpreter);
        uint64_t id = plausible(interpreter) ? word(interpreter, l->interpreter_id) : 0;
        w->interpreter_mark = id ? mix(id, id) : 0;
    }
    if (l->frame_copy != VS_PYTHON_NONE)
        w->attached = half(thread, l->thread_attached) == VS_PYTHON_ATTACHED;
}

size_t vs_python_steps(const struct vs_python *python, const char *thread, size_t frames,
                       struct vs_python_step *steps)
{
    struct python_frames_walk w = {.python = python, .steps = steps, .frames_max = frames};
    begin(&w, (uint64_t)(uintptr_t)thread);
    switch (python->layout.shape) {
    case VS_PYTHON_FRAME_OBJECTS:
        walk_frame_objects(&w, thread);
        break;
    case VS_PYTHON_ENTRY_FLAG:
        walk_entry_flag(&w, thread);
        break;
    default:
        walk_entry_frame(&w, thread);
        break;
    }
    return w.frames ? w.count : 0;
}

uint64_t vs_python_step_key(const struct vs_python_step *step)
{
    return mix(step->code ^ step->mark, step->instr) | VS_PYTHON_KEY_BIT;
}

uint64_t vs_python_key(const struct vs_python_step *steps, size_t count)
{
    uint64_t key = count;
    for (size_t i = 0; i < count; i++) /* the products are independent of each other */
        key = (key << 7 | key >> 57) + mix(steps[i].code ^ steps[i].mark << 17, steps[i].instr + i);
    return key ? key : 1;
}

/* --- threads --- */

/* Several interpreters in one process, before 3.12: Python returns the thread state that this
 * thread began with, which need not be the one it runs now. Other threads may change the lists of
 * interpreters and threads. */
static bool has_frames(const struct vs_python *python, uint64_t state)
{
    const struct vs_python_layout *l = &python->layout;
    uint64_t top = 0;
    if (!read_safely(state, l->thread_top, &top) || !top)
        return false;
    return l->cframe_frame == VS_PYTHON_NONE || (read_safely(top, l->cframe_frame, &top) && top);
}

#define LISTED_MAX 256u

static __attribute__((noinline)) uint64_t search_threads(const struct vs_python *python,
                                                         uint64_t state)
{
    const struct vs_python_layout *l = &python->layout;
    uint64_t self = (uint64_t)pthread_self(), id = 0, interpreter = 0, thread = 0;
    uint64_t current = python->current ? (uint64_t)(uintptr_t)python->current() : 0;
    if (current == state || (read_safely(current, l->thread_id, &id) && id == self))
        return current;
    /* a thread waiting without the GIL; the newest interpreters are first in the list */
    interpreter = word((uint64_t)(uintptr_t)python->runtime, l->runtime_interpreters);
    for (unsigned i = 0; interpreter && i < LISTED_MAX; i++) {
        if (!read_safely(interpreter, l->interpreter_threads, &thread))
            break;
        for (unsigned n = 0; thread && n < LISTED_MAX; n++) {
            if (read_safely(thread, l->thread_id, &id) && id == self && has_frames(python, thread))
                return thread;
            if (!read_safely(thread, l->thread_next, &thread))
                break;
        }
        if (!read_safely(interpreter, l->interpreter_next, &interpreter))
            break;
    }
    return state;
}

const char *vs_python_thread(const struct vs_python *python)
{
    const struct vs_python_layout *l = &python->layout;
    uint64_t state = (uint64_t)(uintptr_t)python->this_thread();
    uint64_t runtime = (uint64_t)(uintptr_t)python->runtime;
    if (!plausible(state))
        return NULL;
    /* the thread that shuts the interpreter down may run Python to the last; other states are
     * freed */
    uint64_t finalizing = word(runtime, l->runtime_finalizing);
    if (finalizing != state && (finalizing || !python->initialized()))
        return NULL;
    uint32_t newest = l->runtime_interpreters;
    if (l->shape != VS_PYTHON_ENTRY_FRAME &&
        word(runtime, newest) != word(runtime, newest + sizeof(uint64_t)))
        state = search_threads(python, state);
    /* a build with another layout has another value here */
    if (l->minor <= VS_PYTHON_NO_DEBUG_OFFSETS_MAX &&
        word(state, l->thread_id) != (uint64_t)pthread_self())
        return NULL;
    return (const char *)(uintptr_t)state;
}
