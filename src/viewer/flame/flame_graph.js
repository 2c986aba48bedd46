/* SPDX-License-Identifier: Apache-2.0
 *
 * The script of a flame graph (vramscope export -f flamegraph, vramscope diff --flamegraph): draws the frames that are wide enough
 * at this zoom, from the data in the same file. Names reach the page as text only. */
'use strict';
(() => {
const SVG = 'http://www.w3.org/2000/svg', HTML = 'http://www.w3.org/1999/xhtml';
const ROW = 21, EDGE = 12, NARROWEST = 0.7;
const svg = document.documentElement;
const data = JSON.parse(document.getElementById('data').textContent);

/* nodes are [frame, depth, bytes, blocks] in the order of a walk; frame -1 is the root. Of two runs
   (data.diff: bytes in A and in B of every node) bytes are the larger of both, blocks are 0. */
const DIFF = data.diff, SUMS = DIFF ? ['bytes', 'count', 'a', 'b'] : ['bytes', 'count'];
const whole = [];
for (let i = 0, path = []; i < data.nodes.length; i += 4) {
  const [frame, depth, bytes, count] = data.nodes.slice(i, i + 4);
  const node = {id: whole.length, frame, depth, bytes, count, parent: depth ? path[depth - 1] : null, children: []};
  if (DIFF) [node.a, node.b] = DIFF.slice(i / 2, i / 2 + 2);
  if (node.parent) node.parent.children.push(node);
  path[depth] = node;
  whole.push(node);
}
const isLibrary = (node) => node.frame >= 0 && data.frames[node.frame][1] === 1;

/* The same memory without the frames of libraries, but those that the user's code called. */
function withoutLibraries() {
  const out = [{id: 0, frame: -1, depth: 0, bytes: 0, count: 0, a: 0, b: 0, parent: null, children: []}];
  const add = (parent, frame) => {
    const node = {id: out.length, frame, depth: parent.depth + 1, bytes: 0, count: 0, a: 0, b: 0, parent, children: []};
    parent.children.push(node);
    out.push(node);
    return node;
  };
  const place = new Map([[whole[0], out[0]]]);
  const called = new Set(); /* nodes in a library of which a frame is there already */
  for (const node of whole) {
    if (node.parent) {
      const above = place.get(node.parent);
      const library = isLibrary(node), inside = library && called.has(node.parent);
      const skip = inside || (library && /\+0x[0-9a-f]+$/.test(data.frames[node.frame][0]));
      if (library && (inside || !skip)) called.add(node);
      place.set(node, skip ? above : above.children.find((child) => child.frame === node.frame) || add(above, node.frame));
    }
    const own = (key) => node[key] - node.children.reduce((sum, child) => sum + child[key], 0);
    for (const key of SUMS) {
      const part = own(key);
      for (let at = place.get(node); at; at = at.parent) at[key] += part;
    }
  }
  return out;
}

let nodes = whole, root = whole[0];
const state = {zoom: root, by: data.by, search: '', focus: root};
const value = (node) => (state.by === 'count' ? node.count : node.bytes);
const nameOf = (node) => (node.frame < 0 ? 'all' : data.frames[node.frame][0]);

function make(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(element);
  return element;
}

function sizeText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0, size = bytes;
  while (size >= 1024 && unit < 4) { size /= 1024; unit += 1; }
  return unit ? `${size.toFixed(1)} ${units[unit]}` : `${size} B`;
}
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
const blocksText = (count) => `${grouped(count)} ${count === 1 ? 'block' : 'blocks'}`;
function shareText(node) {
  const whole = value(root);
  return whole ? `${(100 * value(node) / whole).toFixed(value(node) * 1000 < whole ? 3 : 1)} %` : '';
}
function changeText(node) {
  const change = node.b - node.a;
  const share = node.a && change ? `, ${change > 0 ? '+' : ''}${(100 * change / node.a).toFixed(1)} %` : '';
  return `${change < 0 ? '-' : '+'}${sizeText(Math.abs(change))}${share}`;
}
/* red has grown, blue has shrunk, the more of the frame's memory the stronger */
function changeColor(node) {
  const most = Math.max(node.a, node.b), change = node.b - node.a;
  const step = most && change ? Math.min(data.shades, Math.ceil(data.shades * Math.abs(change) / most)) : 0;
  return data.colors[change < 0 ? data.shades + step : step];
}
const summary = (node) => (DIFF ? `${sizeText(node.a)} in A, ${sizeText(node.b)} in B, ${changeText(node)}`
  : sumsText(node));
const sumsText = (node) => `${sizeText(node.bytes)} in ${blocksText(node.count)}, ${shareText(node)} of ${state.by === 'count' ? 'blocks' : 'bytes'}`;

function matches(node) {
  return state.search !== '' && node.frame >= 0 && nameOf(node).toLowerCase().includes(state.search);
}

/* the sum over the outermost frames that match */
function matched(value) {
  let sum = 0, below = -1;
  for (const node of nodes) {
    if (below >= 0 && node.depth > below) continue;
    below = -1;
    if (matches(node)) { sum += value(node); below = node.depth; }
  }
  return sum;
}

/* --- the controls, as HTML in the SVG --- */
const holder = make('foreignObject', {x: EDGE, y: 56, width: 100, height: 30}, svg);
const bar = document.createElementNS(HTML, 'div');
bar.setAttribute('class', 'bar');
holder.appendChild(bar);
function control(name, attributes, text, act) {
  const element = document.createElementNS(HTML, name);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (text) element.textContent = text;
  if (act) element.addEventListener('click', act);
  bar.appendChild(element);
  return element;
}
const search = control('input', {type: 'search', placeholder: 'Search functions ( / )', 'aria-label': 'Search functions'});
const reset = control('button', {type: 'button'}, 'Reset zoom', () => zoomTo(root));
const toggle = control('button', {type: 'button', 'aria-label': 'Width by bytes or by number of blocks'}, '', () => {
  state.by = state.by === 'count' ? 'bytes' : 'count';
  draw();
});
const libraries = control('button', {type: 'button'}, 'Hide libraries', () => showLibraries(nodes !== whole));
toggle.hidden = Boolean(DIFF);
libraries.hidden = data.inverted || !whole.some(isLibrary) || !data.frames.some((frame) => frame[1] === 0);
const status = control('span', {'aria-live': 'polite'});
search.addEventListener('input', () => { state.search = search.value.trim().toLowerCase(); draw(); });

/* --- drawing --- */
const stage = document.getElementById('frames');
const legend = document.getElementById('legend');
const tip = make('g', {class: 'tip', visibility: 'hidden'}, svg);
let width = 1200, top = 100;
let drawn = new Map();

/* widths of characters in the frames' font */
const brush = document.createElementNS(HTML, 'canvas').getContext('2d');
brush.font = `11.5px ${window.getComputedStyle(svg).fontFamily}`;
const measured = new Map();
function widthOf(character) {
  if (!measured.has(character)) measured.set(character, brush.measureText(character).width);
  return measured.get(character);
}

function label(text, room) {
  if (room < 24) return '';
  let used = 8, at = 0, fits = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > room) return fits > 1 ? `${text.slice(0, fits)}…` : '';
    at += character.length;
    if (used + widthOf('…') <= room) fits = at;
  }
  return text;
}

function box(node, x, wide, above) {
  const frame = node.frame < 0 ? null : data.frames[node.frame];
  const rest = !DIFF && (!frame || frame[1] === 2);
  const group = make('g', {class: `frame${rest ? ' rest' : ''}${above ? ' above' : ''}${matches(node) ? ' match' : ''}`,
    role: 'button', tabindex: node === state.focus ? 0 : -1,
    'aria-label': `${nameOf(node)}, ${summary(node)}`}, stage);
  const rect = make('rect', {x: x.toFixed(2), y: top + node.depth * ROW, width: Math.max(wide, 0.5).toFixed(2), height: ROW - 1, rx: wide > 8 ? 2 : 0}, group);
  if (DIFF) rect.setAttribute('fill', changeColor(node));
  else if (frame && !rest) rect.setAttribute('fill', data.colors[frame[4]]);
  const text = label(nameOf(node), wide);
  if (text) make('text', {x: (x + 4).toFixed(2), y: top + node.depth * ROW + 14.5}, group).textContent = text;
  group.addEventListener('click', () => { state.focus = node; zoomTo(node); });
  group.addEventListener('mousemove', (event) => showTip(node, event.clientX, event.clientY));
  group.addEventListener('mouseleave', hideTip);
  group.addEventListener('focus', () => {
    state.focus = node;
    const place = rect.getBoundingClientRect();
    if (group.matches(':focus-visible')) showTip(node, place.left + 20, place.bottom);
  });
  group.addEventListener('blur', hideTip);
  drawn.set(node, group);
}

/* Draws *node* and what is called from it; returns the greatest depth and the number left out. */
function place(first, x, wide) {
  let deepest = first.depth, hidden = 0;
  const pending = [[first, x, wide]];
  while (pending.length) {
    const [node, from, room] = pending.pop();
    box(node, from, room, false);
    deepest = Math.max(deepest, node.depth);
    let at = from;
    for (const child of [...node.children].sort((a, b) => value(b) - value(a))) {
      const part = value(node) ? room * value(child) / value(node) : 0;
      if (part >= NARROWEST) pending.push([child, at, part]);
      else hidden += 1;
      at += part;
    }
  }
  return {deepest, hidden};
}

function draw() {
  const focused = stage.contains(document.activeElement);
  hideTip();
  width = Math.max(320, window.innerWidth || 1200);
  holder.setAttribute('width', width - 2 * EDGE);
  holder.setAttribute('height', 200);
  reset.disabled = state.zoom === root;
  toggle.textContent = state.by === 'count' ? 'Show bytes' : 'Show blocks';
  const sum = matched(value);
  status.textContent = state.search === '' ? ''
    : DIFF ? `${sizeText(matched((node) => node.a))} in A, ${sizeText(matched((node) => node.b))} in B matched`
    : `${state.by === 'count' ? blocksText(sum) : sizeText(sum)} matched, ${(value(root) ? 100 * sum / value(root) : 0).toFixed(1)} %`;
  const high = bar.getBoundingClientRect().height || 28;
  holder.setAttribute('height', high + 6);
  legend.setAttribute('transform', `translate(0 ${56 + high - 62})`);
  top = 56 + high + 32;
  stage.textContent = '';
  drawn = new Map();
  for (let node = state.zoom.parent; node; node = node.parent) box(node, EDGE, width - 2 * EDGE, true);
  const {deepest, hidden} = place(state.zoom, EDGE, width - 2 * EDGE);
  const height = top + (deepest + 1) * ROW + 34;
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const title = document.querySelector('.title');
  title.style.fontSize = '';
  const long = title.getComputedTextLength();
  if (long > width - 2 * EDGE) title.style.fontSize = `${Math.max(9, Math.floor(17 * (width - 2 * EDGE) / long))}px`;
  const foot = document.getElementById('foot');
  foot.setAttribute('y', height - 14);
  foot.textContent = hidden ? `${grouped(hidden)} narrower frames are not drawn: zoom in to see them.` : '';
  svg.appendChild(tip);
  if (focused && drawn.has(state.focus)) drawn.get(state.focus).focus();
  remember();
}

function showLibraries(shown) {
  nodes = shown ? whole : withoutLibraries();
  root = nodes[0];
  libraries.textContent = shown ? 'Hide libraries' : 'Show libraries';
  zoomTo(root);
}

function zoomTo(node) {
  state.zoom = node;
  state.focus = node;
  draw();
}

/* --- details --- */
function wrap(text, most) {
  const lines = [];
  for (let at = 0; at < text.length && lines.length < 8; at += most) lines.push(text.slice(at, at + most));
  if (text.length > 8 * most) lines[7] = `${lines[7].slice(0, -1)}…`;
  return lines;
}

function sumLines(node) {
  if (!DIFF) {
    return [[`${sizeText(node.bytes)} (${grouped(node.bytes)} B) in ${blocksText(node.count)}`, ''],
      [`${shareText(node)} of ${state.by === 'count' ? 'blocks' : 'bytes'}`, 'dim']];
  }
  return [[`A: ${sizeText(node.a)} (${grouped(node.a)} B)`, ''], [`B: ${sizeText(node.b)} (${grouped(node.b)} B)`, ''],
    [node.a === node.b ? 'equal' : changeText(node), node.a === node.b ? 'dim' : '']];
}

function showTip(node, clientX, clientY) {
  const most = Math.max(24, Math.min(90, Math.floor((width - 60) / 6.6)));
  const frame = node.frame < 0 ? null : data.frames[node.frame];
  const lines = wrap(nameOf(node), most).map((text) => [text, '']);
  lines.push(...sumLines(node));
  const own = node.bytes - node.children.reduce((sum, child) => sum + child.bytes, 0);
  if (own && node.children.length && !DIFF) lines.push([`${sizeText(own)} allocated by this frame itself`, 'dim']);
  if (frame && frame[2]) lines.push([`library: ${frame[2]}`, 'dim']);
  if (frame && frame[3]) lines.push(...wrap(frame[3], most).map((text) => [text, 'dim']));
  tip.textContent = '';
  const back = make('rect', {rx: 5}, tip);
  let wide = 0;
  lines.forEach(([text, kind], i) => {
    const line = make('text', {x: 10, y: 20 + i * 16, class: kind}, tip);
    line.textContent = text;
    wide = Math.max(wide, line.getComputedTextLength());
  });
  const high = lines.length * 16 + 14;
  back.setAttribute('width', wide + 20);
  back.setAttribute('height', high);
  let x = clientX + window.scrollX + 14, y = clientY + window.scrollY + 16;
  if (x + wide + 24 > width) x = Math.max(4, width - wide - 26);
  if (clientY + 16 + high > window.innerHeight) y = Math.max(window.scrollY + 4, clientY + window.scrollY - high - 10);
  tip.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  tip.setAttribute('visibility', 'visible');
}

function hideTip() { tip.setAttribute('visibility', 'hidden'); }

/* --- keys, and the link to this view --- */
function step(key) {
  const node = state.focus, siblings = node.parent ? [...node.parent.children].sort((a, b) => value(b) - value(a)) : [node];
  const at = siblings.indexOf(node);
  const heavy = [...node.children].sort((a, b) => value(b) - value(a));
  return {ArrowUp: node.parent, ArrowDown: heavy[0], ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1], Home: root}[key];
}

window.addEventListener('keydown', (event) => {
  if (event.target === search) {
    if (event.key === 'Escape') { search.value = ''; state.search = ''; draw(); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') { search.focus(); event.preventDefault(); return; }
  if (event.key === 'Escape') { zoomTo(root); return; }
  if (!stage.contains(event.target)) return;
  if (event.key === 'Enter' || event.key === ' ') { zoomTo(state.focus); event.preventDefault(); return; }
  const next = step(event.key);
  if (!next) return;
  event.preventDefault();
  if (!drawn.has(next)) state.zoom = next;
  state.focus = next;
  draw();
  drawn.get(next).focus();
});

function remember() {
  const parts = nodes === whole ? [] : ['libraries=0'];
  if (state.zoom !== root) parts.push(`zoom=${state.zoom.id}`);
  if (state.by !== data.by) parts.push(`by=${state.by}`);
  if (state.search) parts.push(`search=${encodeURIComponent(state.search)}`);
  try {
    window.history.replaceState(null, '', parts.length ? `#${parts.join('&')}` : '#');
  } catch (error) { /* not allowed here: the view works without a link */ }
}

function recall(link) {
  for (const part of link.split('&')) {
    const [key, text] = part.split('=');
    if (key === 'libraries' && text === '0' && !libraries.hidden) showLibraries(false);
    if (key === 'zoom' && nodes[Number(text)]) state.zoom = state.focus = nodes[Number(text)];
    if (key === 'by' && (text === 'count' || text === 'bytes')) state.by = text;
    if (key === 'search' && text) {
      try { search.value = decodeURIComponent(text); } catch (error) { search.value = text; }
      state.search = search.value.toLowerCase();
    }
  }
}

recall(window.location.hash.slice(1));
draw();
window.addEventListener('resize', draw);
})();
