/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions and the memory they hold: a tree of call stacks with bytes and blocks, from the root
 * down or, inverted, from the allocating function up. Made for one set of blocks; drawn by flame.js. */

const UNKNOWN_STACK = '(no stack recorded)';
const STACK_MOST = 512;
const THROUGH = /(\[(?:([^[\]:]+): )?(\w*)[^[\]]*\])$/; // "main (a.py:12) [transformers: T5Stack.forward]", "main (a.py:12) [torch.add]"

function tableOf(head) {
    const {stacks, frames, files, libraries} = head;
    return {
        parent: (row) => stacks[row - 1][0],
        isUser: (row) => stacks[row - 1][4] !== 0,
        key: (row) => `${stacks[row - 1][1]} ${stacks[row - 1][2]} ${stacks[row - 1][3]}`,
        frame(row) {
            const [, frame, file, line, user, library] = stacks[row - 1];
            return {name: frames[frame], file: file ? files[file - 1] : '', line, library: library ? libraries[library - 1] : user ? '' : 'unknown'};
        },
    };
}

function newFrame({name, file, line, library}, parent) {
    return {name, file, line, library, parent, depth: parent ? parent.depth + 1 : 0, bytes: 0, blocks: 0, keys: new Map(),
        children: [], sites: []};
}

function childOf(node, key, frame) {
    let child = node.keys.get(key);
    if (!child) {
        child = newFrame(frame, node);
        node.keys.set(key, child);
        node.children.push(child);
    }
    return child;
}

/** Bytes and blocks of each call site among *rows* of the blocks.
 * @returns {Map<number, {bytes: number, blocks: number}>} */
export function sumBySite(blocks, rows) {
    const sums = new Map();
    for (const row of rows) {
        const site = blocks.site[row];
        const sum = sums.get(site);
        if (sum) {
            sum.bytes += blocks.bytes[row];
            sum.blocks++;
        } else {
            sums.set(site, {bytes: blocks.bytes[row], blocks: 1});
        }
    }
    return sums;
}

/** Whether any function belongs to a library, so that leaving those out makes a difference. */
export function hasLibraries(head) {
    return head.stacks.some((row) => row[4] === 0);
}

/** The frames of a call site, outermost first: {key, name, file, line, library}; library: '' of the user's code,
 * null of no function. Without *libraries* those of
 * the user's code, and the library's function that it called as the label has it. */
function pathTo(head, table, site, libraries) {
    const {stack = 0, label = UNKNOWN_STACK} = head.sites[site] || {};
    const path = [];
    for (let row = stack; row > 0 && path.length < STACK_MOST; row = table.parent(row)) {
        if (libraries || table.isUser(row))
            path.unshift({key: table.key(row), ...table.frame(row)});
    }
    const through = !libraries && path.length && THROUGH.exec(label);
    if (through)
        path.push({key: through[1], name: through[1], file: '', line: 0, library: through[2] || through[3].replace(/^(nn|Tensor)$/, 'torch')});
    return path.length ? path : [{key: label, name: label, file: '', line: 0, library: null}];
}

/** The tree; children are ordered by bytes, so that a path of row numbers names a function.
 * @param {Object} head @param {Map<number, {bytes, blocks}>} sums by call site
 * @param {{inverted: boolean, libraries: boolean}} options @returns {Object} the root */
export function buildFrames(head, sums, {inverted, libraries}) {
    const table = tableOf(head);
    const root = newFrame({name: 'all', file: '', line: 0, library: ''}, null);
    for (const [site, sum] of sums) {
        const path = pathTo(head, table, site, libraries);
        if (inverted)
            path.reverse();
        let node = root;
        root.bytes += sum.bytes;
        root.blocks += sum.blocks;
        for (const frame of path) {
            node = childOf(node, frame.key, frame);
            node.bytes += sum.bytes;
            node.blocks += sum.blocks;
        }
        node.sites.push(site);
    }
    orderFrames(root);
    return root;
}

const fileBase = (file) => file.slice(file.lastIndexOf('/') + 1);

/** The tree of two traces as `vramscope diff --flamegraph` draws it: a function is one in both if its name and the
 * name of its file are, whatever the line; *pair* has its bytes in each, *bytes* the larger of both of each stack.
 * @param {{head: Object, sums: Map<number, {bytes: number}>}[]} sides @param {{was: string, is: string}[]} renamed
 * functions of the first by their names in the second @param {{inverted, libraries}} options */
export function buildDifference(sides, renamed, {inverted, libraries}) {
    const root = {...newFrame({name: 'all', file: '', line: 0, library: ''}, null), pair: [0, 0]};
    const textOf = ({name, file}) => (file ? `${name} (${fileBase(file)})` : name);
    const known = sides.map(({head}) => new Set(head.stacks.map(([, frame, file]) =>
        textOf({name: head.frames[frame], file: file ? head.files[file - 1] : ''}))));
    const before = new Map(renamed.filter(({was, is}) => known[0].has(was) && !known[1].has(was) && !known[0].has(is))
        .map(({was, is}) => [is, was]));
    sides.forEach(({head, sums}, side) => {
        const table = tableOf(head);
        for (const [site, {bytes}] of sums) {
            const path = pathTo(head, table, site, libraries);
            if (inverted)
                path.reverse();
            let node = root;
            for (const frame of path) {
                const text = textOf(frame);
                const was = side ? before.get(text) : null;
                node = childOf(node, was || text, {...frame, line: 0});
                node.pair = node.pair || [0, 0];
                if (was)
                    Object.assign(node, {name: `${was} -> ${text}`, file: ''});
            }
            node.pair[side] += bytes;
            node.sites.push(site);
        }
    });
    sumPairs(root);
    orderFrames(root);
    return root;
}

/** Until now *pair* has what each stack holds itself. */
function sumPairs(node) {
    node.bytes = Math.max(...node.pair);
    for (const child of node.children) {
        sumPairs(child);
        node.bytes += child.bytes;
        node.pair = node.pair.map((bytes, side) => bytes + child.pair[side]);
    }
}

function orderFrames(root) {
    const pending = [root];
    while (pending.length) {
        const node = pending.pop();
        node.keys = null;
        node.children.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
        node.children.forEach((child, i) => {
            child.index = i;
            pending.push(child);
        });
    }
}

/** "0.2.1": the row numbers from the root. @param {Object} node @returns {string} */
export function pathOf(node) {
    const path = [];
    for (; node.parent; node = node.parent)
        path.unshift(node.index);
    return path.join('.');
}

/** The function of a path, or the root. */
export function frameAt(root, path) {
    let node = root;
    for (const index of path ? path.split('.') : []) {
        if (!node.children[index])
            return root;
        node = node.children[index];
    }
    return node;
}

/** "forward (model.py:12)". */
export function frameLabel(node) {
    const base = fileBase(node.file);
    return base ? `${node.name} (${base}${node.line ? `:${node.line}` : ''})` : node.name;
}

/** What of a tree contains *text*: the frames, and the bytes and blocks below the outermost ones.
 * @returns {{found: Set<Object>, bytes: number, blocks: number}} */
export function searchFrames(root, text) {
    const wanted = text.toLowerCase();
    const found = new Set();
    let bytes = 0;
    let blocks = 0;
    const pending = [[root, false]];
    while (pending.length) {
        const [node, inside] = pending.pop();
        const hit = node !== root && `${node.name} ${node.file}:${node.line}`.toLowerCase().includes(wanted);
        if (hit)
            found.add(node);
        if (hit && !inside) {
            bytes += node.bytes;
            blocks += node.blocks;
        }
        for (const child of node.children)
            pending.push([child, inside || hit]);
    }
    return {found, bytes, blocks};
}
