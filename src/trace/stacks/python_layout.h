/* SPDX-License-Identifier: Apache-2.0
 *
 * Where CPython keeps what a stack needs, per minor version, for 64-bit builds. Offsets
 * in bytes, as its headers of that version lay the structs out; they do not change within
 * a minor version. From 3.13 on the interpreter tells most of them itself, and what it
 * tells counts: also whether it was built without GIL, which puts more in front of every
 * object and, from 3.14 on, gives each thread a copy of its own of the instructions. */
#ifndef VS_PYTHON_LAYOUT_H
#define VS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum vs_python_shape {
    VS_PYTHON_FRAME_OBJECTS, /* 3.9, 3.10: PyFrameObject, one for each run of the eval loop */
    VS_PYTHON_ENTRY_FLAG,    /* 3.11: _PyInterpreterFrame; the first of a run has is_entry */
    VS_PYTHON_ENTRY_FRAME    /* 3.12 and later: a frame of the loop's own stands below a run */
};

enum vs_python_lines {
    VS_PYTHON_LNOTAB,         /* 3.9: pairs of differences */
    VS_PYTHON_LINETABLE,      /* 3.10: pairs of lengths and differences */
    VS_PYTHON_LOCATION_TABLE  /* 3.11 and later */
};

#define VS_PYTHON_OLD_INTERPRETERS 32u /* up to 3.10: runtime_interpreters of them all */
#define VS_PYTHON_NO_DEBUG_OFFSETS_MAX 12u /* the last minor version without _Py_DebugOffsets */
#define VS_PYTHON_NONE UINT32_MAX /* this version has no such field */

struct vs_python_layout {
    uint32_t minor;
    enum vs_python_shape shape;
    enum vs_python_lines lines;
    /* _PyRuntime; the main interpreter stands behind the head of the list */
    uint32_t runtime_finalizing, runtime_interpreters;
    /* PyInterpreterState, PyThreadState. top: the frame, or the C frame that knows it */
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_id, thread_top, thread_cframe;
    uint32_t cframe_frame, cframe_previous;
    /* frames. instr: an index (frame objects) or an address within the code */
    uint32_t frame_code, frame_previous, frame_instr, frame_owner, frame_entry;
    /* PyCodeObject. code: the instructions, or the bytes object with them */
    uint32_t code_first_line, code_file, code_name, code_lines, code_version, code_traceable;
    uint32_t code_code;
    uint32_t text_ascii, text_compact; /* where the characters of a str are */
    /* 3.12 and later: which interpreter this is; they number their code objects apart */
    uint32_t thread_interpreter, interpreter_id;
    /* threads' own copies of the instructions: which one a frame is in, the array of them,
     * and what says whether that stays while it is read */
    uint32_t frame_copy, code_copies, thread_attached;
    /* PyObject, PyVarObject, PyTypeObject, str and bytes */
    uint32_t object_type, type_name, length, text_hash, text_state, text_shift, bytes_data;
};

#define VS_PYTHON_COPIES_DATA 8u /* behind the number of copies */
#define VS_PYTHON_ATTACHED 1u    /* a thread that nothing is freed under */

/* the state of a str, shifted by text_shift */
#define VS_PYTHON_KIND(state) ((state) >> 2 & 7u) /* bytes per character */
#define VS_PYTHON_COMPACT 0x20u
#define VS_PYTHON_ASCII 0x40u

/* vs_python_layout: for Python 3.*minor* with this _PyRuntime, which is read for what it
 * tells. false: no such layout is known, and *why* says so in some words. */
bool vs_python_layout(unsigned minor, const void *runtime, struct vs_python_layout *out,
                      const char **why);

#endif
