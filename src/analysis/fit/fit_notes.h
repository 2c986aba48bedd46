/* SPDX-License-Identifier: Apache-2.0
 *
 * What a simulated run assumed or could not do: the lines that its processes appended to the file
 * VRAMSCOPE_SIMULATE_NOTES, equal ones counted together. A line is
 *     KIND TAB PID TAB LIBRARY TAB NAME TAB BYTES TAB TEXT
 * with KIND assumed, measured, unsupported, values, decided, read or replaced; other lines are ignored.
 * Of decided and read, BYTES is how often it happened (0 counts as once). */
#ifndef VS_FIT_NOTES_H
#define VS_FIT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"

enum vs_fit_note_kind {
    VS_FIT_ASSUMED,     /* a size without a measured entry: NAME the operation, BYTES the size */
    VS_FIT_UNSUPPORTED, /* the function NAME answered "not supported" */
    VS_FIT_DECIDED,     /* a value that was not computed decided something: NAME where, TEXT the value */
    VS_FIT_READ,        /* one was read, and nothing was seen to depend on it; the same */
    VS_FIT_MEASURED,    /* a size with a measured entry, and by whom it was measured */
    VS_FIT_REPLACED,    /* the operation NAME ran another kernel than on a GPU: TEXT says which */
    VS_FIT_NOTE_KINDS
};

struct vs_fit_note {
    const char *library, *name, *text;
    uint64_t bytes, count;
    bool varied; /* decided, read: *text* is the first of several values */
};

struct vs_fit_note_list {
    struct vs_fit_note *items; /* in the order of their first lines */
    size_t count, capacity;
};

/* Zero-initialise. */
struct vs_fit_notes {
    struct vs_fit_note_list lists[VS_FIT_NOTE_KINDS];
    uint64_t computed, skipped, failed; /* operations on values, over all processes */
    uint64_t read, decided;             /* uses of values that were not computed, likewise */
    struct vs_arena memory;             /* owns the strings */
};

/* How much the assumed sizes may be wrong by. A size that is held to the end (of a context, a
 * handle, a communicator) counts once, with the largest bytes that were assumed for it; of
 * workspaces, which are held one after another, only the largest counts. */
struct vs_fit_assumed {
    size_t count;    /* of all assumed sizes */
    uint64_t bytes;  /* of those that count */
    uint64_t margin; /* that they may take in addition: sum of vs_fit_note_margin */
};
void vs_fit_assumed_sum(const struct vs_fit_notes *notes, struct vs_fit_assumed *out);

/* vs_fit_note_margin: an assumed size may in truth be twice as large, and at least 32 MiB larger.
 * vs_fit_note_lasts: it is held to the end. */
uint64_t vs_fit_note_margin(const struct vs_fit_note *note);
bool vs_fit_note_lasts(const struct vs_fit_note *note);

/* vs_fit_notes_read: adds the lines of the file at *path*. VS_ERR_IO with errno. */
enum vs_err vs_fit_notes_read(const char *path, struct vs_fit_notes *notes) VS_MUST_CHECK;

/* vs_fit_notes_add_read: a row of VS_FIT_READ. */
void vs_fit_notes_add_read(struct vs_fit_notes *notes, const char *where, const char *text,
                           uint64_t count);

void vs_fit_notes_free(struct vs_fit_notes *notes);

#endif
