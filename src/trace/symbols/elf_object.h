/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a module, and names from them by libdw and libelf. Private to src/trace and its
 * tests. */
#ifndef VS_ELF_OBJECT_H
#define VS_ELF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/symbols/symbol_set.h"
#include "trace/symbols/symbols.h"

/* --- debug_files.c: the possible places: beside the module, in debug directories, below another root,
 * in a debuginfod client's cache --- */

#define VS_BUILD_ID_HEX_MAX 130u /* longest build id as text, with its NUL */
#define VS_DEBUG_LINK_MAX 256u

struct vs_debug_query {
    const char *path;     /* of the module, as recorded */
    const char *build_id; /* lower-case hex; "" when it has none */
    const char *link;     /* name in .gnu_debuglink; "" when unknown or none */
    const struct vs_symbols_options *options;
};

/* Called for each candidate in order of preference; true ends the search. */
typedef bool vs_debug_candidate(void *arg, const char *path);

/* vs_debug_files_modules: lists files that may be the module itself. */
bool vs_debug_files_modules(const struct vs_debug_query *query, vs_debug_candidate *use, void *arg);
/* vs_debug_files_separate: lists files that may hold its debug information. */
bool vs_debug_files_separate(const struct vs_debug_query *query, vs_debug_candidate *use,
                             void *arg);

/* vs_debug_files_is_build_id: whether *text* is 2 to 64 bytes in lower-case hex. */
bool vs_debug_files_is_build_id(const char *text);

/* A signature of the existing files, from their status only; 0: none. */
struct vs_debug_signature {
    uint64_t module, separate;
};
struct vs_debug_signature vs_debug_files_sign(const struct vs_debug_query *query);

/* vs_debug_files_open: opens a regular file for reading; -1 for anything else. */
int vs_debug_files_open(const char *path);

/* --- elf_object.c: the libraries read the files unchecked and may crash: only symbol_worker.c, in a
 * process of its own, calls this --- */

struct vs_elf_object;

struct vs_elf_facts {
    int found;   /* a file of this build was found */
    int changed; /* the file at the module's path is of another build */
    enum vs_symbol_level level;
    char link[VS_DEBUG_LINK_MAX]; /* .gnu_debuglink's name, "" without */
};

/* vs_elf_object_open: *query* must stay valid until close; its link is not used. Always creates an
 * object, with no names in it where no file was found. NULL: out of memory. */
struct vs_elf_object *vs_elf_object_open(const struct vs_debug_query *query,
                                         struct vs_elf_facts *facts);

/* vs_elf_object_names: the functions at *address*, innermost first, at most VS_SYMBOL_INLINES_MAX
 * entries; 0 when there are none. An entry that is not `known` has a file and line only. Strings
 * live until close. */
size_t vs_elf_object_names(struct vs_elf_object *object, uint64_t address, struct vs_symbol *out);

void vs_elf_object_close(struct vs_elf_object *object);

/* --- symbol_worker.c: the process that reads the files for us. It is started at the first request,
 * restarted after a crash (the module that caused it is then skipped), and killed when the time is used
 * up. Not thread-safe --- */

/* Zero-initialise, then set *fd* to -1. */
struct vs_symbol_worker {
    int fd;
    pid_t pid;
    unsigned crashes;
    struct vs_symbols_options options;
    size_t resolved;
};

enum vs_worker_result {
    VS_WORKER_ANSWERED,
    VS_WORKER_CRASHED, /* because of this module */
    VS_WORKER_SLOW,    /* this module took half of the time */
    VS_WORKER_LATE,    /* the time is used up, or no worker can be started */
};

/* vs_symbol_worker_request: puts the names around *address* of the module of *query* into *set* as
 * module 0; *number* identifies the module across calls. */
enum vs_worker_result vs_symbol_worker_request(struct vs_symbol_worker *worker,
                                           const struct vs_debug_query *query, uint32_t number,
                                           uint64_t address, struct vs_symbol_set *set,
                                           struct vs_elf_facts *facts);

void vs_symbol_worker_stop(struct vs_symbol_worker *worker);

#endif
