/* SPDX-License-Identifier: Apache-2.0
 *
 * A C extension that allocates with the GIL and without it, calls back into Python, and runs
 * Python in a thread of its own. Python's headers need not be there: what is used of them is
 * the stable interface since 3.2, declared here. */
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
    struct {
        intptr_t refcount; /* the object's head, as PyModuleDef_HEAD_INIT leaves it */
        void *type;
        void *init, *index, *copy;
    } base;
    const char *name, *doc;
    intptr_t size;
    struct method *methods;
    void *slots, *traverse, *clear, *free;
};

int cudaMalloc(void **pointer, size_t bytes);
PyObject *PyModule_Create2(struct module *module, int version);
size_t PyLong_AsSize_t(PyObject *number);
PyObject *PyObject_CallObject(PyObject *callable, PyObject *arguments);
PyObject *PyLong_FromLong(long value);
void Py_DecRef(PyObject *object);
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
                                  {"thread", thread, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct module definition = {.base.refcount = 1,
                                   .name = "victim_ext",
                                   .size = -1,
                                   .methods = methods};

__attribute__((visibility("default"))) PyObject *PyInit_victim_ext(void);
PyObject *PyInit_victim_ext(void)
{
    return PyModule_Create2(&definition, API_VERSION);
}
