/* SPDX-License-Identifier: Apache-2.0
 *
 * A module as one libdwfl session with the object at bias 0. Its file must be of the build that ran
 * (equal build ids); if it no longer exists, a separate debug file of that build is used alone. A
 * debug file is used when its build id is the module's, or, where there are none, when its checksum
 * is the debug link's. */
#define _GNU_SOURCE
#include "trace/symbols/elf_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_option.h"
#include "trace/symbols/demangle.h"
#include "trace/symbols/elf_internal.h"

#define VDSO_BYTES_MAX (64u << 10)

/* --- text --- */

const char *vs_elf_readable(struct vs_elf_object *object, const char *name)
{
    char *plain = vs_demangle(name);
    if (plain) {
        const char *kept = vs_xarena_text(&object->text, plain);
        free(plain);
        return kept;
    }
    const char *version = strchr(name, '@');
    if (!version || version == name)
        return name;
    char *copy = vs_xarena(&object->text, (size_t)(version - name) + 1);
    return memcpy(copy, name, (size_t)(version - name));
}

/* --- check that the file matches --- */

static void hex_of(const unsigned char *bits, ssize_t bytes, char *out)
{
    size_t n = 0;
    for (ssize_t i = 0; i < bytes && n + 3 <= VS_BUILD_ID_HEX_MAX; i++)
        n += (size_t)snprintf(out + n, 3, "%02x", bits[i]);
    out[n] = '\0';
}

static uint32_t crc_of(const unsigned char *p, size_t bytes)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] & 1 ? UINT32_C(0xedb88320) ^ table[i] >> 1 : table[i] >> 1;
    }
    for (size_t i = 0; i < bytes; i++)
        crc = table[(crc ^ p[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

static bool has_crc(int fd, uint32_t wanted)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size <= 0)
        return false;
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    bool right = crc_of(bytes, (size_t)st.st_size) == wanted;
    munmap(bytes, (size_t)st.st_size);
    return right;
}

/* The build id of the ELF file *fd*, "" without; false when it is not an ELF program. */
static bool read_build_id(int fd, char *hex)
{
    const void *bits = NULL;
    GElf_Ehdr header;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool good = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
                (header.e_type == ET_DYN || header.e_type == ET_EXEC);
    hex[0] = '\0';
    ssize_t bytes = good ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    hex_of(bits, bytes, hex);
    elf_end(elf);
    return good;
}

/* --- separate debug files --- */

struct client;

/* Asks the servers of DEBUGINFOD_URLS for the module's debug information, by libdebuginfod, which
 * is loaded only when the user asks for it. Runs in the worker process; the process that waits for
 * the worker limits the time. Returns a descriptor, or -1. */
static int fetch(const char *build_id)
{
    static struct client *client; /* reused, because it keeps its connections open */
    static int (*find)(struct client *, const unsigned char *, int, char **);
    const char *urls = vs_environment("DEBUGINFOD_URLS");
    if (!urls || !*urls || !vs_debug_files_is_build_id(build_id))
        return -1;
    if (!client) {
        struct client *(*begin)(void);
        void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return -1;
        *(void **)&begin = dlsym(library, "debuginfod_begin");
        *(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
        client = begin && find ? begin() : NULL;
    }
    /* a length of 0 means that the build id is text */
    int fd = client ? find(client, (const unsigned char *)build_id, 0, NULL) : -1;
    return fd >= 0 ? fd : -1;
}

struct debug_search {
    struct vs_elf_object *object;
    bool has_crc;
    GElf_Word crc;
    int fd;
    char *path; /* path of the file found; libdwfl frees it */
};

static bool try_debug_file(void *arg, const char *path)
{
    struct debug_search *s = arg;
    char hex[VS_BUILD_ID_HEX_MAX];
    const char *wanted = s->object->query->build_id;
    int fd = vs_debug_files_open(path);
    if (fd < 0)
        return false;
    bool right = read_build_id(fd, hex);
    if (right && (*hex || *wanted))
        right = strcmp(hex, wanted) == 0;
    else if (right)
        right = s->has_crc && has_crc(fd, s->crc);
    if (!right) {
        close(fd);
        return false;
    }
    s->path = vs_xstrdup(path);
    s->fd = fd;
    return true;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)name, (void)base, (void)file;
    struct vs_elf_object *object = *userdata;
    struct vs_debug_query query = *object->query;
    struct debug_search search = {.object = object, .has_crc = link, .crc = crc, .fd = -1};
    query.link = link && strlen(link) < VS_DEBUG_LINK_MAX ? link : "";
    snprintf(object->facts->link, VS_DEBUG_LINK_MAX, "%s", query.link);
    vs_debug_files_separate(&query, try_debug_file, &search);
    if (search.fd < 0 && query.options->debuginfod)
        return fetch(query.build_id);
    *found = search.path;
    return search.fd;
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    (void)module, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
    return -1; /* never called: every object is reported with its file */
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = find_debuginfo,
};

static bool try_alternate(void *arg, const char *path)
{
    struct vs_elf_object *object = arg;
    int fd = vs_debug_files_open(path);
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    if (!dwarf) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    object->alternate = dwarf;
    object->alternate_fd = fd;
    return true;
}

/* Debug information that several files share (dwz): libdw itself searches only the system's
 * directories. */
static void find_alternate(struct vs_elf_object *object, Dwarf *dwarf)
{
    const char *name;
    const void *bits = NULL;
    char hex[VS_BUILD_ID_HEX_MAX];
    ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bits);
    if (bytes <= 0)
        return;
    hex_of(bits, bytes, hex);
    struct vs_debug_query query = *object->query;
    query.build_id = hex;
    query.link = "";
    if (vs_debug_files_separate(&query, try_alternate, object))
        dwarf_setalt(dwarf, object->alternate);
    else
        dwarf_getalt(dwarf);
}

/* --- opening --- */

static void end_session(struct vs_elf_object *object)
{
    if (object->dwfl)
        dwfl_end(object->dwfl);
    object->dwfl = NULL;
    object->module = NULL;
}

/* Opens the file *fd*, which the object then owns, as the module. */
static bool begin_session(struct vs_elf_object *object, int fd, const char *path)
{
    void **userdata;
    object->dwfl = dwfl_begin(&callbacks);
    if (object->dwfl) {
        dwfl_report_begin(object->dwfl);
        object->module = dwfl_report_elf(object->dwfl, "module", path, fd, 0, true);
        dwfl_report_end(object->dwfl, NULL, NULL);
    }
    if (!object->module)
        close(fd);
    GElf_Addr bias;
    if (object->module && dwfl_module_getelf(object->module, &bias)) {
        dwfl_module_info(object->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
        *userdata = object;
        return true;
    }
    end_session(object);
    return false;
}

static bool try_module(void *arg, const char *path)
{
    struct vs_elf_object *object = arg;
    char hex[VS_BUILD_ID_HEX_MAX];
    int fd = vs_debug_files_open(path);
    if (fd < 0)
        return false;
    if (read_build_id(fd, hex) && strcmp(hex, object->query->build_id) == 0)
        return begin_session(object, fd, path);
    object->facts->changed = true;
    close(fd);
    return false;
}

static bool try_debug_alone(void *arg, const char *path)
{
    struct vs_elf_object *object = arg;
    struct debug_search search = {.object = object, .fd = -1};
    if (!try_debug_file(&search, path))
        return false;
    free(search.path);
    return begin_session(object, search.fd, path);
}

/* The vDSO of this kernel, if it is the one that ran: it exists only in our memory. */
static bool try_vdso(struct vs_elf_object *object)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    char hex[VS_BUILD_ID_HEX_MAX];
    if (!header || strchr(object->query->path, '/') || !strstr(object->query->path, "vdso"))
        return false;
    size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    int fd = bytes <= VDSO_BYTES_MAX ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    if (write(fd, header, bytes) == (ssize_t)bytes && read_build_id(fd, hex) &&
        strcmp(hex, object->query->build_id) == 0)
        return begin_session(object, fd, object->query->path);
    close(fd);
    return false;
}

struct vs_elf_object *vs_elf_object_open(const struct vs_debug_query *query,
                                         struct vs_elf_facts *facts)
{
    Dwarf_Addr bias;
    struct vs_elf_object *object = vs_xcalloc(1, sizeof *object);
    *facts = (struct vs_elf_facts){.found = false};
    elf_version(EV_CURRENT);
    object->query = query;
    object->facts = facts;
    object->alternate_fd = -1;
    facts->found = vs_debug_files_modules(query, try_module, object) || try_vdso(object) ||
                   (*query->build_id && vs_debug_files_separate(query, try_debug_alone, object));
    if (!facts->found && query->options->debuginfod && strchr(query->path, '/')) {
        int fd = fetch(query->build_id);
        facts->found = fd >= 0 && begin_session(object, fd, query->path);
    }
    if (!facts->found)
        return object;
    facts->level = VS_LEVEL_TABLE;
    Dwarf *dwarf = dwfl_module_getdwarf(object->module, &bias);
    if (dwarf) {
        facts->level = VS_LEVEL_LINES;
        find_alternate(object, dwarf);
    }
    return object;
}

size_t vs_elf_object_names(struct vs_elf_object *object, uint64_t address, struct vs_symbol *out)
{
    memset(out, 0, sizeof *out);
    if (!object->module)
        return 0;
    if (vs_elf_is_signal_frame(object, address)) {
        *out = (struct vs_symbol){.function = "<signal handler called>", .known = 1};
        return 1;
    }
    size_t count = vs_elf_dwarf_names(object, address, out);
    if (count)
        return count;
    const char *name = vs_elf_plt_name(object, address);
    if (!name && (name = dwfl_module_addrname(object->module, address)))
        name = vs_elf_readable(object, name);
    out->function = name ? name : "";
    out->known = name != NULL;
    return name || out->file ? 1 : 0;
}

void vs_elf_object_close(struct vs_elf_object *object)
{
    if (!object)
        return;
    end_session(object);
    if (object->alternate)
        dwarf_end(object->alternate);
    if (object->alternate_fd >= 0)
        close(object->alternate_fd);
    free(object->ranges);
    free(object->stubs);
    vs_arena_free_all(&object->text);
    free(object);
}
