/* SPDX-License-Identifier: Apache-2.0
 *
 * A long list: only the rows on the screen are elements, so that a million scroll. Browsers limit the height of an
 * element: of a longer list the scroll bar is to scale, and the wheel and keys move by rows. Up, Down, Page Up, Page
 * Down, Home and End move, Enter picks. */
import {fill, make} from '../dom.js';

const LIST_HEIGHT_MOST = 4e6; // pixels

/** @param {Element} body the element that scrolls @param {number} high pixels of a row
 * @param {{count: function(): number, make: function(number, boolean, number, number): HTMLElement, pick: function(number): void}}
 *   rows make(row, active, first, last): first and last: the rows on the screen
 * @returns {{draw: function(): void, activate: function(number): void, first: function(): number}}
 *   activate: makes a row the active one, and visible */
export function createRowList(body, high, {count, make: makeRow, pick}) {
    const space = body.appendChild(make('div.grid-space', {role: 'presentation'}));
    let first = 0; // at the top of the screen
    let active = 0;
    let written = 0; // the scroll position that the rows were drawn for
    const shown = () => Math.max(1, Math.floor(body.clientHeight / high));
    const limit = () => Math.max(0, count() - shown());
    const setHeight = () => (space.style.height = `${Math.min(count() * high, LIST_HEIGHT_MOST)}px`);

    function draw() {
        setHeight();
        first = Math.max(0, Math.min(first, limit()));
        active = Math.min(active, Math.max(0, count() - 1));
        written = body.scrollTop;
        const last = Math.min(count(), first + shown() + 1) - 1;
        fill(space, Array.from({length: last + 1 - first}, (_, i) => {
            const line = makeRow(first + i, first + i === active, first, last);
            line.style.top = `${written + i * high}px`;
            line.addEventListener('click', () => {
                active = first + i;
                draw();
                pick(active);
            });
            return line;
        }));
    }
    function moveTo(row) {
        first = Math.max(0, Math.min(limit(), Math.round(row)));
        setHeight();
        body.scrollTop = limit() ? first / limit() * (body.scrollHeight - body.clientHeight) : 0;
        draw();
    }
    function activate(row) {
        active = Math.max(0, Math.min(count() - 1, row));
        if (active < first || active >= first + shown())
            moveTo(active - shown() / 2);
        else
            draw();
    }
    body.addEventListener('scroll', () => {
        if (Math.abs(body.scrollTop - written) < 1)
            return;
        first = Math.round(limit() * body.scrollTop / Math.max(1, body.scrollHeight - body.clientHeight));
        draw();
    }, {passive: true});
    body.addEventListener('wheel', (event) => {
        if (event.ctrlKey || count() * high <= LIST_HEIGHT_MOST)
            return;
        moveTo(first + Math.sign(event.deltaY) * Math.max(1, Math.abs(event.deltaY) / high));
        event.preventDefault();
    });
    body.addEventListener('keydown', (event) => {
        const page = Math.max(1, shown() - 1);
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[event.key];
        if (event.key === 'Enter')
            pick(active);
        else if (step)
            activate(active + step);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    });
    new ResizeObserver(draw).observe(body);
    return {draw, activate, first: () => first};
}
