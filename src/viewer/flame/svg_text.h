/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from a trace inside an SVG file: they may be anything, and must be neither markup nor
 * invalid XML. No state. */
#ifndef VS_SVG_TEXT_H
#define VS_SVG_TEXT_H

#include <stdio.h>

#include "base/vs_err.h"

#define VS_SVG_NAME_MAX 1024 /* longer names are cut in a graph */

/* vs_svg_text: at most *characters* of *text* as XML text, with "…" if it is longer. */
void vs_svg_text(FILE *out, const char *text, size_t characters);

/* vs_svg_json: *text* as a JSON string without characters that have a meaning in XML, cut after
 * VS_SVG_NAME_MAX bytes. */
void vs_svg_json(FILE *out, const char *text);

#endif
