/* SPDX-License-Identifier: Apache-2.0
 *
 * Every stand-in library, under each of its sonames: all functions of its table are exported, with
 * the version that NVIDIA's symbols have, and a function that is not supported says so once and
 * returns the library's status. Functions that are not supported are weak symbols. */
#define _GNU_SOURCE
#include "sim_library.h"

#include <elf.h>
#include <link.h>

#include "lib_table.h"

/* version: NULL: symbols have none; "": the soname. */
static const struct lib_case {
    const struct lib_table *table;
    const char *version;
    int status; /* of a function that is not supported, and its name */
    const char *status_name, *sonames[2];
} cases[] = {
    {&lib_table_cublas, "", 15, "CUBLAS_STATUS_NOT_SUPPORTED", {"libcublas.so.12", "libcublas.so.13"}},
    {&lib_table_cublaslt, "", 15, "CUBLAS_STATUS_NOT_SUPPORTED", {"libcublasLt.so.12", "libcublasLt.so.13"}},
    {&lib_table_cudnn, "", 3000, "CUDNN_STATUS_NOT_SUPPORTED", {"libcudnn.so.8", "libcudnn.so.9"}},
    {&lib_table_nccl, NULL, 5, "ncclInvalidUsage", {"libnccl.so.2", NULL}},
    {&lib_table_cusparse, "", 10, "CUSPARSE_STATUS_NOT_SUPPORTED", {"libcusparse.so.12", NULL}},
    {&lib_table_cusparselt, NULL, 10, "CUSPARSE_STATUS_NOT_SUPPORTED", {"libcusparseLt.so.0", NULL}},
    {&lib_table_cusolver, "", 9, "CUSOLVER_STATUS_NOT_SUPPORTED", {"libcusolver.so.11", "libcusolver.so.12"}},
    {&lib_table_cufft, "", 16, "CUFFT_NOT_SUPPORTED", {"libcufft.so.11", "libcufft.so.12"}},
    {&lib_table_curand, "", 103, "CURAND_STATUS_TYPE_ERROR", {"libcurand.so.10", NULL}},
    {&lib_table_nvrtc, "", 5, "NVRTC_ERROR_INVALID_OPTION", {"libnvrtc.so.12", "libnvrtc.so.13"}},
    {&lib_table_nvjitlink, "", 6, "NVJITLINK_ERROR_INTERNAL", {"libnvJitLink.so.12", "libnvJitLink.so.13"}},
    {&lib_table_nvjpeg, "", 9, "NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED", {"libnvjpeg.so.12", "libnvjpeg.so.13"}},
    {&lib_table_cufile, NULL, 5007, "CU_FILE_PLATFORM_NOT_SUPPORTED", {"libcufile.so.0", NULL}},
    {&lib_table_nvshmem, "NVSHMEM", 3, "NVSHMEMX_ERROR_NOT_SUPPORTED", {"libnvshmem_host.so.3", NULL}},
};

#define EACH_SONAME(c, soname)                                                                     \
    for (const struct lib_case *c = cases; c < cases + sizeof cases / sizeof *cases; c++)          \
        for (const char *const *at = c->sonames, *soname = *at;                                    \
             at < c->sonames + 2 && (soname = *at) != NULL; at++)

static void *function_of(void *library, const struct lib_case *c, const char *soname, const char *name)
{
    return c->version ? dlvsym(library, name, *c->version ? c->version : soname) : dlsym(library, name);
}

TEST(every_function_of_the_tables_is_exported)
{
    EACH_SONAME(c, soname) {
        void *library = lib_open(soname);
        assert_true(c->table->count > 10);
        for (size_t i = 0; i < c->table->count; i++)
            if (!function_of(library, c, soname, c->table->rows[i].name))
                fail_msg("%s lacks %s", soname, c->table->rows[i].name);
        assert_null(dlsym(library, "vs_library_unsupported"));
        assert_null(dlsym(library, "vs_library"));
    }
}

static bool is_fallback(void *function, const char *name)
{
    Dl_info info;
    const Elf64_Sym *symbol = NULL;
    return dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
           ELF64_ST_BIND(symbol->st_info) == STB_WEAK && !strcmp(info.dli_sname, name);
}

/* Its answer twice; false if one is wrong. All of the register is the status of a structure too
 * (cuFile's second member is an error of the driver). */
static bool answers(void *function, const struct lib_row *row, int status)
{
    uint64_t (*number)(void);
    const char *(*text)(void);
    double _Complex (*real)(void);
    memcpy(&number, &function, sizeof number);
    memcpy(&real, &function, sizeof real);
    memcpy(&text, &function, sizeof text);
    bool right = true;
    for (int call = 0; call < 2; call++) {
        if (!strcmp(row->kind, "TEXT"))
            right = right && !strcmp(text(), "");
        else if (!strcmp(row->kind, "STATUS"))
            right = right && number() == (uint32_t)status;
        else if (!strcmp(row->kind, "COUNT")) /* of bytes, or a negative status */
            right = right && (int64_t)number() == -status;
        else if (!strcmp(row->kind, "NUMBER"))
            right = right && (uint32_t)number() == 0;
        else if (!strcmp(row->kind, "NOTHING"))
            number();
        else if (!strcmp(row->kind, "REAL"))
            right = right && real() == 0;
        else
            right = right && number() == 0;
    }
    return right;
}

/* What the fallbacks of one library print is read from a file in place of standard error. */
static size_t call_fallbacks(void *library, const struct lib_case *c, const char *soname, const char **wrong)
{
    size_t count = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const struct lib_row *row = &c->table->rows[i];
        void *function = function_of(library, c, soname, row->name);
        if (!is_fallback(function, row->name))
            continue;
        count++;
        if (!answers(function, row, c->status))
            *wrong = row->name;
    }
    return count;
}

static void check_line(const char *line, const struct lib_case *c, const char *name)
{
    char begin[256], end[128];
    snprintf(begin, sizeof begin, "vramscope: the simulated GPU does not support %s of ", name);
    snprintf(end, sizeof end, ": it returned %s\n", c->status_name);
    size_t length = strlen(line);
    if (strncmp(line, begin, strlen(begin)) || length < strlen(end) ||
        strcmp(line + length - strlen(end), end))
        fail_msg("printed \"%s\" for %s", line, name);
    assert_int_equal(lib_notes("unsupported", name), 1);
}

TEST(functions_that_are_not_supported_say_so_once)
{
    size_t all = 0;
    EACH_SONAME(c, soname) {
        char line[1024];
        const char *wrong = NULL;
        void *library = lib_open(soname);
        FILE *printed = tmpfile();
        assert_non_null(printed);
        lib_notes_begin();
        int saved = dup(STDERR_FILENO);
        assert_int_equal(dup2(fileno(printed), STDERR_FILENO), STDERR_FILENO);
        size_t count = call_fallbacks(library, c, soname, &wrong);
        assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
        close(saved);
        if (wrong)
            fail_msg("%s: %s does not return %s", soname, wrong, c->status_name);
        rewind(printed);
        for (size_t i = 0; i < c->table->count; i++) {
            const char *name = c->table->rows[i].name;
            if (!is_fallback(function_of(library, c, soname, name), name))
                continue;
            assert_non_null(fgets(line, sizeof line, printed));
            check_line(line, c, name);
        }
        assert_null(fgets(line, sizeof line, printed));
        fclose(printed);
        all += count;
    }
    assert_true(all > 0);
}
