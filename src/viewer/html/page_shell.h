/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML page around its data, as strings that cmake/bundle_page.py writes from
 * src/viewer/html/web. A page is vs_page_open (or vs_page_open_served, whose policy allows
 * requests to the server of the page), vs_page_before, the elements with the data, vs_page_after.
 * The strings are UTF-8; their sizes do not count the terminating zero. */
#ifndef VS_PAGE_SHELL_H
#define VS_PAGE_SHELL_H

#include <stddef.h>

extern const char vs_page_open[], vs_page_open_served[], vs_page_before[], vs_page_after[];
extern const size_t vs_page_open_size, vs_page_open_served_size, vs_page_before_size,
    vs_page_after_size;

#endif
