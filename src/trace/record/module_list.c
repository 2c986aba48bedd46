/* SPDX-License-Identifier: Apache-2.0
 *
 * The loaded objects of the process, as `module` events. The loader counts its loads and unloads;
 * the list is read again only when those counts changed. It is read without the recorder's lock and
 * under the loader's, so that no object can vanish while its notes are read; then it is compared
 * with the previous list, and the difference is written under the recorder's lock. A module's index
 * is never reused. */
#define _GNU_SOURCE
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/record/recorder_internal.h"
#include "trace/stacks/cfi.h"
#include "trace/stacks/python.h"
#include "trace/stacks/walk.h"

#define BUILD_ID_BYTES_MAX 64
#define MODULES_MAX 65536u

struct module_list_found {
    struct module_list_found *next, *above; /* above: by address */
    bool known;
    uint64_t base, start, end;
    const char *path;
    char build_id[2 * BUILD_ID_BYTES_MAX + 1];
};

struct gathering {
    struct vs_arena arena;
    struct module_list_found *list; /* latest first */
    size_t count;
    uint64_t generation;
    bool out_of_memory;
};

/* Whether [start, start + bytes) of the object's memory is mapped readable. */
static bool readable(const struct dl_phdr_info *info, uint64_t start, uint64_t bytes)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) && start >= ph->p_vaddr &&
            bytes <= ph->p_filesz && start - ph->p_vaddr <= ph->p_filesz - bytes)
            return true;
    }
    return false;
}

static bool find_build_id(const unsigned char *notes, uint64_t bytes, uint64_t alignment, char *out)
{
    if (alignment != 8)
        alignment = 4;
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        uint64_t name = sizeof note;
        uint64_t text = (name + note.n_namesz + alignment - 1) & ~(alignment - 1);
        uint64_t next = (text + note.n_descsz + alignment - 1) & ~(alignment - 1);
        if (text + note.n_descsz > bytes)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
            note.n_descsz <= BUILD_ID_BYTES_MAX && !memcmp(notes + name, "GNU", 4)) {
            for (uint64_t i = 0; i < note.n_descsz; i++)
                snprintf(out + 2 * i, 3, "%02x", notes[text + i]);
            return true;
        }
        if (next >= bytes)
            return false;
        notes += next;
        bytes -= next;
    }
    return false;
}

static int gather_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct gathering *g = arg;
    (void)size;
    struct module_list_found *f = vs_arena_alloc(&g->arena, sizeof *f);
    size_t length = info->dlpi_name ? strlen(info->dlpi_name) : 0;
    char *path = vs_arena_alloc(&g->arena, length + 1);
    if (!f || !path) {
        g->out_of_memory = true;
        return 1;
    }
    if (length)
        memcpy(path, info->dlpi_name, length);
    f->path = path;
    f->base = info->dlpi_addr;
    f->start = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD) {
            uint64_t start = f->base + ph->p_vaddr;
            f->start = start < f->start ? start : f->start;
            f->end = start + ph->p_memsz > f->end ? start + ph->p_memsz : f->end;
        } else if (ph->p_type == PT_NOTE && !f->build_id[0] &&
                   readable(info, ph->p_vaddr, ph->p_filesz)) {
            find_build_id((const unsigned char *)(uintptr_t)(f->base + ph->p_vaddr), ph->p_filesz,
                          ph->p_align, f->build_id);
        }
    }
    g->generation = info->dlpi_adds + info->dlpi_subs;
    if (f->end > f->start && g->count < MODULES_MAX) {
        f->next = g->list;
        g->list = f;
        g->count++;
    }
    return 0;
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

/* The path under which a reader on this machine can open the object later: the loader's list has an
 * empty name for the program itself, and others may be relative to a directory left since. */
static const char *absolute_path(const char *path, char *out)
{
    if (!*path) {
        ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
        out[n > 0 ? n : 0] = '\0';
        return out;
    }
    if (*path != '/' && strchr(path, '/') && realpath(path, out))
        return out;
    return path;
}

/* --- under the lock --- */

static bool grow_locked(struct vs_recorder *r, size_t need)
{
    if (need <= r->module_capacity)
        return true;
    size_t capacity = need * 2 < 256 ? 256 : need * 2;
    struct vs_loaded_module *larger = vs_pages_map(capacity * sizeof *larger);
    if (!larger) {
        vs_recorder_out_of_memory_locked(r);
        return false;
    }
    if (r->module_count)
        memcpy(larger, r->modules, r->module_count * sizeof *larger);
    vs_pages_unmap(r->modules, r->module_capacity * sizeof *larger);
    r->modules = larger;
    r->module_capacity = capacity;
    return true;
}

static uint64_t identity_of(const struct module_list_found *f)
{
    uint64_t path = XXH3_64bits(f->path, strlen(f->path));
    return XXH3_64bits_withSeed(f->build_id, strlen(f->build_id), path);
}

static bool is_same(const struct vs_loaded_module *m, const struct module_list_found *f)
{
    return m->start == f->start && m->end == f->end && m->base == f->base &&
           m->identity == identity_of(f);
}

static void write_module_locked(struct vs_recorder *r, const struct vs_loaded_module *m,
                                const char *path, const char *build_id, bool alive)
{
    struct vs_event event = {.kind = VS_EVENT_module};
    event.module.module = m->index;
    event.module.base = m->base;
    event.module.start = m->start;
    event.module.end = m->end;
    if (*path)
        event.module.path = vs_intern_string_locked(r, path, strnlen(path, PATH_MAX));
    if (*build_id)
        event.module.build_id = vs_intern_string_locked(r, build_id, strlen(build_id));
    event.module.alive = alive;
    vs_recorder_event_locked(r, &event);
}

/* The objects by address: a merge sort, since the C library's qsort may call malloc. */
static struct module_list_found *sorted(struct module_list_found *list, size_t count)
{
    if (count <= 1) {
        if (list)
            list->above = NULL;
        return list;
    }
    struct module_list_found *second = list;
    for (size_t i = 0; i < count / 2; i++)
        second = second->next;
    struct module_list_found *a = sorted(list, count / 2), *b = sorted(second, count - count / 2);
    struct module_list_found *first = NULL, **end = &first;
    while (a && b) {
        struct module_list_found **least = a->start <= b->start ? &a : &b;
        *end = *least;
        end = &(*least)->above;
        *least = (*least)->above;
    }
    *end = a ? a : b;
    return first;
}

/* Marks the objects of *f*, sorted, that are already recorded. True when a recorded object was
 * unloaded. */
static bool drop_vanished_locked(struct vs_recorder *r, struct module_list_found *f)
{
    size_t kept = 0, count = r->module_count;
    for (size_t i = 0; i < count; i++) {
        struct vs_loaded_module m = r->modules[i];
        while (f && f->start < m.start)
            f = f->above;
        struct module_list_found *same = f;
        while (same && same->start == m.start && !is_same(&m, same))
            same = same->above;
        if (same && same->start == m.start) {
            same->known = true;
            r->modules[kept++] = m;
        } else {
            write_module_locked(r, &m, "", "", false);
        }
    }
    r->module_count = kept;
    return kept < count;
}

static void add_new_locked(struct vs_recorder *r, const struct module_list_found *f)
{
    char path[PATH_MAX];
    /* The number of recorded modules that begin below *start*. */
    size_t at = 0, high = r->module_count;
    while (at < high) {
        size_t middle = (at + high) / 2;
        if (r->modules[middle].start < f->start)
            at = middle + 1;
        else
            high = middle;
    }
    if (at < r->module_count && is_same(&r->modules[at], f))
        return;
    struct vs_loaded_module m = {f->base, f->start, f->end, identity_of(f), r->module_next_index++};
    write_module_locked(r, &m, absolute_path(f->path, path), f->build_id, true);
    memmove(&r->modules[at + 1], &r->modules[at], (r->module_count - at) * sizeof m);
    r->modules[at] = m;
    r->module_count++;
}

static void apply_locked(struct vs_recorder *r, struct gathering *g)
{
    /* writing events may release the lock: one thread at a time */
    while (r->modules_busy && !atomic_load_explicit(&r->stopped, memory_order_relaxed))
        vs_cond_wait(&r->progress, &r->lock, UINT64_MAX);
    if (g->generation <= r->module_generation || r->module_next_index > UINT32_MAX - MODULES_MAX ||
        atomic_load_explicit(&r->stopped, memory_order_relaxed) ||
        !grow_locked(r, r->module_count + g->count + 1))
        return;
    r->modules_busy = true;
    bool changed = drop_vanished_locked(r, sorted(g->list, g->count)), added = false;
    for (const struct module_list_found *f = g->list; f; f = f->next) {
        if (f->known)
            continue;
        add_new_locked(r, f);
        added = true;
    }
    if (changed || (added && vs_walk_saw_unknown())) {
        /* the same addresses may be other code from here on */
        vs_map_free(&r->stack_ids);
        vs_walk_discard_all();
    }
    r->module_generation = g->generation;
    atomic_store_explicit(&r->module_generation_seen, g->generation, memory_order_relaxed);
    r->modules_busy = false;
    vs_cond_broadcast(&r->progress);
}

void vs_module_list_refresh(struct vs_recorder *r)
{
    uint64_t generation = 0;
    /* before the list is read: an unload in the meantime sets it again */
    atomic_store(&r->modules_unloaded, false);
    dl_iterate_phdr(read_generation, &generation);
    if (generation == atomic_load_explicit(&r->module_generation_seen, memory_order_relaxed)) {
        if (r->python && vs_python_pending())
            vs_module_list_find_python(r);
        return;
    }
    struct gathering g = {0};
    vs_loaded_object_each(gather_one, &g);
    /* the loader lists the program first; write it first */
    struct module_list_found *in_order = NULL;
    for (struct module_list_found *f = g.list, *next; f; f = next) {
        next = f->next;
        f->next = in_order;
        in_order = f;
    }
    g.list = in_order;
    vs_lock_acquire(&r->lock);
    if (g.out_of_memory)
        vs_recorder_out_of_memory_locked(r);
    else
        apply_locked(r, &g);
    vs_lock_release(&r->lock);
    vs_arena_free_all(&g.arena);
    vs_module_list_find_python(r);
}

void vs_module_list_find_python(struct vs_recorder *r)
{
    const char *note;
    if (!r->python)
        return;
    vs_python_look(r->unloads_reported, &note);
    if (!note)
        return;
    VS_RECORDER_SCOPE(r);
    struct vs_event event = {.kind = VS_EVENT_note};
    event.note.severity = 1; /* a warning */
    event.note.text = vs_intern_string_locked(r, note, strlen(note));
    vs_recorder_event_locked(r, &event);
}

const struct vs_loaded_module *vs_module_list_find_locked(const struct vs_recorder *r, uint64_t pc)
{
    size_t low = 0, high = r->module_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->modules[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low && pc < r->modules[low - 1].end ? &r->modules[low - 1] : NULL;
}

static int read_unloaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_subs;
    return 1;
}

const char *vs_recorder_unloading(void)
{
    return vs_python_unloading();
}

void vs_recorder_kept(bool kept)
{
    vs_python_kept(kept);
}

void vs_recorder_unloading_done(void)
{
    vs_python_unloaded();
}

void vs_recorder_unloaded(struct vs_recorder *r)
{
    uint64_t unloaded = 0;
    if (!r || atomic_load_explicit(&r->stopped, memory_order_relaxed))
        return;
    dl_iterate_phdr(read_unloaded, &unloaded);
    if (atomic_exchange(&r->unloads_seen, unloaded) == unloaded)
        return; /* other threads still use it */
    atomic_store(&r->modules_unloaded, true);
    vs_walk_discard_trails();
}

struct own_search {
    uint64_t pc, start, end;
};

static int search_own(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct own_search *own = arg;
    uint64_t start = UINT64_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD)
            continue;
        uint64_t at = info->dlpi_addr + ph->p_vaddr;
        start = at < start ? at : start;
        end = at + ph->p_memsz > end ? at + ph->p_memsz : end;
    }
    if (own->pc < start || own->pc >= end)
        return 0;
    if (info->dlpi_name && *info->dlpi_name) {
        own->start = start;
        own->end = end;
    }
    return 1;
}

void vs_module_list_own_range(uint64_t *start, uint64_t *end)
{
    struct own_search own = {.pc = (uint64_t)(uintptr_t)&vs_module_list_own_range};
    dl_iterate_phdr(search_own, &own);
    *start = own.start;
    *end = own.end;
}
