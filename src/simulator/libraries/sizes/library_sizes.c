/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of sizes.tsv, found by library, version, architecture and problem. Columns, separated by
 * tabs: library, versions (9.1.0-9.5.0 or *), architecture (sm_90 or *), what, key (or *), bytes,
 * kind (measured or assumed), source. Lines that begin with # are comments. */
#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define COLUMNS 8
enum { LIBRARY, VERSIONS, ARCHITECTURE, WHAT, KEY, BYTES, KIND, SOURCE };

__asm__(".pushsection .rodata\n"
        ".local vs_size_table, vs_size_table_end\n"
        "vs_size_table: .incbin \"" VS_SIZES_FILE "\"\n"
        "vs_size_table_end: .byte 0\n"
        ".popsection\n");
extern const char vs_size_table[] __attribute__((visibility("hidden")));
extern const char vs_size_table_end[] __attribute__((visibility("hidden")));

struct row {
    const char *field[COLUMNS];
    int length[COLUMNS];
};

/* split: one line into its columns; false if their number differs. */
static bool split(const char *line, const char *end, struct row *row)
{
    int n = 0;
    for (const char *p = line; n < COLUMNS; n++) {
        const char *tab = memchr(p, '\t', (size_t)(end - p));
        row->field[n] = p;
        row->length[n] = (int)((tab ? tab : end) - p);
        if (!tab)
            return n == COLUMNS - 1 && row->length[n] > 0;
        p = tab + 1;
    }
    return false;
}

static bool is(const struct row *row, int column, const char *text)
{
    size_t length = (size_t)row->length[column];
    return strlen(text) == length && !memcmp(row->field[column], text, length);
}

static bool is_or_any(const struct row *row, int column, const char *text)
{
    return is(row, column, "*") || is(row, column, text);
}

/* versions: of "9.1.0-9.5.0" as numbers; * gives 0 and INT_MAX. */
static bool versions(const struct row *row, int *first, int *last)
{
    char text[64];
    int a[3] = {0}, b[3] = {0}, used = 0;
    *first = 0;
    *last = 2147483647;
    if (is(row, VERSIONS, "*"))
        return true;
    if (row->length[VERSIONS] >= (int)sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", row->length[VERSIONS], row->field[VERSIONS]);
    if (sscanf(text, "%d.%d.%d-%d.%d.%d%n", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2], &used) != 6 ||
        text[used])
        return false;
    *first = a[0] * 10000 + a[1] * 100 + a[2];
    *last = b[0] * 10000 + b[1] * 100 + b[2];
    return *first <= *last;
}

static bool bytes_of(const struct row *row, uint64_t *bytes)
{
    char text[32], *end;
    if (row->length[BYTES] < 1 || row->length[BYTES] >= (int)sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", row->length[BYTES], row->field[BYTES]);
    *bytes = strtoull(text, &end, 10);
    return *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

/* next_row: the next line that is not empty or a comment; false at the end. *line* is its number. */
static bool next_row(const char **at, const char *end, const char **first, const char **last,
                     unsigned *line)
{
    while (*at < end) {
        const char *newline = memchr(*at, '\n', (size_t)(end - *at));
        *first = *at;
        *last = newline ? newline : end;
        *at = newline ? newline + 1 : end;
        ++*line;
        if (*last > *first && **first != '#')
            return true;
    }
    return false;
}

bool vs_size_find(const char *table, const char *end, const struct vs_size_query *query,
                  struct vs_size_answer *answer)
{
    char architecture[16];
    const char *first, *last;
    struct row row;
    unsigned line = 0;
    bool found = false;
    int from, to;
    snprintf(architecture, sizeof architecture, "sm_%d", query->architecture);
    for (const char *at = table; next_row(&at, end, &first, &last, &line);) {
        if (!split(first, last, &row) || !is(&row, LIBRARY, query->library) ||
            !is(&row, WHAT, query->what) || !is_or_any(&row, KEY, query->key) ||
            !is_or_any(&row, ARCHITECTURE, architecture) || !versions(&row, &from, &to) ||
            query->version < from || query->version > to)
            continue;
        bool measured = is(&row, KIND, "measured");
        if ((found && !measured) || !bytes_of(&row, &answer->bytes))
            continue;
        found = true;
        answer->measured = measured;
        snprintf(answer->source, sizeof answer->source, "%.*s", row.length[SOURCE], row.field[SOURCE]);
        if (measured)
            return true;
    }
    return found;
}

bool vs_size_check(const char *table, const char *end, unsigned *line)
{
    const char *first, *last;
    struct row row;
    uint64_t bytes;
    int from, to;
    *line = 0;
    for (const char *at = table; next_row(&at, end, &first, &last, line);)
        if (!split(first, last, &row) || !versions(&row, &from, &to) || !bytes_of(&row, &bytes) ||
            (!is(&row, KIND, "measured") && !is(&row, KIND, "assumed")) ||
            (!is(&row, ARCHITECTURE, "*") && strncmp(row.field[ARCHITECTURE], "sm_", 3)))
            return false;
    return true;
}

static bool given_workspace(uint64_t *bytes)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, "vramscopeSimLibraryWorkspace") : NULL;
    vramscope_sim_library_workspace_fn *given;
    memcpy(&given, &found, sizeof given);
    bool ok = given && given(bytes);
    if (library)
        dlclose(library);
    return ok;
}

static bool look_up(const char *what, const char *key, struct vs_size_answer *answer)
{
    struct vs_library_version v = vs_library_version();
    struct vs_size_query query = {
        .library = vs_library.package,
        .version = v.major * 10000 + v.minor * 100 + v.patch,
        .architecture = vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                        vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .what = what,
        .key = key,
    };
    return vs_size_find(vs_size_table, vs_size_table_end, &query, answer);
}

static uint64_t noted(const char *what, const char *key, uint64_t bytes, const char *why, bool measured)
{
    char name[400];
    snprintf(name, sizeof name, "%s%s%s", what, *key ? " " : "", key);
    (measured ? vs_library_measured : vs_library_assume)(name, bytes, why);
    return bytes;
}

static uint64_t size_of(const char *what, const char *key, uint64_t assumed, const char *why,
                        bool workspace)
{
    struct vs_size_answer answer;
    bool found = look_up(what, key, &answer);
    if (found && answer.measured)
        return noted(what, key, answer.bytes, answer.source, true);
    uint64_t given;
    if (workspace && given_workspace(&given)) {
        assumed = given;
        why = "workspace= of VRAMSCOPE_SIMULATE";
    } else if (found) {
        assumed = answer.bytes;
        why = answer.source;
    }
    return noted(what, key, assumed, why, false);
}

uint64_t vs_library_size(const char *what, const char *key, uint64_t assumed, const char *why)
{
    return size_of(what, key, assumed, why, false);
}

uint64_t vs_library_workspace(const char *what, const char *key, uint64_t assumed, const char *why)
{
    return size_of(what, key, assumed, why, true);
}

/* By a call of the driver's, so that a recorder measures it as it does that of NVIDIA's libraries. */
bool vs_library_load(void)
{
    static atomic_uint loaded; /* a bit per device */
    Elf64_Ehdr image;
    CUdevice device;
    CUmodule module;
    const struct vs_library_driver *d = vs_library_driver();
    if (!d || d->cuCtxGetDevice(&device) || atomic_fetch_or(&loaded, 1u << device) >> device & 1)
        return true;
    vs_library_cubin(vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                         vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                     NULL, &image);
    image.e_entry = vs_library_size("handle", "", 0, "no row for this library");
    if (!d->cuModuleLoadData(&module, &image))
        return true;
    atomic_fetch_and(&loaded, ~(1u << device));
    return false;
}
