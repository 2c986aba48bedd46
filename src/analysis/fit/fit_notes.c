/* SPDX-License-Identifier: Apache-2.0
 *
 * The file is small: one line per fact and process. */
#include "analysis/fit/fit_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/vs_size.h"

enum fit_note_field { KIND, PID, LIBRARY, NAME, BYTES, TEXT, FIELDS };

/* Of the bytes so far: the largest counts. */
static bool is_sum(const char *name) { return strcmp(name, "modules") == 0; }

/* The note of the same fact, or NULL. Of one place in a program, values may differ. */
static struct vs_fit_note *find_note(const struct vs_fit_note_list *list, uint64_t bytes, bool use,
                                     const char *const fields[FIELDS])
{
    for (size_t i = 0; i < list->count; i++) {
        struct vs_fit_note *note = &list->items[i];
        if ((note->bytes == bytes || is_sum(fields[NAME])) && strcmp(note->library, fields[LIBRARY]) == 0 &&
            strcmp(note->name, fields[NAME]) == 0 && (use || strcmp(note->text, fields[TEXT]) == 0))
            return note;
    }
    return NULL;
}

static void add_note(struct vs_fit_notes *notes, enum vs_fit_note_kind kind,
                     const char *const fields[FIELDS])
{
    struct vs_fit_note_list *list = &notes->lists[kind];
    bool use = kind == VS_FIT_DECIDED || kind == VS_FIT_READ;
    uint64_t number = strtoull(fields[BYTES], NULL, 10);
    uint64_t bytes = use ? 0 : number, count = use && number ? number : 1;
    struct vs_fit_note *known = find_note(list, bytes, use, fields);
    if (known && is_sum(fields[NAME])) {
        known->bytes = bytes > known->bytes ? bytes : known->bytes;
        return;
    }
    if (known) {
        known->count += count;
        known->varied |= strcmp(known->text, fields[TEXT]) != 0;
        return;
    }
    vs_vec_room(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] =
        (struct vs_fit_note){.library = vs_text_copy(&notes->memory, fields[LIBRARY]),
                             .name = vs_text_copy(&notes->memory, fields[NAME]),
                             .text = vs_text_copy(&notes->memory, fields[TEXT]),
                             .bytes = bytes, .count = count};
}

/* "computed=12 skipped=3 failed=0" */
void vs_fit_notes_add_read(struct vs_fit_notes *notes, const char *where, const char *text,
                           uint64_t count)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    notes->read += count;
    add_note(notes, VS_FIT_READ, (const char *const[FIELDS]){[LIBRARY] = "", [NAME] = where,
             [BYTES] = number, [TEXT] = text});
}

static void add_values(struct vs_fit_notes *notes, const char *text)
{
    static const char *const names[] = {"computed=", "skipped=", "failed=", "read=", "decided="};
    uint64_t *const counts[] = {&notes->computed, &notes->skipped, &notes->failed, &notes->read,
                                &notes->decided};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = strstr(text, names[i]);
        if (found)
            *counts[i] += strtoull(found + strlen(names[i]), NULL, 10);
    }
}

static void read_line(struct vs_fit_notes *notes, char *line)
{
    static const char *const kinds[VS_FIT_NOTE_KINDS] = {"assumed", "unsupported", "decided", "read", "measured",
                                                           "replaced"};
    char *fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        char *end = i + 1 < FIELDS ? strchr(line, '\t') : line + strcspn(line, "\n");
        if (!end)
            return;
        *end = 0;
        line = end + 1;
    }
    if (strcmp(fields[KIND], "values") == 0)
        add_values(notes, fields[TEXT]);
    for (int kind = 0; kind < VS_FIT_NOTE_KINDS; kind++)
        if (strcmp(fields[KIND], kinds[kind]) == 0) {
            add_note(notes, (enum vs_fit_note_kind)kind, (const char *const *)fields);
            return;
        }
}

enum vs_err vs_fit_notes_read(const char *path, struct vs_fit_notes *notes)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return VS_ERR_IO;
    while (getline(&line, &capacity, file) > 0)
        read_line(notes, line);
    free(line);
    fclose(file);
    return VS_OK;
}

#define MARGIN_MIN (32 * VS_MIB)

uint64_t vs_fit_note_margin(const struct vs_fit_note *note)
{
    return note->bytes > MARGIN_MIN ? note->bytes : MARGIN_MIN;
}

bool vs_fit_note_lasts(const struct vs_fit_note *note)
{
    static const char *const names[] = {"context", "handle", "module", "communicator", "connections"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(note->name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool same_size(const struct vs_fit_note *a, const struct vs_fit_note *b)
{
    return strcmp(a->library, b->library) == 0 && strcmp(a->name, b->name) == 0;
}

void vs_fit_assumed_sum(const struct vs_fit_notes *notes, struct vs_fit_assumed *out)
{
    const struct vs_fit_note_list *list = &notes->lists[VS_FIT_ASSUMED];
    const struct vs_fit_note *workspace = NULL;
    *out = (struct vs_fit_assumed){.count = list->count};
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_fit_note *note = &list->items[i];
        bool largest = vs_fit_note_lasts(note);
        if (!largest && (!workspace || note->bytes > workspace->bytes))
            workspace = note;
        for (size_t k = 0; k < list->count && largest; k++)
            if (k != i && same_size(note, &list->items[k])) /* of equal ones the first */
                largest = list->items[k].bytes < note->bytes ||
                          (list->items[k].bytes == note->bytes && i < k);
        out->bytes += largest ? note->bytes : 0;
        out->margin += largest ? vs_fit_note_margin(note) : 0;
    }
    out->bytes += workspace ? workspace->bytes : 0;
    out->margin += workspace ? vs_fit_note_margin(workspace) : 0;
}

void vs_fit_notes_free(struct vs_fit_notes *notes)
{
    for (int kind = 0; kind < VS_FIT_NOTE_KINDS; kind++)
        free(notes->lists[kind].items);
    vs_arena_free_all(&notes->memory);
    *notes = (struct vs_fit_notes){0};
}
