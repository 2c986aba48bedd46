/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of source files that the page has, links to them in an editor, and the bytes that each line
 * is responsible for. */
import {stackOf} from './describe.js';
import {sumBySite} from './panels/frames.js';

/** @param {Object|null} table the section
 * @returns {Map<number, {path: string, changed: boolean, lines: Map<number, string>}>} by index in head.files */
export function readSources(table) {
    const files = table && table.json.length ? JSON.parse(new TextDecoder().decode(table.json)) : [];
    return new Map(files.map(({file, path, changed, spans}) => [file, {path, changed,
        lines: new Map(spans.flatMap(([first, text]) => text.split('\n').map((line, i) => [first + i, line])))}]));
}

/** The address that opens a line in the editor; '' where there is none.
 * @param {string} editor a template with {path} and {line} */
export function editorLink(editor, path, line) {
    if (!editor || !path.startsWith('/') || !/^(?!javascript:|vbscript:|data:)[a-z][a-z0-9+.-]*:/.test(editor))
        return '';
    return editor.replace('{path}', () => path.split('/').map(encodeURIComponent).join('/')).replace('{line}', () => String(line));
}

/** Bytes of *rows* of the blocks that were allocated through each line of the user's code.
 * @returns {function(number, number): number} of the index + 1 of a file, and a line */
export function heatOf(trace, rows) {
    const heat = new Map();
    for (const [site, {bytes}] of sumBySite(trace.loaded.blocks, rows)) {
        const lines = new Set(stackOf(trace, site).filter((frame) => frame.user).map(({fileRow, line}) => `${fileRow}:${line}`));
        for (const key of lines)
            heat.set(key, (heat.get(key) || 0) + bytes);
    }
    return (fileRow, line) => heat.get(`${fileRow}:${line}`) || 0;
}
