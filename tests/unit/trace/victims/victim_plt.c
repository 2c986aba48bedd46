/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that calls another one through a stub. */
void victim_plt_callee(void);
__attribute__((visibility("default"))) void victim_plt_callee(void)
{
    __asm__ volatile("");
}

__attribute__((visibility("default"))) void victim_plt_begin(void);
void victim_plt_begin(void)
{
    victim_plt_callee();
    __asm__ volatile("" ::: "memory");
}
