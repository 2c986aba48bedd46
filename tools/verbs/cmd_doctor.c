/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope doctor`: reports what works on this machine. Checks the installation, the driver and
 * its devices, CUPTI, NVML and the permissions for profiling; runs no kernel and creates no
 * context. Exit 0 when programs can be recorded on a real GPU or on the simulated one, 1 when on
 * neither. */
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_library.h"
#include "base/vs_limit_spec.h"
#include "base/vs_option.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/common/paths.h"
#include "tools/run/reach.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

static const char usage[] =
    "usage: vramscope doctor [--gpus] [--json]\n"
    "\n"
    "Checks the installation, the driver and its devices, CUPTI, NVML and permissions\n"
    "on this machine.\n"
    "\n"
    "  --gpus          list the simulated GPUs instead, with the source of each\n"
    "                  figure\n"
    "  --json          JSON (schema vramscope.doctor/1)\n"
    "\n"
    "Exit codes: 0 programs can be recorded here, on a GPU or on the simulated one;\n"
    "1 they cannot; 2 wrong usage.\n";

enum verdict { GOOD, WARNING, BAD };
static const char *const words[] = {"ok", "note", "missing"};

struct finding {
    enum verdict verdict;
    char name[32];
    char text[512];
};

struct findings {
    struct finding list[64];
    unsigned count;
    bool real, simulated, preload;
};

static void VS_PRINTF(4, 5)
    add(struct findings *f, enum verdict verdict, const char *name, const char *format, ...)
{
    if (f->count == sizeof f->list / sizeof *f->list)
        return;
    struct finding *one = &f->list[f->count++];
    one->verdict = verdict;
    snprintf(one->name, sizeof one->name, "%s", name);
    va_list ap;
    va_start(ap, format);
    vsnprintf(one->text, sizeof one->text, format, ap);
    va_end(ap);
}

static void look_at_installation(struct findings *f)
{
    char path[PATH_MAX];
    bool there = vs_path_preload(path, sizeof path) == VS_OK;
    f->preload = there && vs_reach_is_library(path);
    if (there && !f->preload)
        add(f, BAD, "preload library", "%s is damaged or for another architecture; reinstall vramscope", path);
    else if (f->preload && strpbrk(path, " :"))
        add(f, WARNING, "preload library", "%s contains a space or colon, which LD_PRELOAD does not allow; install "
                                           "vramscope elsewhere, or use `run` with --via=injection", path);
    else if (f->preload)
        add(f, GOOD, "preload library", "%s", path);
    else
        add(f, BAD, "preload library", "libvramscope.so is missing: vramscope was built without "
                                       "CUDA headers; traces can be read, but not recorded");
    f->simulated = vs_path_simulator(path, sizeof path) == VS_OK;
    if (f->simulated)
        add(f, GOOD, "simulated GPU", "%s; use `vramscope run --simulate h100-80g`", path);
    else
        add(f, WARNING, "simulated GPU", "not part of this installation");
    if (dlopen(VS_LIBUNWIND, RTLD_LAZY | RTLD_LOCAL))
        add(f, GOOD, "call stacks", VS_LIBUNWIND);
    else
        add(f, WARNING, "call stacks", VS_LIBUNWIND " is missing: no call stacks; install libunwind8");
    if (dlopen(VS_LIBZSTD, RTLD_LAZY | RTLD_LOCAL))
        add(f, GOOD, "compression", VS_LIBZSTD);
    else
        add(f, WARNING, "compression", VS_LIBZSTD " is missing: traces are not compressed; install libzstd1");
    add(f, GOOD, "allocator", "run serves cudaMalloc from a cache, but only observes under PyTorch, with --limit, and "
                              "with check= or fail= of --simulate; --allocator=observe always does");
}

/* The driver's entry points used here, in their documented C types. */
struct doctor_driver {
    void *handle;
    int (*init)(unsigned);
    int (*version)(int *);
    int (*device_count)(int *);
    int (*device_name)(char *, int, int);
    int (*total_memory)(size_t *, int);
    int (*error_name)(int, const char **);
};

static bool open_driver(struct doctor_driver *d)
{
    d->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->handle)
        return false;
    *(void **)&d->init = dlsym(d->handle, "cuInit");
    *(void **)&d->version = dlsym(d->handle, "cuDriverGetVersion");
    *(void **)&d->device_count = dlsym(d->handle, "cuDeviceGetCount");
    *(void **)&d->device_name = dlsym(d->handle, "cuDeviceGetName");
    *(void **)&d->total_memory = dlsym(d->handle, "cuDeviceTotalMem_v2");
    *(void **)&d->error_name = dlsym(d->handle, "cuGetErrorName");
    return d->init && d->version && d->device_count && d->device_name && d->total_memory;
}

static const char *error_text(const struct doctor_driver *d, int code)
{
    const char *text = NULL;
    return d->error_name && d->error_name(code, &text) == 0 && text ? text : "unknown error";
}

static void look_at_devices(struct findings *f, const struct doctor_driver *d)
{
    int count = 0, version = 0;
    if (d->version(&version) == 0)
        add(f, version >= 11000 ? GOOD : WARNING, "driver", "supports CUDA %d.%d%s", version / 1000,
            version % 1000 / 10, version >= 11000 ? "" : "; vramscope supports 11 and later");
    int code = d->init(0);
    if (code == 0)
        code = d->device_count(&count);
    if (code != 0 || count == 0) {
        add(f, WARNING, "device", "the driver reports no GPU (%s); use --simulate",
            code ? error_text(d, code) : "none present");
        return;
    }
    f->real = true;
    for (int i = 0; i < count; i++) {
        char name[256] = "?";
        size_t total = 0;
        if (d->device_name(name, sizeof name, i) || d->total_memory(&total, i))
            add(f, WARNING, "device", "%d: the driver does not report its name and size", i);
        else
            add(f, GOOD, "device", "%d: %s, %s%s", i, name, vs_size_text(total),
                dlsym(d->handle, "vramscopeSimRegisterKernel") ? " (simulated)" : "");
    }
}

static void look_at_cupti(struct findings *f, const struct doctor_driver *d)
{
    int version = 0;
    if (d->version(&version) != 0)
        return;
    const char *roots[] = {"", vs_environment("CUDA_PATH"), vs_environment("CUDA_HOME"),
                           "/usr/local/cuda"};
    static const char *const inside[] = {"extras/CUPTI/lib64/", "lib64/", "lib/"};
    char path[PATH_MAX];
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        for (size_t i = 0; roots[r] && i < (r ? sizeof inside / sizeof *inside : 1); i++) {
            snprintf(path, sizeof path, "%s%s%slibcupti.so.%d", roots[r], r ? "/" : "",
                     r ? inside[i] : "", version / 1000);
            if (dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
                add(f, GOOD, "CUPTI", "%s", path);
                return;
            }
        }
    }
    add(f, WARNING, "CUPTI", "libcupti.so.%d not found: memory is recorded, kernels and copies are "
                             "not; install the CUDA toolkit's CUPTI or set CUDA_PATH (a Python "
                             "wheel's own copy is found when the program runs)", version / 1000);
}

/* Checks the limits that the environment sets, and those that cannot be enforced. */
static void look_at_limit(struct findings *f)
{
    struct vs_limit_spec spec;
    char name[VS_OPTION_ENV_MAX];
    const char *text = vs_environment(vs_option_env_name(VS_OPT_limit, name));
    if (!text || !*text)
        return;
    if (vs_limit_parse(text, &spec))
        add(f, WARNING, "limit", "%s=%s is not a valid limit; give a size such as 8GiB", name, text);
    else
        add(f, GOOD, "limit", "%s for each process; contexts, modules, managed memory and calls "
                              "that bypass vramscope are not limited (docs/limit.md)", text);
}

/* Finds tools that use CUPTI, or will use it, in programs started from here. */
static void look_at_other_tools(struct findings *f)
{
    static const struct {
        const char *variable, *tool;
    } signs[] = {{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
                 {"NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "Nsight Compute"},
                 {"NV_SANITIZER_INJECTION_PORT_BASE", "compute-sanitizer"}};
    const char *injected = vs_environment("CUDA_INJECTION64_PATH");
    if (injected && *injected && !strstr(injected, "libvramscope"))
        add(f, WARNING, "profilers", "CUDA_INJECTION64_PATH names another tool (%.200s), which "
                                     "stays: memory is recorded, kernels and copies may be "
                                     "missing, and --via=injection does not work", injected);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (vs_environment(signs[i].variable))
            add(f, WARNING, "profilers", "%s is running here (%s): vramscope records memory and "
                                         "leaves kernels and copies to it", signs[i].tool, signs[i].variable);
    }
}

/* Without NVML, reports lack only the memory of other processes. */
static void look_at_nvml(struct findings *f)
{
    static const char *const without = "memory of other processes is not listed separately";
    char version[96] = "";
    int (*init)(void), (*shut)(void), (*driver_version)(char *, unsigned);
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        add(f, WARNING, "NVML", "libnvidia-ml.so.1 not found: %s", without);
        return;
    }
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&shut = dlsym(library, "nvmlShutdown");
    *(void **)&driver_version = dlsym(library, "nvmlSystemGetDriverVersion");
    int r = init ? init() : -1;
    if (r != 0) {
        add(f, WARNING, "NVML", "libnvidia-ml.so.1 fails with error %d: %s", r, without);
        return;
    }
    if (driver_version && driver_version(version, sizeof version) != 0)
        *version = 0;
    bool lists = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3") ||
                 dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
    if (lists)
        add(f, GOOD, "NVML", "driver %s: memory of other processes is listed separately", version);
    else
        add(f, WARNING, "NVML", "driver %s lists no processes: %s", version, without);
    if (shut)
        shut();
}

static void print_json(const struct findings *f)
{
    struct vs_json json = vs_json_document(stdout, "vramscope.doctor/1");
    vs_json_members(&json, VS_J_BOOL("real_gpu", f->preload && f->real),
                    VS_J_BOOL("simulated_gpu", f->preload && f->simulated));
    for (unsigned i = 0; vs_json_next(&json, "findings", i, f->count); i++)
        vs_json_object(&json, NULL, VS_J_TEXT("verdict", words[f->list[i].verdict]),
                       VS_J_TEXT("name", f->list[i].name), VS_J_TEXT("text", f->list[i].text));
    vs_json_end_object(&json);
}

/* ---- the simulated GPUs ---- */

#define GIB(bytes) ((double)(bytes) / (double)VS_GIB)

static int list_gpus(const char *who, bool json)
{
    char names[VS_SIMULATED_WHY_MAX], why[VS_SIMULATED_WHY_MAX];
    const char *list[VS_SIMULATED_MAX];
    static struct vs_simulated_gpu gpus[VS_SIMULATED_MAX];
    size_t count = 0;
    vs_simulated_names(names);
    size_t names_count = vs_simulated_split(names, list);
    for (size_t i = 0; i < names_count; i++)
        if (vs_simulated_describe(list[i], &gpus[count], why) == VS_OK)
            count++;
    if (!count)
        return vs_tool_fail(who, "%s", why);
    if (json) {
        struct vs_json document = vs_json_document(stdout, "vramscope.gpus/1");
        for (size_t i = 0; vs_json_next(&document, "gpus", i, count); i++)
            vs_json_object(&document, NULL, VS_J_TEXT("name", gpus[i].name),
                           VS_J_UINT("total_bytes", gpus[i].total_bytes),
                           VS_J_UINT("board_bytes", gpus[i].board_bytes),
                           VS_J_INT("compute_capability", gpus[i].sm), VS_J_INT("sms", gpus[i].sms),
                           VS_J_UINT("memory_gbps", gpus[i].memory_gbps),
                           VS_J_UINT("context_bytes", gpus[i].context_bytes),
                           VS_J_TEXT("context_kind", gpus[i].context_kind),
                           VS_J_TEXT("context_source", gpus[i].context_source));
        vs_json_end_object(&document);
    } else {
        const char *rule = NULL;
        printf("%-15s %10s %10s  %5s %5s %8s %11s  source\n", "GPU", "total", "board", "cc", "SMs", "GB/s", "context");
        for (size_t i = 0; i < count; i++) {
            const struct vs_simulated_gpu *g = &gpus[i];
            char board[32] = "-";
            if (g->board_bytes != g->total_bytes)
                snprintf(board, sizeof board, "%.2f GiB", GIB(g->board_bytes));
            printf("%-15s %6.2f GiB %10s  %3d.%d %5d %8u %7" PRIu64 " MiB  %s\n", g->name,
                   GIB(g->total_bytes), board, g->sm / 10, g->sm % 10, g->sms, g->memory_gbps,
                   g->context_bytes / VS_MIB, g->context_kind);
        }
        puts("\nTotal memory is what cudaMemGetInfo reports; NVML (nvidia-smi) reports the "
             "board's. A program has\nthe total less the context, other processes, and what "
             "libraries and kernels take.\n\nSources of the contexts' sizes:");
        for (size_t i = 0; i < count; i++)
            if (strcmp(gpus[i].context_kind, "rule") == 0)
                rule = gpus[i].context_source;
            else
                printf("  %-15s %s\n", gpus[i].name, gpus[i].context_source);
        if (rule)
            printf("  %-15s %s\n", "rule", rule);
        puts("\nAnother GPU: custom,sm=89,sms=128,memory=23.65GiB");
    }
    return vs_tool_finish(who, stdout, 0);
}

static int doctor_main(int argc, char **argv)
{
    bool json = false, gpus = false;
    for (int i = 1; i < argc; i++) {
        bool is_json = strcmp(argv[i], "--json") == 0, is_gpus = strcmp(argv[i], "--gpus") == 0;
        if (!is_json && !is_gpus)
            return vs_tool_usage(argv[0], "unknown argument %s", argv[i]);
        json |= is_json;
        gpus |= is_gpus;
    }
    if (gpus)
        return list_gpus(argv[0], json);
    struct findings *f = vs_xcalloc(1, sizeof *f);
    struct doctor_driver driver = {0};
    look_at_installation(f);
    if (open_driver(&driver)) {
        look_at_devices(f, &driver);
        look_at_cupti(f, &driver);
        look_at_nvml(f);
    } else {
        add(f, WARNING, "driver", "libcuda.so.1 not found: no NVIDIA driver here; use --simulate");
    }
    VS_TOOL_FILE file = fopen("/proc/driver/nvidia/params", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        if (vs_text_begins(line, "RmProfilingAdminOnly: 1"))
            add(f, WARNING, "permissions",
                "the driver restricts hardware counters to root; kernels and copies are still "
                "recorded where CUPTI allows it");
    }
    const char *other = vs_environment("NVTX_INJECTION64_PATH");
    if (other && *other)
        add(f, WARNING, "NVTX",
            "NVTX_INJECTION64_PATH names another tool (%s): that tool receives the "
                                "ranges, vramscope does not", other);
    look_at_other_tools(f);
    if (access(".", W_OK) != 0)
        add(f, WARNING, "this folder", "not writable: give the trace another folder with -o");
    look_at_limit(f);
    if (json)
        print_json(f);
    else {
        struct vs_style style;
        char lead[64];
        vs_style_init(&style, stdout);
        for (unsigned i = 0; i < f->count; i++) {
            snprintf(lead, sizeof lead, "  %-8s %-16s ", words[f->list[i].verdict],
                     f->list[i].name);
            vs_text_wrapped(&style, lead, f->list[i].text);
        }
        if (f->preload && f->real)
            puts("Programs can be recorded on the GPU: vramscope run -- PROGRAM");
        else if (f->preload && f->simulated)
            puts("No GPU. Programs can be recorded on the simulated GPU:\n  "
                 "vramscope run --simulate h100-80g -- PROGRAM");
        else
            puts("Nothing can be recorded here; traces recorded elsewhere can be read.");
    }
    int status = f->preload && (f->real || f->simulated) ? 0 : 1;
    free(f);
    return vs_tool_finish(argv[0], stdout, status);
}

const struct vs_command vs_cmd_doctor = {
    "doctor", "check device, driver, CUPTI, NVML and permissions on this machine", usage,
    doctor_main, false};
