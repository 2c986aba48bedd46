/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's C API for programs that must build and run without vramscope: copy this one file.
 * It needs no library at link time. Its functions call libvramscope if it is in the process
 * (`vramscope run`, LD_PRELOAD, or linked by another part of the program); otherwise they do
 * nothing, and return what their comments say.
 *
 *     #include "vramscope_client.h"
 *
 *     for (int i = 0; i < steps; i++) {
 *         vramscope_client_step(i);
 *         vramscope_client_range_push("forward");
 *         …
 *         vramscope_client_range_pop();
 *     }
 *
 * Cost: the first call of each function in each source file looks it up (dlsym, about 1 us); later
 * calls without the library are one load and a branch. A library that is loaded after the first
 * call is not found. With glibc before 2.34 link with -ldl. C99, C++11; on other systems than
 * Linux, and with VRAMSCOPE_CLIENT_DISABLE defined, all functions are empty.
 *
 * Functions, arguments, units and threads are those of vramscope.h, which is not needed. The two
 * headers may be included together. */
#ifndef VRAMSCOPE_CLIENT_H
#define VRAMSCOPE_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#if defined __linux__ && defined __GNUC__ && !defined VRAMSCOPE_CLIENT_DISABLE
#define VRAMSCOPE_CLIENT_LOOKUP 1
#include <dlfcn.h>
#endif

#if defined __GNUC__
#define VRAMSCOPE_CLIENT_FN static inline __attribute__((unused))
#else
#define VRAMSCOPE_CLIENT_FN static inline
#endif

/* As struct vramscope_window_stats of vramscope.h. */
struct vramscope_client_window {
    uint64_t allocated_begin, allocated_end, allocated_peak;
    uint64_t requested_begin, requested_end, requested_peak;
    uint64_t reserved_begin, reserved_end, reserved_peak;
    uint64_t tensors_begin, tensors_end, tensors_peak;
    uint64_t allocations, frees, failures;
    uint64_t tensor_allocations, tensor_frees;
    uint64_t begin_ns, end_ns;
    uint64_t user_begin, user_end, user_peak;
    uint64_t user_allocations, user_frees;
};

#ifdef VRAMSCOPE_CLIENT_LOOKUP
/* The function *name* of the library; NULL without it. *slot*: where it is kept; its own address
 * means "absent". Any thread. */
VRAMSCOPE_CLIENT_FN void *vramscope_client_find(void **slot, const char *name)
{
    void *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!found) {
        void *program = dlopen((const char *)0, RTLD_LAZY); /* the program and its libraries */
        found = program ? dlsym(program, name) : (void *)0;
        if (program)
            dlclose(program);
        if (!found)
            found = (void *)slot;
        __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    }
    return found == (void *)slot ? (void *)0 : found;
}

/* The function *name*, of type RESULT (*) PARAMETERS, as vramscope_found_.function. A union, since
 * ISO C has no conversion from dlsym's result to a function. */
#define VRAMSCOPE_CLIENT_FIND(result, parameters, name) \
    static void *vramscope_slot_;                       \
    union {                                             \
        void *object;                                   \
        result(*function) parameters;                   \
    } vramscope_found_;                                 \
    vramscope_found_.object = vramscope_client_find(&vramscope_slot_, name)
#define VRAMSCOPE_CLIENT_CALL(result, parameters, name, absent, arguments) \
    VRAMSCOPE_CLIENT_FIND(result, parameters, name);                       \
    return vramscope_found_.object ? vramscope_found_.function arguments : (absent)
#define VRAMSCOPE_CLIENT_DO(parameters, name, arguments) \
    VRAMSCOPE_CLIENT_FIND(void, parameters, name);       \
    if (vramscope_found_.object)                         \
    vramscope_found_.function arguments
#else
#define VRAMSCOPE_CLIENT_CALL(result, parameters, name, absent, arguments) return absent
#define VRAMSCOPE_CLIENT_DO(parameters, name, arguments) (void)0
#endif

/* 1 while a trace is being recorded; 0 otherwise, and without the library. */
VRAMSCOPE_CLIENT_FN int vramscope_client_recording(void)
{
    VRAMSCOPE_CLIENT_CALL(int, (void), "vramscope_recording", 0, ());
}

/* Open and close a named range on the calling thread. */
VRAMSCOPE_CLIENT_FN void vramscope_client_range_push(const char *name)
{
    (void)name;
    VRAMSCOPE_CLIENT_DO((const char *), "vramscope_range_push", (name));
}

VRAMSCOPE_CLIENT_FN void vramscope_client_range_pop(void)
{
    VRAMSCOPE_CLIENT_DO((void), "vramscope_range_pop", ());
}

/* Begin step *number* of the calling thread, which ends the one before; end the last one. */
VRAMSCOPE_CLIENT_FN void vramscope_client_step(uint64_t number)
{
    (void)number;
    VRAMSCOPE_CLIENT_DO((uint64_t), "vramscope_step", (number));
}

VRAMSCOPE_CLIENT_FN void vramscope_client_step_end(void)
{
    VRAMSCOPE_CLIENT_DO((void), "vramscope_step_end", ());
}

/* Name the next allocation of the calling thread; NULL takes the name back. */
VRAMSCOPE_CLIENT_FN void vramscope_client_annotate(const char *name)
{
    (void)name;
    VRAMSCOPE_CLIENT_DO((const char *), "vramscope_annotate", (name));
}

/* Record a named point in time. */
VRAMSCOPE_CLIENT_FN void vramscope_client_mark(const char *name)
{
    (void)name;
    VRAMSCOPE_CLIENT_DO((const char *), "vramscope_mark", (name));
}

/* Open a peak window. Its number, above 0; -1 on failure, and without the library. */
VRAMSCOPE_CLIENT_FN int64_t vramscope_client_window_begin(void)
{
    VRAMSCOPE_CLIENT_CALL(int64_t, (void), "vramscope_window_begin", -1, ());
}

/* Get the figures of a window for *device*; _end closes it as well. 0, or -1 on failure and
 * without the library; *stats* is unchanged then. */
VRAMSCOPE_CLIENT_FN int vramscope_client_window_read(int64_t window, int device,
                                                     struct vramscope_client_window *stats)
{
    (void)window;
    (void)device;
    (void)stats;
    VRAMSCOPE_CLIENT_CALL(int, (int64_t, int, struct vramscope_client_window *),
                          "vramscope_window_read", -1, (window, device, stats));
}

VRAMSCOPE_CLIENT_FN int vramscope_client_window_end(int64_t window, int device,
                                                    struct vramscope_client_window *stats)
{
    (void)window;
    (void)device;
    (void)stats;
    VRAMSCOPE_CLIENT_CALL(int, (int64_t, int, struct vramscope_client_window *),
                          "vramscope_window_end", -1, (window, device, stats));
}

/* Stop and continue the recording of single allocations. -1 on failure and without the library. */
VRAMSCOPE_CLIENT_FN int vramscope_client_stop_recording(void)
{
    VRAMSCOPE_CLIENT_CALL(int, (void), "vramscope_stop_recording", -1, ());
}

VRAMSCOPE_CLIENT_FN int vramscope_client_start_recording(void)
{
    VRAMSCOPE_CLIENT_CALL(int, (void), "vramscope_start_recording", -1, ());
}

/* Write a complete trace of everything so far to *path*. -1 on failure and without the library. */
VRAMSCOPE_CLIENT_FN int vramscope_client_dump(const char *path)
{
    (void)path;
    VRAMSCOPE_CLIENT_CALL(int, (const char *), "vramscope_dump", -1, (path));
}

#undef VRAMSCOPE_CLIENT_CALL
#undef VRAMSCOPE_CLIENT_DO
#undef VRAMSCOPE_CLIENT_FIND
#undef VRAMSCOPE_CLIENT_FN
#endif
