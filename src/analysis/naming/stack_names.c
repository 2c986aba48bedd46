/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames are numbered by their name, place and program counter, stacks by their id and mark. */
#include "analysis/naming/stack_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"
#include "base/vs_text.h"
#include "base/vs_utf8.h"

#define NAME_MAX_BYTES 65536 /* names of template instances are long */
#define RECORDED_MAX 129     /* frames of a recorded stack */

_Static_assert(VS_NAMED_FRAMES_MAX >= VS_CHAIN_MAX + 2, "a stack with its mark fits");

struct vs_stack_names {
    const struct vs_reader *reader;
    struct vs_symbols *symbols;
    struct vs_arena memory;
    struct vs_intern texts;      /* without control characters and invalid UTF-8 */
    struct vs_intern by_frame;   /* text and place in the program */
    struct vs_named_frame *frames; /* by number of the former */
    struct vs_intern by_text;
    uint32_t *first_of_text;     /* the first frame with it */
    struct vs_intern by_stack;
    struct vs_named_stack *stacks;
    size_t frame_capacity, text_capacity, stack_capacity;
    char name[NAME_MAX_BYTES];
};

struct vs_stack_names *vs_stack_names_open(const struct vs_reader *reader)
{
    struct vs_stack_names *names = vs_xcalloc(1, sizeof *names);
    names->reader = reader;
    names->symbols = vs_symbols_open(reader);
    return names;
}

void vs_stack_names_close(struct vs_stack_names *names)
{
    if (!names)
        return;
    vs_symbols_close(names->symbols);
    vs_intern_free(&names->texts);
    vs_intern_free(&names->by_frame);
    vs_intern_free(&names->by_text);
    vs_intern_free(&names->by_stack);
    free(names->frames);
    free(names->first_of_text);
    free(names->stacks);
    vs_arena_free_all(&names->memory);
    free(names);
}

const struct vs_named_frame *vs_stack_names_frame(const struct vs_stack_names *names,
                                                  uint32_t frame)
{
    return &names->frames[frame];
}

size_t vs_stack_names_count(const struct vs_stack_names *names)
{
    return names->by_frame.count;
}

struct vs_symbols *vs_stack_names_symbols(struct vs_stack_names *names)
{
    return names->symbols;
}

/* The number + 1 of *text*, as which *text* is replaced by a copy that is kept, without control
 * characters and invalid UTF-8, which symbols of a binary may have; 0 for NULL. */
static uint64_t keep(struct vs_stack_names *names, const char **text)
{
    size_t n;
    if (!*text)
        return 0;
    char *copy = vs_text_clean(vs_xstrdup(*text));
    for (unsigned char *p = (unsigned char *)copy; *p; p += n) {
        n = vs_utf8_length(p, SIZE_MAX);
        if (n == 0)
            *p = '?';
        n += n == 0;
    }
    uint32_t number = vs_intern_text(&names->texts, copy);
    free(copy);
    *text = names->texts.items[number];
    return number + UINT64_C(1);
}

/* The number of *frame*, which is added if it is new. */
static uint32_t intern(struct vs_stack_names *names, struct vs_named_frame frame)
{
    uint64_t name = keep(names, &frame.name), library = keep(names, &frame.library);
    const uint64_t key[] = {name, library, keep(names, &frame.file), frame.owner,
                            frame.pc, frame.object, frame.inlined};
    keep(names, &frame.function);
    size_t frames = names->by_frame.count, texts = names->by_text.count;
    uint32_t number = vs_intern(&names->by_frame, key, sizeof key);
    if (number < frames)
        return number;
    uint32_t text = vs_intern(&names->by_text, key, 4 * sizeof *key);
    vs_vec_room(&names->frames, &names->frame_capacity, frames + 1, sizeof *names->frames);
    vs_vec_room(&names->first_of_text, &names->text_capacity, names->by_text.count,
                sizeof *names->first_of_text);
    if (text == texts)
        names->first_of_text[text] = number;
    frame.same = names->first_of_text[text];
    names->frames[number] = frame;
    return number;
}

uint32_t vs_stack_names_label(struct vs_stack_names *names, const char *text)
{
    snprintf(names->name, sizeof names->name, "%s", text);
    return intern(names, (struct vs_named_frame){.name = names->name, .function = names->name,
                                                 .library = "", .owner = VS_OWNER_NONE,
                                                 .object = VS_NO_MODULE});
}

static uint32_t add_chain_frame(struct vs_stack_names *names, const struct vs_chain_frame *chain,
                                const struct vs_frame *recorded)
{
    const char *function = vs_text_clean(vs_naming_text(chain, names->name, sizeof names->name));
    if (chain->python && !*chain->library && chain->file && strcmp(chain->function, "<module>") == 0)
        function = vs_line_text(&names->memory, chain->file, chain->line);
    /* native code of the Python interpreter, which is the program itself */
    const char *module = chain->module + (strncmp(chain->module, "lib", 3) == 0 ? 3 : 0);
    bool interpreter = !chain->python && !*chain->library && strncmp(module, "python", 6) == 0 &&
                       (!module[6] || (module[6] >= '0' && module[6] <= '9'));
    bool nowhere = !chain->python && !*chain->library && !*chain->module && !chain->file; /* nobody's */
    const char *library = interpreter ? "python" : nowhere ? "unknown" : chain->library;
    struct vs_named_frame frame = {
        .name = function, .function = chain->function, .file = chain->file,
        .library = library, .line = chain->line,
        .owner = *library && !nowhere ? VS_OWNER_LIBRARY : VS_OWNER_USER, .python = chain->python,
        .pc = chain->python ? 0 : recorded->pc,
        .object = chain->python ? VS_NO_MODULE : recorded->module, .inlined = chain->inlined};
    return intern(names, frame);
}

static struct vs_named_stack name_stack(struct vs_stack_names *names, const struct vs_stack_of *of)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX], folded[VS_CHAIN_MAX];
    struct vs_frame recorded[RECORDED_MAX];
    uint32_t frames[VS_CHAIN_MAX + 2];
    size_t count = 0, lead = 0, own = 0;
    char text[VS_THROUGH_MAX];
    /* The user's line on whose behalf a thread without Python code of the user's allocated. */
    const char *line = of->mark && !vs_python_user_stack(names->reader, of->stack)
                           ? vs_user_line(names->reader, names->symbols, &names->memory, of->stack,
                                          of->mark) : "";
    if (*line)
        frames[count++] = intern(names, (struct vs_named_frame){
            .name = line, .function = line, .library = "", .owner = VS_OWNER_USER, .python = true,
            .object = VS_NO_MODULE});
    if (of->stack) {
        vs_reader_stack(names->reader, of->stack, recorded, RECORDED_MAX);
        size_t length = vs_naming_chain(names->reader, names->symbols, of->stack, false, chain);
        memcpy(folded, chain, length * sizeof *folded);
        /* What a stack of PyTorch's computes, if it has no function of the user's. */
        bool folds = vs_naming_fold(folded, length);
        size_t first = vs_naming_lead(chain, length), inner = first;
        if (!count && !folds && *vs_naming_torch(folded, length, text))
            frames[count++] = vs_stack_names_label(names, text);
        bool operation = count && !*line;
        for (size_t i = length; i > 0; i--)
            frames[count++] = add_chain_frame(names, &chain[i - 1], &recorded[chain[i - 1].depth]);
        lead = operation ? 1 : count - first;
        while (folds && *folded[inner].library)
            inner++;
        own = folds ? count - inner : 0;
    }
    if (!count) {
        const char *api = vs_reader_string(names->reader, of->api);
        char label[256];
        snprintf(label, sizeof label, "%.200s (no stack recorded)",
                 of->tensor ? "tensors" : *api ? api : "memory");
        frames[count++] = vs_stack_names_label(names, label);
    }
    uint32_t *copy = vs_xarena(&names->memory, count * sizeof *copy);
    return (struct vs_named_stack){memcpy(copy, frames, count * sizeof *copy), count, lead, own};
}

struct vs_named_stack vs_stack_names_of(struct vs_stack_names *names, const struct vs_stack_of *of)
{
    const uint64_t key[] = {of->stack, of->mark, of->tensor, of->stack ? 0 : of->api};
    size_t known = names->by_stack.count;
    uint32_t number = vs_intern(&names->by_stack, key, sizeof key);
    vs_vec_room(&names->stacks, &names->stack_capacity, known + 1, sizeof *names->stacks);
    if (number == known)
        names->stacks[number] = name_stack(names, of);
    return names->stacks[number];
}
