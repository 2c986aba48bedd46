/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes the data elements of a page of `vramscope view`, for tests. Failures end the test. */
#ifndef VS_PAGE_DECODE_H
#define VS_PAGE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/* vs_page_element: the text between the tags of the element *id*, malloc'ed; NULL when *html* has
 * none. */
char *vs_page_element(const char *html, const char *id);

/* vs_page_decoded: the values of a column of a section, malloc'ed; *count*: how many. */
uint64_t *vs_page_decoded(const char *html, struct json_object *head, const char *section,
                          const char *column, size_t *count);

#endif
