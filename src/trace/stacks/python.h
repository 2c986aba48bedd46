/* SPDX-License-Identifier: Apache-2.0
 *
 * Python frames of the calling thread, read from CPython's memory: python_find.c (finds the
 * interpreter among the loaded objects), python_frames.c (walks the frames), python_text.c (their
 * names and lines), python_stack.c (merges them with native frames). The only Python functions
 * called are those that return the thread state of this thread. Nothing is written: no GIL, no
 * reference, no allocation. A thread that runs C code keeps its frames, and their code objects,
 * alive whether it holds the GIL or not; another thread can remove them only while it shuts the
 * interpreter down. */
#ifndef VS_PYTHON_H
#define VS_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/stacks/walk.h"

/* --- python_layout.c --- */

enum vs_python_shape {
    VS_PYTHON_FRAME_OBJECTS, /* 3.9, 3.10: PyFrameObject, one for each run of the eval loop */
    VS_PYTHON_ENTRY_FLAG,    /* 3.11: _PyInterpreterFrame; the first of a run has is_entry */
    VS_PYTHON_ENTRY_FRAME    /* 3.12 and later: the loop's own frame lies below each run */
};

enum vs_python_lines {
    VS_PYTHON_LNOTAB,         /* 3.9: pairs of differences */
    VS_PYTHON_LINETABLE,      /* 3.10: pairs of lengths and differences */
    VS_PYTHON_LOCATION_TABLE  /* 3.11 and later */
};

#define VS_PYTHON_OLD_INTERPRETERS 32u /* up to 3.10: runtime_interpreters of all of them */
#define VS_PYTHON_NO_DEBUG_OFFSETS_MAX 12u /* the last minor version without _Py_DebugOffsets */
#define VS_PYTHON_NONE UINT32_MAX /* this version has no such field */

struct vs_python_layout {
    uint32_t minor;
    enum vs_python_shape shape;
    enum vs_python_lines lines;
    /* _PyRuntime; the main interpreter follows the head of the list */
    uint32_t runtime_finalizing, runtime_interpreters;
    /* PyInterpreterState, PyThreadState. top: the frame, or the C frame that points to it */
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_id, thread_top, thread_cframe;
    uint32_t cframe_frame, cframe_previous;
    /* frames. instr: an index (frame objects) or an address within the code */
    uint32_t frame_code, frame_previous, frame_instr, frame_owner, frame_entry;
    /* PyCodeObject. code: the instructions, or the bytes object that holds them */
    uint32_t code_first_line, code_file, code_name, code_lines, code_version, code_traceable;
    uint32_t code_code;
    uint32_t text_ascii, text_compact; /* offsets of a str's characters */
    /* 3.12 and later: the interpreter's id; each numbers its own code objects */
    uint32_t thread_interpreter, interpreter_id;
    /* per-thread copies of the instructions: which one a frame uses, the array of them, and the
     * flag that keeps that array from being freed during a read */
    uint32_t frame_copy, code_copies, thread_attached;
    /* PyObject, PyVarObject, PyTypeObject, str and bytes */
    uint32_t object_type, type_name, length, text_hash, text_state, text_shift, bytes_data;
};

#define VS_PYTHON_COPIES_DATA 8u /* after the number of copies */
#define VS_PYTHON_ATTACHED 1u    /* an attached thread: Python frees no memory that it may read */

/* the state of a str, shifted by text_shift */
#define VS_PYTHON_KIND(state) ((state) >> 2 & 7u) /* bytes per character */
#define VS_PYTHON_COMPACT 0x20u
#define VS_PYTHON_ASCII 0x40u

/* vs_python_layout: the layout for Python 3.*minor* with this _PyRuntime, which is read for its
 * published offsets. Returns false when the layout is unknown; *why* receives a short reason. */
bool vs_python_layout(unsigned minor, const void *runtime, struct vs_python_layout *out,
                      const char **why);

/* --- The frames --- */

struct vs_recorder;

/* Immutable once published. */
struct vs_python {
    struct vs_python_layout layout;
    void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
    void *(*current)(void);     /* returns the thread state that holds the GIL:
                                 * PyThreadState_GetUnchecked; may be NULL */
    int (*initialized)(void);   /* Py_IsInitialized: 0 again once shutdown begins */
    const char *runtime;        /* _PyRuntime */
    bool at_start;              /* linked by the program, which never unloads it */
    uint64_t code_type, text_type;
    uint64_t eval_start, eval_end;     /* _PyEval_EvalFrameDefault; 0,0: unknown */
    uint64_t object_start, object_end; /* the object that contains it */
    bool machinery; /* the rest of that object holds only the interpreter */
    /* with machinery: the libc and program code below Python's frames; 0,0 where there is none */
    uint64_t libc_start, libc_end, program_start, program_end;
};

/* A step from the innermost frame outwards: a Python frame (code is not 0), or the end of the
 * frames that one run of the eval loop executes (code is 0; instr is an address within the C frame
 * of that run, 0 when unknown). */
struct vs_python_step {
    uint64_t code, instr;
    uint64_t mark; /* distinguishes code objects that had the same address at different times */
};

#define VS_PYTHON_STEPS_MAX 272u /* a frame and an end for each of 128 frames, plus spare ends */

/* --- python_find.c --- */

/* vs_python_look: looks for an interpreter among the loaded objects, if none was found before.
 * Returns true when it finds one now. *note* receives a text for the trace about an interpreter
 * whose frames cannot be read, once; otherwise NULL. *unloads_reported*: every unloading is
 * reported by the calls below; where it is not, an interpreter that the program loaded at run time
 * could be unloaded while we use it and is not used. Takes the loader's list lock, so the caller
 * must hold none of ours. */
bool vs_python_look(bool unloads_reported, const char **note);
/* vs_python_pending: whether the last look found an interpreter that was not initialised and may be
 * by now. */
bool vs_python_pending(void);
/* vs_python_unloading: a library is going to be unloaded; until vs_python_unloaded, no look is
 * made. Returns the file of the library that must stay loaded because we call it; NULL: none. */
const char *vs_python_unloading(void);
void vs_python_unloaded(void);
/* vs_python_kept: reports whether that library now stays loaded. false: it could not be, and none
 * of its functions is called again. */
void vs_python_kept(bool kept);
/* vs_python_until_greenlet: how many of *count* return addresses come before the first one in the
 * greenlet package, whose C code starts a stack on top of another stack; *count* when there is
 * none. Takes the loader's list lock. */
size_t vs_python_until_greenlet(void *const *pcs, size_t count);
/* vs_python_get: the interpreter; NULL when there is none. Called for every stack. */
extern _Atomic(const struct vs_python *) vs_python_found; /* stored with release */
static inline const struct vs_python *vs_python_get(void)
{
    return atomic_load_explicit(&vs_python_found, memory_order_acquire);
}

/* --- python_frames.c --- */

/* vs_python_thread: the calling thread's state; NULL when it has none, or while another thread
 * shuts the interpreter down. */
const char *vs_python_thread(const struct vs_python *python);
/* vs_python_steps: the frames of *thread*, innermost first, until *frames* frames are found.
 * Returns the number of steps. */
size_t vs_python_steps(const struct vs_python *python, const char *thread, size_t frames,
                       struct vs_python_step *steps);
/* vs_python_key: the key of these frames in caches; never 0. Bit 63 is set in the key of a step,
 * unlike in any native address. */
uint64_t vs_python_key(const struct vs_python_step *steps, size_t count);
#define VS_PYTHON_KEY_BIT (UINT64_C(1) << 63)
uint64_t vs_python_step_key(const struct vs_python_step *step);

/* --- python_stack.c --- */

#define VS_PYTHON_PLACES_MAX (1u << 20)    /* cached at a time; more than a stack has */
#define VS_PYTHON_FUNCTIONS_MAX (1u << 20) /* in one trace */

/* vs_python_stack: the id of the calling thread's stack, with its Python frames. Returns false when
 * it has none now, so that its stack is native. *python*: from vs_python_get. */
bool vs_python_stack(struct vs_recorder *r, const struct vs_python *python,
                     struct vs_walk_owner owner, struct vs_walk_start *start, uint64_t *id);

/* --- python_text.c --- */

#define VS_PYTHON_TEXT_MAX 1024u

struct vs_python_place {
    size_t function_bytes, file_bytes;
    uint32_t line;
    char function[VS_PYTHON_TEXT_MAX], file[VS_PYTHON_TEXT_MAX]; /* not terminated */
};

/* vs_python_place: the name and place of *step*'s frame. Returns false when the code object is not
 * valid. */
bool vs_python_place(const struct vs_python *python, const struct vs_python_step *step,
                     struct vs_python_place *place);

#endif
