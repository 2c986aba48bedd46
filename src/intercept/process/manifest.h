/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope run` is told: a line in its manifest. */
#ifndef VS_MANIFEST_H
#define VS_MANIFEST_H

/* vs_manifest_append: *mark* ('!', '?' or 0 for none) and *text* as one line of the file
 * *manifest*, which may be NULL or empty: nobody asked. A newline in *text* becomes a NUL,
 * which a path cannot hold. Signal-safe. */
void vs_manifest_append(const char *manifest, char mark, const char *text);

#endif
