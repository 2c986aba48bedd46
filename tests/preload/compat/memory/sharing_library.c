/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for libucp: that it is loaded is all that matters. */
int sharing_library_is_here(void);
int sharing_library_is_here(void)
{
    return 1;
}
