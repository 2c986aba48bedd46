// SPDX-License-Identifier: Apache-2.0
//
// A library for the tests of names: a template, a call that is inlined, a function that
// only full symbol tables know. Its chain, innermost first, from where it calls back:
// demo::Box<int>::fill (inlined), hidden_step, demo::enter.
typedef void callback(void *);

namespace demo {
template <typename T> struct Box {
    T value;
    __attribute__((always_inline)) inline void fill(callback *f, void *arg)
    {
        f(arg);
        value = T();
        __asm__ volatile("" : : "r"(&value) : "memory");
    }
};

__attribute__((noinline)) static void hidden_step(callback *f, void *arg)
{
    Box<int> box;
    box.fill(f, arg);
    __asm__ volatile("" ::: "memory");
}

__attribute__((visibility("default"), noinline)) void enter(callback *f, void *arg);
void enter(callback *f, void *arg)
{
    hidden_step(f, arg);
    __asm__ volatile("" ::: "memory");
}
} // namespace demo
