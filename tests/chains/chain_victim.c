/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose call chains are known because this file makes them; see the header. Built by
 * several compilers and options; the build defines macros for chains that depend on them
 * (WITHOUT_TABLE: the program's unwind information has no search table). */
#define _GNU_SOURCE
#include "chain_victim.h"

#include <alloca.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const char *folder; /* folder of the libraries to load */

APART void take(unsigned long bytes)
{
    void *p = NULL;
    cudaError_t e = cudaMalloc(&p, bytes);
    if (e != cudaSuccess)
        printf("wrong cudaMalloc %lu: %d\n", bytes, (int)e);
    NO_TAIL_CALL();
}

void expect(unsigned long bytes, const char *chain)
{
    printf("chain %lu take < %s\n", bytes, chain);
}

/* --- plain, inlined, tail calls --- */

APART static void plain_c(void)
{
    take(1001);
    NO_TAIL_CALL();
}

APART static void plain_b(void)
{
    plain_c();
    NO_TAIL_CALL();
}

APART static void plain_a(void)
{
    expect(1001, "plain_c < plain_b < plain_a" FROM_MAIN);
    plain_b();
    NO_TAIL_CALL();
}

FOLDED void folded_inner(void)
{
    take(1002);
    NO_TAIL_CALL();
}

FOLDED void folded_middle(void)
{
    folded_inner();
    NO_TAIL_CALL();
}

APART static void folding(void)
{
    expect(1002, "folded_inner[i] < folded_middle[i] < folding" FROM_MAIN);
    folded_middle();
    NO_TAIL_CALL();
}

APART static void tail_last(int unused)
{
    take(1003 + (unsigned long)unused);
    NO_TAIL_CALL();
}

APART static void tail_jumper(int unused)
{
#if defined(__clang__)
    __attribute__((musttail)) return tail_last(unused);
#else
    tail_last(unused);
#endif
}

APART static void tail_start(void)
{
#if defined(__OPTIMIZE__) || defined(__clang__)
    expect(1003, "tail_last < tail_start" FROM_MAIN); /* the function in between is missing because
                                                       * of a jump */
#else
    expect(1003, "tail_last < tail_jumper < tail_start" FROM_MAIN);
#endif
    tail_jumper(0);
    NO_TAIL_CALL();
}

/* --- frames of all shapes --- */

APART static void of_changing_size(unsigned bytes)
{
    char *room = alloca(bytes);
    IN_USE(room);
    take(1010 + bytes);
    IN_USE(room);
}

APART static void with_an_array(unsigned n)
{
    int array[n];
    IN_USE(array);
    take(1020 + n);
    IN_USE(array);
}

APART static void of_many_arguments(unsigned n, ...)
{
    va_list list;
    va_start(list, n);
    for (; n; n--)
        take(va_arg(list, unsigned long));
    va_end(list);
    NO_TAIL_CALL();
}

APART static void realigned(void)
{
    _Alignas(128) char room[256];
    IN_USE(room);
    take(1034);
    of_changing_size(21);
    IN_USE(room);
}

APART static void realigned_and_changing(unsigned bytes)
{
    _Alignas(64) char room[256];
    char *more = alloca(bytes);
    IN_USE(room);
    IN_USE(more);
    take(1032);
    IN_USE(room);
    IN_USE(more);
}

APART static void huge(void)
{
    char room[3 << 20];
    IN_USE(room);
    take(1033);
    IN_USE(room);
}

APART static void shapes(void)
{
    expect(1010 + 7, "of_changing_size < shapes" FROM_MAIN);
    of_changing_size(7);
    expect(1020 + 5, "with_an_array < shapes" FROM_MAIN);
    with_an_array(5);
    expect(1040, "of_many_arguments < shapes" FROM_MAIN);
    expect(1041, "of_many_arguments < shapes" FROM_MAIN);
    of_many_arguments(2, 1040ul, 1041ul);
    expect(1034, "realigned < shapes" FROM_MAIN);
    expect(1010 + 21, "of_changing_size < realigned < shapes" FROM_MAIN);
    realigned();
    expect(1032, "realigned_and_changing < shapes" FROM_MAIN);
    realigned_and_changing(1000);
    expect(1033, "huge < shapes" FROM_MAIN);
    huge();
    NO_TAIL_CALL();
}

/* --- jumps and calls that do not return --- */

static jmp_buf back;

/* The call is the last instruction: the return address is in the next function. */
__attribute__((noreturn)) APART static void never_returns(unsigned long bytes)
{
    take(bytes);
    longjmp(back, 1);
}

__attribute__((noreturn)) APART static void calls_what_never_returns(unsigned long bytes)
{
    IN_USE(&bytes);
    never_returns(bytes);
}

APART static void jumps(void)
{
    volatile unsigned long bytes = 1050;
    expect(1050, "never_returns < calls_what_never_returns < jumps" FROM_MAIN);
    expect(1051, "never_returns < calls_what_never_returns < jumps" FROM_MAIN);
    expect(1052, "jumps" FROM_MAIN);
    if (setjmp(back))
        bytes++;
    if (bytes < 1052)
        calls_what_never_returns(bytes);
    take(1052);
    NO_TAIL_CALL();
}

/* --- through the C library --- */

static int comparisons;

static int comparing(const void *a, const void *b)
{
    if (!comparisons++)
        take(1060);
    return *(const int *)a - *(const int *)b;
}

static int finding(const void *a, const void *b)
{
    if (comparisons++ == 0)
        take(1061);
    return *(const int *)a - *(const int *)b;
}

APART static void sorts(void)
{
    int numbers[] = {3, 1, 2, 9, 8};
    expect(1060, "comparing < @libc < sorts" FROM_MAIN);
    qsort(numbers, 5, sizeof *numbers, comparing);
    comparisons = 0;
    expect(1061, "finding < @libc < sorts" FROM_MAIN);
    void *(*volatile search)(const void *, const void *, size_t, size_t,
                             int (*)(const void *, const void *)) = bsearch; /* not inlined */
    (void)!search(&numbers[4], numbers, 5, sizeof *numbers, finding);
    NO_TAIL_CALL();
}

__attribute__((constructor)) static void at_the_start(void)
{
    const char *self = getenv("CHAIN_CONSTRUCTOR");
    if (!self)
        return;
    expect(1070, "at_the_start < @libc < _start");
    take(1070);
    NO_TAIL_CALL();
}

static void at_exit(void)
{
    take(1071);
    NO_TAIL_CALL();
}

__attribute__((destructor)) static void at_the_end(void)
{
    take(1072);
    NO_TAIL_CALL();
}

/* --- threads and other stacks --- */

static void *on_a_thread(void *arg)
{
    take((unsigned long)(uintptr_t)arg);
    NO_TAIL_CALL();
    return NULL;
}

APART static void threads(void)
{
    pthread_t list[3];
    for (unsigned long i = 0; i < 3; i++) {
        expect(1080 + i, "on_a_thread < @libc");
        if (pthread_create(&list[i], NULL, on_a_thread, (void *)(uintptr_t)(1080 + i)))
            printf("wrong thread\n");
    }
    for (int i = 0; i < 3; i++)
        pthread_join(list[i], NULL);
}

static ucontext_t here, there;

static void on_a_context(void)
{
    take(1090);
    swapcontext(&there, &here);
    take(1091);
    NO_TAIL_CALL();
}

APART static void contexts(void)
{
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(1090, "on_a_context < @libc");
    expect(1091, "on_a_context < @libc");
    expect(1092, "contexts" FROM_MAIN);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 65536;
    there.uc_link = &here;
    makecontext(&there, on_a_context, 0);
    swapcontext(&here, &there);
    take(1092);
    swapcontext(&here, &there);
    munmap(stack, 65536);
}

/* A separate stack, entered by a call; it does not store where it was called from. */
void call_on(void *top, void (*f)(void));
__asm__(".text\n.p2align 4\n.globl call_on\n.type call_on, @function\ncall_on:\n"
        ".cfi_startproc\npushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "movq %rdi, %rsp\npushq $0\npushq $0\ncall *%rsi\n"
        "movq %rbp, %rsp\npopq %rbp\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"
        ".size call_on, .-call_on\n");

static void on_a_stack_of_its_own(void)
{
    take(1093);
    NO_TAIL_CALL();
}

APART static void own_stacks(void)
{
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* its frame stores where the old stack is */
    expect(1093, "on_a_stack_of_its_own < call_on < own_stacks" FROM_MAIN);
    call_on(stack + 65536, on_a_stack_of_its_own);
    munmap(stack, 65536);
}

/* --- signals --- */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    take(1100 + (unsigned long)signals++);
    NO_TAIL_CALL();
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

APART static void raises(void)
{
    static char other[65536];
    stack_t alternate = {.ss_sp = other, .ss_size = sizeof other};
    sigaltstack(&alternate, NULL);
    expect(1100, "on_signal < @libc < raises" FROM_MAIN);
    expect(1101, "on_signal < @libc < raises" FROM_MAIN);
    handle(SIGUSR1, on_signal, 0);
    raise(SIGUSR1);
    handle(SIGUSR1, on_signal, SA_ONSTACK);
    raise(SIGUSR1);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, NULL);
}

static sigjmp_buf after_fault;
static unsigned long fault_bytes;

static void on_fault(int number)
{
    (void)number;
    take(fault_bytes);
    siglongjmp(after_fault, 1);
}

/* The very first instruction faults: the code before it belongs to another function. */
void faults_at_once(void *p);
__asm__(".text\n.p2align 4\n.type before_the_fault, @function\nbefore_the_fault:\n"
        ".cfi_startproc\npushq %rbp\n.cfi_def_cfa_offset 16\nnop\nnop\nnop\nnop\nnop\nnop\n"
        "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n.cfi_endproc\n"
        ".size before_the_fault, .-before_the_fault\n"
        ".globl faults_at_once\n.type faults_at_once, @function\nfaults_at_once:\n"
        ".cfi_startproc\nmovb $1, (%rdi)\nret\n.cfi_endproc\n"
        ".size faults_at_once, .-faults_at_once\n");

APART void faults_later(char *p);
void faults_later(char *p)
{
    IN_USE(p);
    *(volatile char *)p = 1;
    NO_TAIL_CALL();
}

APART static void faults(void)
{
    static char other[65536];
    stack_t alternate = {.ss_sp = other, .ss_size = sizeof other};
    sigaltstack(&alternate, NULL);
    for (volatile int i = 0; i < 4; i++) {
        fault_bytes = 1110 + (unsigned long)i;
        expect(fault_bytes, i & 1 ? "on_fault < @libc < faults_at_once < faults" FROM_MAIN
                                  : "on_fault < @libc < faults_later < faults" FROM_MAIN);
        handle(SIGSEGV, on_fault, i < 2 ? 0 : SA_ONSTACK);
        if (sigsetjmp(after_fault, 1))
            continue;
        if (i & 1)
            faults_at_once(NULL);
        else
            faults_later(NULL);
    }
    handle(SIGSEGV, SIG_DFL, 0);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, NULL);
}

static uint64_t vdso_start, vdso_end;
static volatile sig_atomic_t seen_there;

APART static void on_tick(int number, siginfo_t *info, void *context)
{
    uint64_t pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    if (seen_there || pc < vdso_start || pc >= vdso_end)
        return;
    seen_there = 1;
    take(1120);
    NO_TAIL_CALL();
}

static void find_vdso(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &vdso_start, &vdso_end) != 2)
            vdso_start = vdso_end = 0;
    }
    if (maps)
        fclose(maps);
}

/* A signal while the program runs code of the kernel (vDSO). */
APART static void in_the_vdso(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct timespec now, start;
    find_vdso();
    action.sa_sigaction = on_tick;
    sigaction(SIGALRM, &action, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    setitimer(ITIMER_REAL, &often, NULL);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (!seen_there && now.tv_sec < start.tv_sec + 20);
    setitimer(ITIMER_REAL, &never, NULL);
    if (seen_there)
        expect(1120, "on_tick < @libc < @vdso < @libc < in_the_vdso" FROM_MAIN);
}

/* --- code without unwind information --- */

void with_no_rules(void (*f)(void));
__asm__(".text\n.p2align 4\n.globl with_no_rules\n.type with_no_rules, @function\nwith_no_rules:\n"
        "pushq %rbx\npushq %r12\nsubq $40, %rsp\ncall *%rdi\naddq $40, %rsp\npopq %r12\n"
        "popq %rbx\nret\n.size with_no_rules, .-with_no_rules\n");

/* Unlike compiled code: another register holds the frame address. */
void with_rules_by_hand(void (*f)(void));
__asm__(".text\n.p2align 4\n.globl with_rules_by_hand\n.type with_rules_by_hand, @function\n"
        "with_rules_by_hand:\n.cfi_startproc\npushq %rbx\n.cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\nmovq %rsp, %rbx\n.cfi_def_cfa_register %rbx\n"
        "subq $64, %rsp\nandq $-64, %rsp\ncall *%rdi\nmovq %rbx, %rsp\npopq %rbx\n"
        ".cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"
        ".size with_rules_by_hand, .-with_rules_by_hand\n");

static void from_no_rules(void)
{
    take(1130);
    NO_TAIL_CALL();
}

static void from_rules_by_hand(void)
{
    take(1131);
    NO_TAIL_CALL();
}

static void from_new_code(void)
{
    take(1132);
    NO_TAIL_CALL();
}

APART static void assembly(void)
{
#ifdef WITHOUT_TABLE /* only libunwind can find the rules */
    expect(1130, "from_no_rules < with_no_rules");
#else
    expect(1130, "from_no_rules < with_no_rules < (caller unknown)");
#endif
    with_no_rules(from_no_rules);
    expect(1131, "from_rules_by_hand < with_rules_by_hand < assembly" FROM_MAIN);
    with_rules_by_hand(from_rules_by_hand);
    NO_TAIL_CALL();
}

APART static void new_code(void)
{
    /* sub $56, %rsp; call *%rdi; add $56, %rsp; ret */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x38, 0xff, 0xd7,
                                         0x48, 0x83, 0xc4, 0x38, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    void (*f)(void (*)(void));
    memcpy(&f, &page, sizeof f);
    expect(1132, "from_new_code < @none < (caller unknown)");
    f(from_new_code);
    munmap(page, 4096);
}

/* --- deep --- */

APART static void deep(int left)
{
    if (left)
        deep(left - 1);
    else
        take(1140);
    NO_TAIL_CALL();
}

/* --- libraries --- */

typedef void library_function(void (*)(void *), void *);
void linked_call(void (*f)(void *), void *arg);

static void from_library(void *arg)
{
    take((unsigned long)(uintptr_t)arg);
    NO_TAIL_CALL();
}

APART static void through_a_plt(void)
{
    expect(1150, "from_library < linked_call < through_a_plt" FROM_MAIN);
    expect(1151, "from_library < linked_call < through_a_plt" FROM_MAIN);
    linked_call(from_library, (void *)1150);
    linked_call(from_library, (void *)1151);
    NO_TAIL_CALL();
}

APART static void *open_library(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        printf("wrong %s\n", dlerror());
    return library;
}

static unsigned long replacements = 1160;
static const char *outside; /* of the function replaced_libraries */

/* The same addresses hold different libraries one after the other, with the same return addresses:
 * two with the same frames, one with larger frames. */
APART static void replaced_libraries(void)
{
    static const char *const names[] = {"first", "second", "large"};
    void *at[3] = {NULL, NULL, NULL};
    char text[512];
    for (unsigned i = 0; i < 9; i++) {
        const char *name = names[i % 3];
        snprintf(text, sizeof text, "libchain_%s.so", name);
        void *library = open_library(text);
        library_function *f = library ? (library_function *)dlsym(library, "library_call") : NULL;
        if (!f)
            return;
        at[i % 3] = (void *)f;
        snprintf(text, sizeof text, "from_library < %s_inner < library_call < replaced_libraries%s%s",
                 name, outside, FROM_MAIN);
        expect(replacements, text);
        f(from_library, (void *)(uintptr_t)replacements++);
        dlclose(library);
    }
    if (at[0] != at[1] || at[0] != at[2])
        printf("wrong addresses: %p %p %p\n", at[0], at[1], at[2]);
}

APART static void replacing(void)
{
    outside = " < replacing";
    replaced_libraries();
    /* below a frame that only libunwind can walk */
    outside = " < with_rules_by_hand < replacing";
    with_rules_by_hand(replaced_libraries);
    NO_TAIL_CALL();
}

/* A second namespace: the library's own copy of all its dependencies. */
APART static void another_name_space(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libchain_first.so", folder);
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    library_function *f = library ? (library_function *)dlsym(library, "library_call") : NULL;
    if (!f) {
        printf("wrong %s\n", dlerror());
        return;
    }
#ifdef WITHOUT_TABLE /* libunwind is used, which sees only one namespace */
    expect(1190, "from_library < first_inner < (caller unknown)");
#else
    expect(1190, "from_library < first_inner < library_call < another_name_space" FROM_MAIN);
#endif
    f(from_library, (void *)1190);
    dlclose(library);
}

/* main's own frame is the last known one, and several calls are made from it. */
int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    setvbuf(stdout, NULL, _IOLBF, 0);
    plain_a();
    folding();
    tail_start();
    shapes();
    jumps();
    sorts();
    threads();
    contexts();
    own_stacks();
    raises();
    faults();
    in_the_vdso();
    assembly();
    new_code();
    expect(1140, "deep... < (more frames)"); /* up to the recorded depth; the check counts them */
    deep(300);
    through_a_plt();
    replacing();
    another_name_space();
#ifndef WITHOUT_TABLE /* exceptions cannot be unwound */
    cases_in_cxx();
#endif
    expect(1071, "at_exit < @libc < _start");
    expect(1072, "at_the_end < @libc < _start");
    atexit(at_exit);
    return 0;
}
