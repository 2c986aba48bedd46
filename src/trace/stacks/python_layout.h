/* SPDX-License-Identifier: Apache-2.0
 *
 * Offsets of the CPython fields that a stack needs, per minor version, for 64-bit builds. In bytes,
 * from the struct layouts of that version's headers; they do not change within a minor version.
 * From 3.13 on the interpreter publishes most of them, and the published values are used; they also
 * say whether it is a free-threaded build, which has larger object headers and, from 3.14 on, a
 * copy of the instructions per thread. */
#ifndef VS_PYTHON_LAYOUT_H
#define VS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
