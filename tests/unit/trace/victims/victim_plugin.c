/* SPDX-License-Identifier: Apache-2.0
 *
 * A library loaded by the stack tests: calls back through a known function. */
typedef void callback(void *);

__attribute__((visibility("default"), noinline)) void plugin_call(callback *f, void *arg);
void plugin_call(callback *f, void *arg)
{
    f(arg);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
