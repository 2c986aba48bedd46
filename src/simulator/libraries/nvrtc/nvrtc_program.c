/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC's programs. Nothing is compiled: the simulated GPU runs no device code. A "compiled" program
 * is an image that the simulated driver accepts, and the names of its kernels: as PTX, a text with
 * one entry for each __global__ function of the source and each name expression; as a cubin, a
 * header for the architecture of the options, in which every name is found. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvrtc/vs_nvrtc_api.h"

VS_NVRTC_FUNCTIONS(VS_LIBRARY_DECLARE)

#define PROGRAM 1
#define DEFAULT_ARCH 75

struct expression {
    struct expression *next;
    char *text, *lowered;
};

struct _nvrtcProgram {
    char *source;
    struct expression *expressions; /* newest first */
    char *ptx;                      /* after compilation */
    int arch;
    bool compiled, real; /* real: for sm_NN, so that there is a cubin */
};

static struct _nvrtcProgram *program_of(struct _nvrtcProgram *handle)
{
    return vs_library_object(handle, PROGRAM);
}

/* ---- life ---- */

int nvrtcCreateProgram(struct _nvrtcProgram **program, const char *source, const char *name,
                       int headers, const char *const *texts, const char *const *names)
{
    if (!program || !source || headers < 0 || (headers && (!texts || !names)))
        return NVRTC_ERROR_INVALID_INPUT;
    struct _nvrtcProgram *p = vs_library_new(PROGRAM, sizeof *p);
    p->source = vs_sim_need(strdup(source));
    *program = p;
    return NVRTC_SUCCESS;
}

int nvrtcDestroyProgram(struct _nvrtcProgram **program)
{
    struct _nvrtcProgram *p = program ? program_of(*program) : NULL;
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    while (p->expressions) {
        struct expression *e = p->expressions;
        p->expressions = e->next;
        free(e->text);
        free(e->lowered);
        free(e);
    }
    free(p->source);
    free(p->ptx);
    vs_library_delete(p, PROGRAM);
    *program = NULL;
    return NVRTC_SUCCESS;
}

/* ---- names ---- */

/* A name in PTX for an expression such as "&ns::f<int>": an identifier is itself, as for extern
 * "C"; of others, all but letters and digits become underscores. */
static char *lower(const char *text)
{
    while (isspace((unsigned char)*text) || *text == '&')
        text++;
    size_t n = strlen(text);
    char *name = vs_sim_need(malloc(n + 3));
    bool plain = true;
    for (size_t i = 0; i < n; i++)
        plain = plain && (isalnum((unsigned char)text[i]) || text[i] == '_');
    int at = plain ? 0 : snprintf(name, 3, "_Z");
    for (size_t i = 0; i < n; i++)
        name[at++] = isalnum((unsigned char)text[i]) ? text[i] : '_';
    name[at] = 0;
    return name;
}

int nvrtcAddNameExpression(struct _nvrtcProgram *program, const char *const text)
{
    struct _nvrtcProgram *p = program_of(program);
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!text)
        return NVRTC_ERROR_INVALID_INPUT;
    if (p->compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    struct expression e = {p->expressions, vs_sim_need(strdup(text)), lower(text)};
    p->expressions = vs_sim_dup(&e, sizeof e);
    return NVRTC_SUCCESS;
}

int nvrtcGetLoweredName(struct _nvrtcProgram *program, const char *const text, const char **name)
{
    struct _nvrtcProgram *p = program_of(program);
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!text || !name)
        return NVRTC_ERROR_INVALID_INPUT;
    if (!p->compiled)
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (struct expression *e = p->expressions; e; e = e->next) {
        if (!strcmp(e->text, text)) {
            *name = e->lowered;
            return NVRTC_SUCCESS;
        }
    }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* The next __global__ function at or after **at*: the identifier before the first parenthesis that
 * is not of an attribute. */
static const char *next_kernel(const char **at, size_t *length)
{
    const char *p = strstr(*at, "__global__");
    if (!p)
        return NULL;
    p += strlen("__global__");
    const char *name = NULL;
    for (*length = 0; *p && *p != '{' && *p != ';'; p++) {
        if (isalpha((unsigned char)*p) || *p == '_') {
            const char *begin = p;
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
            size_t n = (size_t)(p - begin);
            const char *next = p + strspn(p, " \t\r\n");
            bool bounds = n == strlen("__launch_bounds__") && !strncmp(begin, "__launch_bounds__", n);
            if (*next == '(' && !bounds) {
                name = begin;
                *length = n;
                break;
            }
            if (*next == '(') { /* the bounds themselves */
                const char *close = strchr(next, ')');
                p = close ? close : next;
            } else {
                p--;
            }
        }
    }
    *at = p;
    return name ? name : next_kernel(at, length);
}

static char *write_ptx(const struct _nvrtcProgram *p)
{
    char *text = NULL;
    size_t bytes, length;
    FILE *f = vs_sim_need(open_memstream(&text, &bytes));
    fprintf(f, ".version 8.0\n.target sm_%d\n.address_size 64\n", p->arch);
    for (const struct expression *e = p->expressions; e; e = e->next)
        fprintf(f, ".visible .entry %s() { ret; }\n", e->lowered);
    const char *at = p->source, *name;
    while ((name = next_kernel(&at, &length)))
        fprintf(f, ".visible .entry %.*s() { ret; }\n", (int)length, name);
    fclose(f);
    return vs_sim_need(text);
}

int nvrtcCompileProgram(struct _nvrtcProgram *program, int count, const char *const *options)
{
    struct _nvrtcProgram *p = program_of(program);
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    p->arch = DEFAULT_ARCH;
    for (int i = 0; i < count; i++) {
        const char *arch = options[i] ? strstr(options[i], "sm_") : NULL;
        const char *virtual = options[i] ? strstr(options[i], "compute_") : NULL;
        if (arch || virtual) {
            p->arch = atoi(arch ? arch + strlen("sm_") : virtual + strlen("compute_"));
            p->real = arch != NULL;
        }
    }
    free(p->ptx);
    p->ptx = write_ptx(p);
    p->compiled = true;
    return NVRTC_SUCCESS;
}

/* ---- results ---- */

enum result { PTX, CUBIN, LOG };

/* Stores the size of a result in *bytes*, or the result in *to*. */
static int get(struct _nvrtcProgram *handle, enum result what, unsigned long *bytes, char *to)
{
    const struct _nvrtcProgram *p = program_of(handle);
    if (!p || (what != LOG && !p->compiled))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!bytes && !to)
        return NVRTC_ERROR_INVALID_INPUT;
    const char *text = what == PTX ? p->ptx : ""; /* no warnings: nothing is compiled */
    if (bytes)
        *bytes = what != CUBIN ? strlen(text) + 1 : p->real ? vs_library_cubin_bytes(NULL) : 0;
    else if (to && what != CUBIN)
        strcpy(to, text);
    else if (p->real) /* none for a virtual architecture */
        vs_library_cubin(p->arch, NULL, to);
    return NVRTC_SUCCESS;
}

int nvrtcGetPTXSize(struct _nvrtcProgram *p, unsigned long *bytes) { return get(p, PTX, bytes, NULL); }
int nvrtcGetPTX(struct _nvrtcProgram *p, char *to) { return get(p, PTX, NULL, to); }
int nvrtcGetCUBINSize(struct _nvrtcProgram *p, unsigned long *bytes) { return get(p, CUBIN, bytes, NULL); }
int nvrtcGetCUBIN(struct _nvrtcProgram *p, char *to) { return get(p, CUBIN, NULL, to); }
int nvrtcGetProgramLogSize(struct _nvrtcProgram *p, unsigned long *bytes) { return get(p, LOG, bytes, NULL); }
int nvrtcGetProgramLog(struct _nvrtcProgram *p, char *to) { return get(p, LOG, NULL, to); }

/* ---- the compiler itself ---- */

int nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    struct vs_library_version v = vs_library_version();
    *major = v.major;
    *minor = v.minor;
    return NVRTC_SUCCESS;
}

/* The architectures that NVRTC can compile for, and the releases of CUDA that have them (its
 * manuals): 1208 is 12.8. */
static const struct nvrtc_arch {
    int arch, first, last;
} archs[] = {
    {50, 0, 1299},     {52, 0, 1299},     {53, 0, 1299},     {60, 0, 1299},     {61, 0, 1299},
    {62, 0, 1299},     {70, 0, 1299},     {72, 0, 1299},     {75, 0, 9999},     {80, 0, 9999},
    {86, 0, 9999},     {87, 0, 9999},     {88, 1300, 9999},  {89, 0, 9999},     {90, 0, 9999},
    {100, 1208, 9999}, {101, 1208, 1299}, {103, 1209, 9999}, {110, 1300, 9999}, {120, 1208, 9999},
    {121, 1209, 9999},
};

/* Returns how many there are; *found*: NULL, or room for all. */
static int supported_archs(int *found)
{
    struct vs_library_version v = vs_library_version();
    int count = 0;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        int release = v.major * 100 + v.minor;
        if (release < archs[i].first || release > archs[i].last)
            continue;
        if (found)
            found[count] = archs[i].arch;
        count++;
    }
    return count;
}

int nvrtcGetNumSupportedArchs(int *count)
{
    if (!count)
        return NVRTC_ERROR_INVALID_INPUT;
    *count = supported_archs(NULL);
    return NVRTC_SUCCESS;
}

int nvrtcGetSupportedArchs(int *found)
{
    if (!found)
        return NVRTC_ERROR_INVALID_INPUT;
    supported_archs(found);
    return NVRTC_SUCCESS;
}
