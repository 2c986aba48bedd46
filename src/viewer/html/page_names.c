/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/html/page_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define SITES_MAX 4000
#define NODES_MAX 40000
#define NAME_BYTES_MAX 1000 /* of one name; templates have names of 64 KiB */

/* Copies at most NAME_BYTES_MAX bytes of *text*, cut between characters. */
static const char *keep(struct vs_page_names *names, const char *text)
{
    size_t length = strlen(text);
    bool cut = length > NAME_BYTES_MAX;
    if (cut)
        for (length = NAME_BYTES_MAX; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    char *kept = vs_xarena(&names->memory, length + (cut ? sizeof "…" : 1));
    memcpy(kept, text, length);
    strcpy(kept + length, cut ? "…" : "");
    return kept;
}

/* The index of *text*, added when new. */
static void number_of(struct vs_page_names *names, struct vs_page_texts *texts,
                      const char *text, uint32_t *out)
{
    uint64_t key = vs_text_hash_bytes(VS_TEXT_HASH_START, text, strlen(text));
    const uint64_t *found;
    for (key |= key == 0; (found = vs_map_get(&texts->by_hash, key)); key = key + 1 ? key + 1 : 1) {
        if (strncmp(texts->items[*found], text, NAME_BYTES_MAX - 4) == 0 &&
            (strlen(text) > NAME_BYTES_MAX || strcmp(texts->items[*found], text) == 0)) {
            *out = (uint32_t)*found;
            return;
        }
    }
    vs_vec_room(&texts->items, &texts->capacity, texts->count + 1, sizeof *texts->items);
    *out = (uint32_t)texts->count;
    texts->items[texts->count++] = keep(names, text);
    vs_xmap_put(&texts->by_hash, key, *out);
}

/* The row + 1 of *node*, added when new; *out* is 0 beyond the limit. */
static void add_node(struct vs_page_names *names, const struct vs_page_node *node,
                     uint32_t *out)
{
    uint64_t key = vs_text_hash_bytes(VS_TEXT_HASH_START, node, sizeof *node);
    const uint64_t *found;
    for (key |= key == 0; (found = vs_map_get(&names->by_node, key)); key = key + 1 ? key + 1 : 1) {
        if (memcmp(&names->nodes[*found - 1], node, sizeof *node) == 0) {
            *out = (uint32_t)*found;
            return;
        }
    }
    *out = 0;
    if (names->node_count >= NODES_MAX)
        return;
    vs_vec_room(&names->nodes, &names->node_capacity, names->node_count + 1, sizeof *node);
    vs_xmap_put(&names->by_node, key, names->node_count + 1);
    names->nodes[names->node_count++] = *node;
    *out = (uint32_t)names->node_count;
}

static enum vs_err add_site(struct vs_page_names *names, const struct vs_summary *summary,
                            const struct vs_site *from)
{
    const struct vs_replay *replay = summary->replay;
    char text[VS_CHAIN_TEXT_MAX], library[VS_LIBRARY_NAME_MAX];
    bool framework;
    struct vs_report_site site = {.level = from->level, .family = from->family, .stacks = 1,
                                  .api = vs_reader_string(replay->reader, from->api)};
    struct vs_page_site row = {0};
    vs_vec_room(&names->sites, &names->site_capacity, names->site_count + 1, sizeof *names->sites);
    enum vs_err err = vs_summary_frames(summary, from->stack, from->mark, &site);
    if (err)
        return err;
    row.label = keep(names, vs_text_label(text, &site));
    row.through = site.through ? keep(names, site.through) : "";
    row.user = site.folds || site.line;
    const char *exe = replay->has_process
                          ? vs_reader_string(replay->reader, replay->process.process.exe) : "";
    if (!row.label || !row.through)
        return VS_ERR_NOMEM;
    number_of(names, &names->libraries,
              vs_library_of_stack(replay->reader, from->stack, exe, library, &framework),
              &row.library);
    if (!err) {
        /* The frames of *site* as nodes, from the outermost on; *out*: the innermost. */
        uint32_t *out = &row.stack;
        uint32_t at = 0;
        for (size_t i = site.frame_count; i-- > 0;) {
            const struct vs_report_frame *frame = &site.frames[i];
            struct vs_page_node node = {.parent = at, .line = frame->line,
                                        .user = !frame->library && !site.line};
            const char *file = frame->file ? frame->file : frame->module;
            number_of(names, &names->frames, frame->function, &node.frame);
            if (file && *file) {
                number_of(names, &names->files, file, &node.file);
                node.file++;
            }
            add_node(names, &node, &at);
            if (!at)
                break; /* too many stacks: this one has only its label */
        }
        *out = at;
    }
    if (!err)
        names->sites[names->site_count++] = row;
    return err;
}

/* The row of all other sites. */
static void add_rest(struct vs_page_names *names, size_t count)
{
    char text[80];
    uint32_t library;
    vs_vec_room(&names->sites, &names->site_capacity, names->site_count + 1, sizeof *names->sites);
    number_of(names, &names->libraries, "unknown", &library);
    if (count)
        snprintf(text, sizeof text, "%zu other call sites", count);
    else
        snprintf(text, sizeof text, "no call site");
    names->unnamed = count;
    names->sites[names->site_count++] = (struct vs_page_site){0, keep(names, text), "", library, false};
}

static int heavier(const void *a, const void *b)
{
    const struct vs_summary_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->site < y->site ? -1 : x->site > y->site;
}

enum vs_err vs_page_names_build(struct vs_page_names *names, const struct vs_replay *replay,
                                struct vs_symbols *symbols, const bool *used)
{
    size_t total = replay->sites.count, count = 0;
    struct vs_wrappers wrappers;
    struct vs_summary summary = {.memory = &names->memory, .replay = replay, .symbols = symbols,
                                 .wrappers = &wrappers};
    struct vs_summary_row *list = vs_xcalloc(total + 1, sizeof *list);
    names->site_numbers = vs_xcalloc(total + 1, sizeof *names->site_numbers);
    enum vs_err err = VS_OK;
    vs_summary_wrappers(&summary, &wrappers);
    for (size_t i = 0; !err && i < total; i++)
        if (used[i])
            list[count++] = (struct vs_summary_row){.bytes = replay->sites.items[i].bytes,
                                                    .site = (uint32_t)i};
    if (count)
        qsort(list, count, sizeof *list, heavier);
    for (size_t i = 0; !err && i < count && i < SITES_MAX; i++) {
        names->site_numbers[list[i].site] = (uint32_t)names->site_count;
        err = add_site(names, &summary, &replay->sites.items[list[i].site]);
    }
    for (size_t i = SITES_MAX; i < count; i++)
        names->site_numbers[list[i].site] = (uint32_t)names->site_count;
    if (!err && (count > SITES_MAX || !count))
        add_rest(names, count > SITES_MAX ? count - SITES_MAX : 0);
    free(list);
    return err;
}

static void free_texts(struct vs_page_texts *texts)
{
    free(texts->items);
    vs_map_free(&texts->by_hash);
}

void vs_page_names_free(struct vs_page_names *names)
{
    free_texts(&names->frames);
    free_texts(&names->files);
    free_texts(&names->libraries);
    free(names->nodes);
    vs_map_free(&names->by_node);
    free(names->sites);
    free(names->site_numbers);
    vs_arena_free_all(&names->memory);
}
