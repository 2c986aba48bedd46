/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the page: waits for the first element of the data, then shows it. */

/** Calls *then* with the text of element *id* as soon as the parser has read all of it. */
function whenRead(id, then) {
    const element = document.getElementById(id);
    if (element && (element.nextElementSibling || document.readyState !== 'loading'))
        then(element.textContent);
    else
        requestAnimationFrame(() => whenRead(id, then));
}

whenRead('head', (text) => {
    const head = JSON.parse(text);
    document.title = `${head.title} - vramscope`;
    document.getElementById('app').textContent = head.title;
});
