/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the user's own frames of a call site, and folds those of libraries; see naming.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define STACK_MAX 129

/* Packages that start programs, or run below every one: never the one that a program is of. */
static bool starts_others(const char *library)
{
    return !*library || strcmp(library, "python") == 0 || strcmp(library, "vramscope") == 0;
}

static bool any_of_user(const struct vs_chain_frame *frames, size_t count, bool python)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].python == python && !*frames[i].library)
            return true;
    return false;
}

bool vs_naming_fold(struct vs_chain_frame *frames, size_t count)
{
    size_t lead = vs_naming_lead(frames, count), inner = 0;
    bool python = lead < count && frames[lead].python;
    if (!python)
        return any_of_user(frames, count, false);
    bool found = any_of_user(frames, count, true);
    char package[VS_PACKAGE_MAX] = ""; /* the outermost: without functions of the user's these
                                        * are */
    for (size_t i = count; i-- > 0 && !found && !*package;)
        if (frames[i].python && !starts_others(frames[i].library))
            strcpy(package, frames[i].library);
    for (size_t i = 0; i < count && *package; i++)
        if (frames[i].python && strcmp(frames[i].library, package) == 0)
            frames[i].library[0] = 0;
    found |= *package != 0;
    while (inner < count && !(frames[inner].python && !*frames[inner].library))
        inner++;
    for (size_t i = 0; i < count; i++) {
        /* Native code of the user's with its source: an extension that was compiled with debug
         * information, a library called by ctypes; not the interpreter or a program around
         * Python. */
        bool own = found && i < inner && frames[i].known && frames[i].file && frames[i].line;
        if (!frames[i].python && !*frames[i].library && !own)
            strcpy(frames[i].library, "native");
    }
    return found;
}

/* Whether "Adam.step" is a function that a user would call, not a helper such as "_multi_tensor_adam"
 * or "Module.cuda.<locals>.<lambda>". */
static bool is_public(const char *function)
{
    const char *dot = strrchr(function, '.'), *last = dot ? dot + 1 : function;
    return *function != '_' && *last != '_' && !strchr(function, '<');
}

/* Whether a function of PyTorch only passes an operation on: it says nothing about which. */
static bool is_dispatcher(const char *function)
{
    return vs_text_begins(function, "OpOverload") || vs_text_begins(function, "HigherOrderOperator") ||
           strstr(function, "redispatch") || strstr(function, "__torch_dispatch__") ||
           strstr(function, "__torch_function__");
}

const struct vs_chain_frame *vs_naming_part(const struct vs_chain_frame *frames, size_t count)
{
    static const char *const ends_of_all[] = {"torch", "python", "vramscope", "torch.compile", "numpy", "triton"};
    static const char *const steps[] = {"forward", "backward", "step"};
    const struct vs_chain_frame *found = NULL;
    bool found_public = false;
    for (size_t i = 0; i < count && *frames[i].library; i++) {
        const struct vs_chain_frame *frame = &frames[i];
        const char *dot = strrchr(frame->function, '.');
        bool tells_apart = frame->python;
        for (size_t k = 0; k < sizeof ends_of_all / sizeof *ends_of_all; k++)
            tells_apart &= strcmp(frame->library, ends_of_all[k]) != 0;
        for (size_t k = 0; tells_apart && k < sizeof steps / sizeof *steps; k++)
            if (strcmp(dot ? dot + 1 : frame->function, steps[k]) == 0)
                return frame;
        if (tells_apart && (!found || (!found_public && is_public(frame->function)))) {
            found = frame;
            found_public = is_public(frame->function);
        }
    }
    return found;
}

char *vs_naming_through(const struct vs_chain_frame *frames, size_t count, char *out)
{
    size_t first = 0;
    out[0] = 0;
    while (first < count && *frames[first].library)
        first++;
    const struct vs_chain_frame *called = first < count ? vs_naming_part(frames, first) : NULL;
    for (size_t i = 0; !called && i < first && first < count; i++) /* else the innermost public
                                                                    * function */
        if (frames[i].python && !is_dispatcher(frames[i].function) && is_public(frames[i].function))
            called = &frames[i];
    for (size_t i = 0; !called && i < first && first < count; i++)
        if (frames[i].python && !is_dispatcher(frames[i].function))
            called = &frames[i];
    if (called) {
        const char *local = strstr(called->function, ".<"); /* ".<locals>.<lambda>" */
        size_t length = local ? (size_t)(local - called->function) : strlen(called->function);
        snprintf(out, VS_THROUGH_MAX, "%s: %.*s", called->library, (int)length, called->function);
        return out;
    }
    for (size_t i = first; first < count && i-- > 0;)
        if (vs_torch_operation(frames[i].function, out, VS_THROUGH_MAX)) /* the outermost */
            return out;
    if (first > 0 && first < count && !frames[first].python)
        vs_function_text(frames[first - 1].function,
                         out + snprintf(out, VS_THROUGH_MAX, "%s: ", frames[first - 1].library),
                         VS_THROUGH_MAX - strlen(frames[first - 1].library) - 2);
    return out;
}

/* --- PyTorch's own stacks --- */

/* The class of a function in "torch::autograd::generated::ReluBackward0::apply(…)", whose *length* is
 * returned; NULL for other functions. */
static const char *grad_fn(const char *function, size_t *length)
{
    static const char prefix[] = "torch::autograd::";
    if (strncmp(function, prefix, sizeof prefix - 1) != 0)
        return NULL;
    size_t name = strcspn(function, "(<");
    while (name && function[name - 1] != ':')
        name--;
    if (strncmp(function + name, "apply(", 6) != 0 || name < sizeof prefix + 1)
        return NULL;
    size_t end = name - 2, start = end; /* before "::" */
    while (function[start - 1] != ':')
        start--;
    *length = end - start;
    return *length ? function + start : NULL;
}

char *vs_naming_torch(const struct vs_chain_frame *frames, size_t count, char *out)
{
    char text[VS_THROUGH_MAX] = "";
    bool torch = false, engine = false;
    out[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *function = frames[i].function, *node = grad_fn(function, &length);
        torch |= strcmp(frames[i].library, "PyTorch") == 0;
        engine |= strstr(function, "torch::autograd::Engine::") != NULL;
        if (node) /* the outermost is the one that the engine calls */
            snprintf(text, sizeof text, "%.*s", (int)(length < 100 ? length : 100), node);
    }
    for (size_t i = count; i-- > 0 && !*text;)
        vs_torch_operation(frames[i].function, text, sizeof text);
    if (torch && (engine || *text))
        snprintf(out, VS_THROUGH_MAX, "%s%s%.96s", engine ? "PyTorch's backward pass" : "PyTorch",
                 *text ? ": " : "", text);
    return out;
}

/* --- keys --- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Whose code a module is: one of these, or above them the hash of a package's name. OBJECT: native
 * code of an object that was not installed. */
enum { OWNER_NATIVE = 1, OWNER_USER, OWNER_NOBODY, OWNER_OBJECT, OWNER_PACKAGE };

void vs_naming_key(const struct vs_reader *reader, struct vs_map *owners, uint64_t stack,
                   uint64_t mark, uint64_t *key)
{
    struct vs_frame frames[STACK_MAX];
    uint64_t owner[STACK_MAX], package = 0, user = 0;
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *known = vs_map_get(owners, (uint64_t)frames[i].module + 1);
        const struct vs_module *module = known ? NULL : vs_reader_module(reader, frames[i].module);
        char library[VS_PACKAGE_MAX];
        if (known)
            owner[i] = *known;
        else if (!module || !*module->function)
            owner[i] = module && !vs_library_installed(module->path, library) ? OWNER_OBJECT
                : OWNER_NATIVE;
        else if (!vs_python_library(reader, module->path, library))
            owner[i] = OWNER_USER;
        else
            owner[i] = starts_others(library)
                           ? OWNER_NOBODY
                           : vs_text_hash(VS_TEXT_HASH_START, library) | OWNER_PACKAGE << 3 | 1;
        if (!known)
            vs_xmap_put(owners, (uint64_t)frames[i].module + 1, owner[i]);
        if (owner[i] == OWNER_USER)
            user = OWNER_USER;
        if (owner[i] > OWNER_PACKAGE)
            package = owner[i]; /* the outermost in the end */
    }
    uint64_t selected = user ? user : mark ? 0 : package;
    uint64_t hash = mix(0, selected ? selected : mark);
    bool inner = true; /* than the innermost selected Python function: native code of the user's counts */
    for (size_t i = 0; i < count && selected; i++) {
        if (owner[i] == selected || (inner && owner[i] == OWNER_OBJECT))
            hash = mix(mix(hash, frames[i].module), frames[i].pc);
        inner &= owner[i] != selected;
    }
    *key = selected || mark ? hash & ~(UINT64_C(1) << 63) : stack | UINT64_C(1) << 63;
}
