/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of keys, in a dialog. */
import {button, make} from '../dom.js';

const KEYS = [
    ['Everywhere', [
        ['1 … 8', 'the views, in the order of their tabs'], ['/', 'search'], ['?', 'this list'],
        ['t', 'light, dark or the theme of the system'], ['Escape', 'close what is on top: dialog, menu, box, panel; zoom out'],
    ]],
    ['Views over time', [
        ['← →', 'pan'], ['+ −', 'zoom'], ['0', 'the whole trace'], ['s', 'fit the steps'], ['Home End', 'to its start, to its end'], ['[ ]', 'to the step before or after'],
        ['Shift ← →', 'move the cursor'], ['wheel, pinch', 'zoom at the pointer'], ['drag', 'pan'],
        ['click', 'set the cursor, select the allocation'], ['double click, z', 'fit the allocation'],
        ['wheel on the axis, Alt wheel, Shift ↑ ↓', 'zoom bytes or addresses'], ['↑ ↓', 'pan them'],
        ['. ,', 'the next allocation at the cursor'], ['Shift drag', 'choose a span: what was allocated in it'],
    ]],
    ['Blocks', [
        ['/', 'find blocks: site, kind, phase, >100M, 4k..64k, 0x7f…'], ['Enter n', 'the next one found, with Shift the one before'],
    ]],
    ['Flame graph', [
        ['arrows', 'move between functions'], ['Enter', 'zoom in'], ['Escape', 'zoom out'],
    ]],
    ['Table, events', [
        ['↑ ↓ Page Home End', 'move between rows'], ['Enter', 'select: all that is known about the row'],
    ]],
];

/** A dialog with the keys; call showModal() on it. @returns {HTMLDialogElement} */
export function makeHelp() {
    const dialog = make('dialog.help', {'aria-labelledby': 'help-title'});
    dialog.append(make('div.detail-head', {}, make('h2', {id: 'help-title'}, 'Keys'),
        button('Close', () => dialog.close(), {class: 'quiet'})),
    make('div.help-groups', {}, KEYS.map(([title, rows]) => make('section', {}, make('h3', {}, title),
        make('dl.keys', {}, rows.map(([keys, text]) => [make('dt', {}, make('kbd', {}, keys)), make('dd', {}, text)]))))));
    dialog.addEventListener('click', (event) => {
        if (event.target === dialog)
            dialog.close();
    });
    return dialog;
}
