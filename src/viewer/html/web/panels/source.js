/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines around one of the user's, each with the bytes that are live through it. */
import {frameText, stackOf} from '../describe.js';
import {make} from '../dom.js';
import {formatBytes, formatTime} from '../format.js';
import {sumBySite} from './frames.js';
import {blocksInView} from './moment.js';

const LINES_AROUND = 6;
const LINES_AROUND_FEW = 2;
const TAB = '    ';

/** The address that opens a line in the editor; '' where there is none.
 * @param {string} editor a template with {path} and {line} */
function editorLink(editor, path, line) {
    if (!editor || !path.startsWith('/') || !/^(?!javascript:|vbscript:|data:)[a-z][a-z0-9+.-]*:/.test(editor))
        return '';
    return editor.replace('{path}', () => path.split('/').map(encodeURIComponent).join('/')).replace('{line}', () => String(line));
}

/** Bytes of *rows* of the blocks that were allocated through each line of the user's code.
 * @returns {function(number, number): number} of the index + 1 of a file, and a line */
function heatOf(trace, rows) {
    const heat = new Map();
    for (const [site, {bytes}] of sumBySite(trace.loaded.blocks, rows)) {
        const lines = new Set(stackOf(trace, site).filter((frame) => frame.user).map(({fileRow, line}) => `${fileRow}:${line}`));
        for (const key of lines)
            heat.set(key, (heat.get(key) || 0) + bytes);
    }
    return (fileRow, line) => heat.get(`${fileRow}:${line}`) || 0;
}

/** A link that opens the line in the editor, or its name. */
function placeLink(trace, sources, frame, text) {
    const source = sources.get(frame.fileRow - 1);
    const address = frame.line && editorLink(trace.head.editor, source ? source.path : frame.file, frame.line);
    return address ? make('a', {href: address, title: `Open ${frame.file}:${frame.line} in the editor`}, text) : text;
}

export function hasLines(sources, frame) {
    const source = sources.get(frame.fileRow - 1);
    return Boolean(source && source.lines.has(frame.line));
}

/** The frame of a call site whose lines are shown first: its label begins behind functions that all allocations
 * go through. Undefined where the page has no lines of it. */
export function frameToShow(trace, sources, site, frames = stackOf(trace, site)) {
    const own = frames.filter((frame) => frame.user && hasLines(sources, frame));
    const {label = ''} = trace.head.sites[site] || {};
    return own.find((frame) => label.startsWith(frameText(frame))) || own[0];
}

/** Puts the lines of the call site that reads *label* into *element*, at the end of what it has. */
export async function showSource(element, trace, state, label) {
    const [sources] = await Promise.all([trace.sources(), trace.blocks]);
    const frame = frameToShow(trace, sources, trace.head.sites.findIndex((site) => site.line === label || site.label === label));
    element.querySelector('.source')?.remove();
    if (frame)
        element.append(sourceLines(trace, sources, frame, blocksInView(trace, state), LINES_AROUND_FEW));
}

/** @param {{fileRow: number, file: string, line: number}} frame whose file has lines in *sources*
 * @param {Object} now of blocksInView: the bytes of the lines are live then */
export function sourceLines(trace, sources, frame, now, around = LINES_AROUND) {
    const {lines, changed} = sources.get(frame.fileRow - 1);
    const heat = heatOf(trace, now.rows);
    const when = now.span ? 'at the second cursor' : `at ${formatTime(now.at)}`;
    const rows = [];
    for (let n = frame.line - around; n <= frame.line + around; n++) {
        if (lines.has(n))
            rows.push({n, text: lines.get(n).replaceAll('\t', TAB), bytes: heat(frame.fileRow, n)});
    }
    const indent = Math.min(...rows.filter(({text}) => text.trim()).map(({text}) => text.search(/\S/)));
    const most = Math.max(...rows.map(({bytes}) => bytes));
    const base = frame.file.slice(frame.file.lastIndexOf('/') + 1);
    return make('figure.source', {}, make('figcaption', {}, placeLink(trace, sources, frame, `${base}:${frame.line}`),
        changed ? make('p.note', {}, `${trace.head.started_ms ? 'This file changed after the program started' : 'It is not known when the program ran'}` +
            ': these may not be the lines that ran.') : null),
    make('div.source-lines', {tabindex: 0, role: 'group', 'aria-label': `Lines of ${base}, with the bytes live ${when}`}, rows.map(({n, text, bytes}) =>
        make(`div.source-line${n === frame.line ? '.chosen' : ''}`, {},
            make('span.source-heat', {title: bytes ? `${formatBytes(bytes)} live ${when} was allocated through this line` : null},
                make('span.source-bar', {'aria-hidden': 'true', style: {width: `${most ? 100 * bytes / most : 0}%`}}), make('span', {}, bytes ? formatBytes(bytes) : '')),
            make('span.source-number', {}, String(n)), make('code', {}, text.slice(indent))))));
}
