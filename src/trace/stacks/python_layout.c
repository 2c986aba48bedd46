/* SPDX-License-Identifier: Apache-2.0
 *
 * The layouts; see the header. _PyRuntime of 3.13 and later begins with a table of 64-bit words: a
 * cookie, the version, a flag for free-threaded builds, then offsets; the order of the words is
 * fixed per minor version. */
#include "trace/stacks/python.h"

#include <string.h>

#define NONE VS_PYTHON_NONE
#define OBJECTS 0, 0, 0, 0, 0, 0, 0 /* lay_out_objects */

static const struct vs_python_layout layouts[] = {
    {9, VS_PYTHON_FRAME_OBJECTS, VS_PYTHON_LNOTAB, 16, 32, 0, 8, 8, 176, 24, NONE, NONE, NONE,
     32, 24, 104, NONE, NONE, 40, 104, 112, 120, NONE, NONE, 48, 48, 72,
     NONE, NONE, NONE, NONE, NONE, OBJECTS},
    {10, VS_PYTHON_FRAME_OBJECTS, VS_PYTHON_LINETABLE, 16, 32, 0, 8, 8, 176, 24, 48, NONE, 8,
     32, 24, 96, NONE, NONE, 40, 104, 112, 120, NONE, NONE, 48, 48, 72,
     NONE, NONE, NONE, NONE, NONE, OBJECTS},
    {11, VS_PYTHON_ENTRY_FLAG, VS_PYTHON_LOCATION_TABLE, 24, 40, 0, 16, 8, 152, 56, 56, 8, 16,
     32, 48, 56, 69, 68, 72, 112, 128, 136, NONE, 168, 184, 48, 72,
     NONE, NONE, NONE, NONE, NONE, OBJECTS},
    {12, VS_PYTHON_ENTRY_FRAME, VS_PYTHON_LOCATION_TABLE, 24, 40, 0, 72, 8, 136, 56, 56, 0, 8,
     0, 8, 56, 70, NONE, 68, 112, 128, 136, 92, 176, 192, 40, 56,
     16, 8, NONE, NONE, NONE, OBJECTS},
    {13, VS_PYTHON_ENTRY_FRAME, VS_PYTHON_LOCATION_TABLE, 608, 632, 7264, 7344, 8, 152, 72, NONE,
     NONE, NONE, 0, 8, 56, 70, NONE, 68, 112, 128, 136, 92, 184, 200, 40, 56,
     16, 7272, NONE, NONE, 40, OBJECTS},
    {14, VS_PYTHON_ENTRY_FRAME, VS_PYTHON_LOCATION_TABLE, 784, 808, 7272, 7344, 8, 152, 72, NONE,
     NONE, NONE, 0, 8, 56, 74, NONE, 68, 112, 128, 136, 92, 192, 208, 40, 56,
     16, 7280, NONE, NONE, 44, OBJECTS},
    {15, VS_PYTHON_ENTRY_FRAME, VS_PYTHON_LOCATION_TABLE, 912, 936, 7264, 7336, 8, 176, 72, NONE,
     NONE, NONE, 0, 8, 56, 74, NONE, 68, 112, 128, 136, 92, 192, 208, 40, 56,
     16, 7272, NONE, NONE, 48, OBJECTS},
};

/* Words of the interpreter's own table. */
#define DEBUG_FREE_THREADED 2u
#define DEBUG_OFFSET_MAX 65536u
static const struct debug_offsets {
    unsigned minor;
    uint16_t finalizing, interpreters, thread_top, thread_id, previous, code, instr, owner;
    uint16_t file, name, lines, first_line, instructions, text_ascii;
    uint16_t id, thread_interpreter, frame_copy, code_copies; /* copies: 0 if not present */
} debug_offsets[] = {
    {13, 4, 5, 23, 24, 29, 30, 31, 33, 35, 37, 38, 39, 43, 70, 7, 22, 0, 0},
    {14, 4, 5, 26, 27, 32, 33, 34, 36, 40, 42, 43, 44, 48, 80, 7, 25, 38, 49},
    {15, 4, 5, 26, 30, 40, 41, 42, 44, 48, 50, 51, 52, 56, 92, 7, 25, 46, 57},
};

/* Free-threaded: every object has an owner and a second reference count before its type. */
#define FREE_HEAD 16u
#define FREE_TEXT_MINOR 14u /* from this minor version on the state bits of a str are shifted */
#define FREE_TEXT_SHIFT 6u

static void lay_out_objects(bool free_threaded, struct vs_python_layout *l)
{
    uint32_t more = free_threaded ? FREE_HEAD : 0;
    l->object_type = 8 + more;
    l->length = 16 + more;
    l->type_name = l->text_hash = 24 + more;
    l->text_state = l->bytes_data = 32 + more;
    l->text_shift = free_threaded && l->minor >= FREE_TEXT_MINOR ? FREE_TEXT_SHIFT : 0;
}

static bool read_offset(const uint64_t *words, unsigned at, uint32_t *field)
{
    if (words[at] > DEBUG_OFFSET_MAX)
        return false;
    *field = (uint32_t)words[at];
    return true;
}

static bool read_debug_offsets(const struct debug_offsets *t, const uint64_t *words,
                               struct vs_python_layout *l)
{
    uint32_t code_end = l->code_code - l->code_traceable;
    bool free_threaded = words[DEBUG_FREE_THREADED] != 0;
    bool good = read_offset(words, t->finalizing, &l->runtime_finalizing) &&
                read_offset(words, t->interpreters, &l->runtime_interpreters) &&
                read_offset(words, t->thread_top, &l->thread_top) &&
                read_offset(words, t->thread_id, &l->thread_id) &&
                read_offset(words, t->previous, &l->frame_previous) &&
                read_offset(words, t->code, &l->frame_code) &&
                read_offset(words, t->instr, &l->frame_instr) &&
                read_offset(words, t->owner, &l->frame_owner) &&
                read_offset(words, t->file, &l->code_file) &&
                read_offset(words, t->name, &l->code_name) &&
                read_offset(words, t->lines, &l->code_lines) &&
                read_offset(words, t->first_line, &l->code_first_line) &&
                read_offset(words, t->instructions, &l->code_code) &&
                read_offset(words, t->text_ascii, &l->text_ascii) &&
                read_offset(words, t->id, &l->interpreter_id) &&
                read_offset(words, t->thread_interpreter, &l->thread_interpreter);
    if (free_threaded) {
        lay_out_objects(true, l);
        l->code_version += FREE_HEAD;
    }
    if (free_threaded && t->frame_copy) {
        good = good && read_offset(words, t->frame_copy, &l->frame_copy) &&
               read_offset(words, t->code_copies, &l->code_copies);
        code_end += sizeof(uint64_t); /* the array's address lies between the two */
    }
    l->code_traceable = l->code_code - code_end; /* not published; it lies before the code */
    l->text_compact = l->text_ascii + 16;
    return good;
}

bool vs_python_layout(unsigned minor, const void *runtime, struct vs_python_layout *out,
                      const char **why)
{
    const uint64_t *words = runtime;
    const unsigned first = layouts[0].minor;
    const unsigned last = layouts[sizeof layouts / sizeof *layouts - 1].minor;
    *why = "this version is not supported";
    if (minor < first || minor > last)
        return false;
    *out = layouts[minor - first];
    lay_out_objects(false, out);
    if (minor < debug_offsets[0].minor)
        return true;
    *why = "its build has no debug offsets";
    if (memcmp(words, "xdebugpy", 8) != 0 || (words[1] >> 16 & 0xff) != minor)
        return false;
    *why = "its build has debug offsets of another format";
    return read_debug_offsets(&debug_offsets[minor - debug_offsets[0].minor], words, out);
}
