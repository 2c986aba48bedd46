/* SPDX-License-Identifier: Apache-2.0
 *
 * Python frames of the calling thread, read from CPython's own memory: python_find.c (the
 * interpreter among the loaded objects), python_frames.c (which frames), python_text.c
 * (their names and lines), python_stack.c (their place between native frames).
 *
 * Nothing of Python is called but what says which thread state is this thread's, and
 * nothing is written: no GIL, no reference, no allocation. A thread that runs C code
 * keeps its frames, and with them their code objects, alive whether it holds the GIL or
 * not; another thread may take them away only once the interpreter is being shut down. */
#ifndef VS_PYTHON_H
#define VS_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/stacks/python_layout.h"
#include "trace/stacks/walk.h"

struct vs_recorder;

/* Immutable once found. */
struct vs_python {
    struct vs_python_layout layout;
    void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
    void *(*current)(void);     /* who holds the GIL: PyThreadState_GetUnchecked; may be NULL */
    int (*initialized)(void);   /* Py_IsInitialized: 0 again from when it is shut down */
    const char *runtime;        /* _PyRuntime */
    bool at_start;              /* it came with the program, which never lets go of it */
    uint64_t code_type, text_type;
    uint64_t eval_start, eval_end;     /* _PyEval_EvalFrameDefault; 0,0: not known */
    uint64_t object_start, object_end; /* what it lies in */
    bool machinery; /* and the rest of that is nothing but the interpreter */
    /* with machinery: what a Python program has below Python; 0,0 where there is no such */
    uint64_t libc_start, libc_end, program_start, program_end;
};

/* A step from the innermost frame outwards: a Python frame (code is not 0), or the end of
 * those that one run of the eval loop stands for (code is 0; instr is an address within the
 * C frame of that run, 0 when that is not known). */
struct vs_python_step {
    uint64_t code, instr;
    uint64_t mark; /* of the code object: another one at the same address has another */
};

#define VS_PYTHON_STEPS_MAX 272u /* a frame and an end for each of 128 frames, and more ends */

/* --- python_find.c --- */

/* vs_python_look: look for an interpreter among the loaded objects, when there was none.
 * true when one is there that was not before. *note* (NULL: nothing to say) gets what the
 * trace should say about one whose frames cannot be read; once. *unloads_reported*: every
 * unloading is told by the calls below; where it is not, one that the program loaded by
 * itself could vanish under us and is left alone. Takes the loader's list lock: none of
 * ours may be held. */
bool vs_python_look(bool unloads_reported, const char **note);
/* vs_python_awaited: the last look saw one that has not begun, and it may have by now. */
bool vs_python_awaited(void);
/* vs_python_unloading: something is going to be unloaded, until vs_python_unloaded: nothing
 * is looked for meanwhile. The file whose library has to be kept loaded, as we call it;
 * NULL: none. */
const char *vs_python_unloading(void);
void vs_python_unloaded(void);
/* vs_python_kept: it is, from now on. false: it could not be; nothing of it is called again. */
void vs_python_kept(bool kept);
/* vs_python_until_greenlet: how many of *count* return addresses come before the first in
 * the greenlet package, whose C code begins a stack on top of another's; all when there is
 * none. Takes the loader's list lock. */
size_t vs_python_until_greenlet(void *const *pcs, size_t count);
/* vs_python_get: the interpreter; NULL when there is none. Asked for every stack. */
extern _Atomic(const struct vs_python *) vs_python_found; /* stored with release */
static inline const struct vs_python *vs_python_get(void)
{
    return atomic_load_explicit(&vs_python_found, memory_order_acquire);
}

/* --- python_frames.c --- */

/* vs_python_thread: the calling thread's state; NULL when it has none, or the interpreter
 * is being shut down by another thread. */
const char *vs_python_thread(const struct vs_python *python);
/* vs_python_steps: what *thread* is doing, innermost first, until *frames* frames are found;
 * how many steps. */
size_t vs_python_steps(const struct vs_python *python, const char *thread, size_t frames,
                       struct vs_python_step *steps);
/* vs_python_key: what these frames are known by; never 0. Bit 63 is set in that of a step,
 * which no native address has. */
uint64_t vs_python_key(const struct vs_python_step *steps, size_t count);
#define VS_PYTHON_KEY_BIT (UINT64_C(1) << 63)
uint64_t vs_python_step_key(const struct vs_python_step *step);

/* --- python_stack.c --- */

#define VS_PYTHON_PLACES_MAX (1u << 20)    /* known at a time; more than a stack has */
#define VS_PYTHON_FUNCTIONS_MAX (1u << 20) /* in one trace */

/* vs_python_stack: the id of the calling thread's stack, with its Python frames. false when
 * it has none now: its stack is native. *python*: vs_python_get's. */
bool vs_python_stack(struct vs_recorder *r, const struct vs_python *python,
                     struct vs_walk_owner owner, struct vs_walk_start *start, uint64_t *id);

/* --- python_text.c --- */

#define VS_PYTHON_TEXT_MAX 1024u

struct vs_python_place {
    size_t function_bytes, file_bytes;
    uint32_t line;
    char function[VS_PYTHON_TEXT_MAX], file[VS_PYTHON_TEXT_MAX]; /* not terminated */
};

/* vs_python_place: what *step*'s frame is called and where it is. false when the code
 * object is not what it should be. */
bool vs_python_place(const struct vs_python *python, const struct vs_python_step *step,
                     struct vs_python_place *place);

#endif
