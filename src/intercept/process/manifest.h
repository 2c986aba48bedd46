/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to `vramscope run`: lines in its manifest. */
#ifndef VS_MANIFEST_H
#define VS_MANIFEST_H

/* vs_manifest_append: appends *mark* ('!', '?' or 0 for none) and *text* as one line to the file
 * *manifest*; NULL or empty: there is no manifest. A newline in *text* becomes a NUL, which a path
 * cannot contain. Signal-safe. */
void vs_manifest_append(const char *manifest, char mark, const char *text);

#endif
