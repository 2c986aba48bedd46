/* SPDX-License-Identifier: Apache-2.0
 *
 * A C extension that allocates with the GIL and without it, calls back into Python, runs Python in
 * its own thread, and evaluates frames with its own function. Python's headers are not needed: the
 * declarations used are here, nearly all of them from the stable ABI of 3.2. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct _object PyObject;
typedef PyObject *(*function)(PyObject *self, PyObject *argument);

struct method {
    const char *name;
    function call;
    int flags;
    const char *doc;
};
#define METH_O 0x0008
#define API_VERSION 3

struct module {
    void *init, *index, *copy; /* after the object header */
    const char *name, *doc;
    intptr_t size;
    struct method *methods;
    void *slots, *traverse, *clear, *free;
};

/* As PyModuleDef_HEAD_INIT initialises it. */
struct gil_module {
    intptr_t refcount;
    void *type;
    struct module rest;
};

/* Likewise, for a free-threaded build. */
struct free_module {
    uintptr_t owner;
    uint32_t flags, local_count;
    intptr_t shared_count;
    void *type;
    struct module rest;
};

int cudaMalloc(void **pointer, size_t bytes);
PyObject *PyModule_Create2(void *module, int version);
__attribute__((weak)) int PyUnstable_Module_SetGIL(PyObject *module, void *gil); /* free-threaded builds only */
size_t PyLong_AsSize_t(PyObject *number);
PyObject *PyObject_CallObject(PyObject *callable, PyObject *arguments);
PyObject *PyLong_FromLong(long value);
void Py_DecRef(PyObject *object);
void *PyThreadState_Get(void);
void *PyThreadState_GetInterpreter(void *state); /* 3.9 */
/* not in the stable ABI, but its signature is unchanged since 3.9 */
typedef PyObject *(*eval_function)(void *state, void *frame, int thrown);
void _PyInterpreterState_SetEvalFrameFunc(void *interpreter, eval_function function);
PyObject *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown);
int PyObject_IsTrue(PyObject *object);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *state);
int PyGILState_Ensure(void);
void PyGILState_Release(int state);

__attribute__((noinline)) static int innermost(size_t bytes)
{
    void *pointer;
    int err = cudaMalloc(&pointer, bytes);
    __asm__ volatile("" ::: "memory"); /* a call, not a jump */
    return err;
}

static PyObject *alloc(PyObject *self, PyObject *argument)
{
    (void)self;
    return PyLong_FromLong(innermost(PyLong_AsSize_t(argument)));
}

static PyObject *alloc_released(PyObject *self, PyObject *argument)
{
    (void)self;
    size_t bytes = PyLong_AsSize_t(argument);
    void *state = PyEval_SaveThread();
    int err = innermost(bytes);
    PyEval_RestoreThread(state);
    return PyLong_FromLong(err);
}

static PyObject *call(PyObject *self, PyObject *argument)
{
    (void)self;
    return PyObject_CallObject(argument, NULL);
}

static PyObject *evaluate_frame(void *state, void *frame, int thrown)
{
    PyObject *result = _PyEval_EvalFrameDefault(state, frame, thrown);
    __asm__ volatile("" ::: "memory"); /* a call, not a jump */
    return result;
}

/* Sets whether frames are evaluated by evaluate_frame. */
static PyObject *evaluate(PyObject *self, PyObject *argument)
{
    (void)self;
    int on = PyObject_IsTrue(argument);
    _PyInterpreterState_SetEvalFrameFunc(PyThreadState_GetInterpreter(PyThreadState_Get()),
                                         on ? evaluate_frame : _PyEval_EvalFrameDefault);
    return PyLong_FromLong(on);
}

static void *run(void *argument)
{
    int state = PyGILState_Ensure();
    PyObject *result = PyObject_CallObject(argument, NULL);
    if (result)
        Py_DecRef(result);
    PyGILState_Release(state);
    return result;
}

static PyObject *thread(PyObject *self, PyObject *argument)
{
    (void)self;
    pthread_t id;
    void *result = NULL, *state = PyEval_SaveThread();
    if (!pthread_create(&id, NULL, run, argument))
        pthread_join(id, &result);
    PyEval_RestoreThread(state);
    return PyLong_FromLong(result != NULL);
}

static struct method methods[] = {{"alloc", alloc, METH_O, NULL},
                                  {"alloc_released", alloc_released, METH_O, NULL},
                                  {"call", call, METH_O, NULL},
                                  {"evaluate", evaluate, METH_O, NULL},
                                  {"thread", thread, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};
#define REST .rest = {.name = "victim_ext", .size = -1, .methods = methods}
static struct gil_module with_gil = {.refcount = 1, REST};
static struct free_module without_gil = {.local_count = UINT32_MAX, REST};

__attribute__((visibility("default"))) PyObject *PyInit_victim_ext(void);
PyObject *PyInit_victim_ext(void)
{
    if (!PyUnstable_Module_SetGIL)
        return PyModule_Create2(&with_gil, API_VERSION);
    PyObject *module = PyModule_Create2(&without_gil, API_VERSION);
    if (module)
        PyUnstable_Module_SetGIL(module, (void *)1); /* it does not need the GIL */
    return module;
}
