/* SPDX-License-Identifier: Apache-2.0
 *
 * A library without debug information whose function has a C++ name: only its
 * symbol table can name it. demo::call(void (*)(void*), void*) */
typedef void callback(void *);

__attribute__((visibility("default"), noinline)) void plain_call(callback *f, void *arg)
    __asm__("_ZN4demo4callEPFvPvES0_");
void plain_call(callback *f, void *arg)
{
    f(arg);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
