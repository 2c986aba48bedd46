/* SPDX-License-Identifier: Apache-2.0
 *
 * The script of the page of merged traces: the memory of all ranks by step, how uneven they are, and each rank
 * against the median of the step. The table stands without it. The fragment names the rank that is chosen. */
'use strict';
(() => {
const body = document.querySelector('tbody');
const {first, width, columns} = Object.fromEntries(Object.entries(body.dataset).map(([key, text]) => [key, Number(text)]));
/* width: steps of a column */
const LEFT = 76, RIGHT = 12, NAMES_LEAST = 12, ROW_MOST = 16, MAP_MOST = 520;
const $ = (id) => document.getElementById(id);

/* the highest value of each column, NaN where the rank has no step; an empty one is that before it */
const ranks = [...body.rows].map(({dataset, cells}) => {
  let last = '';
  return {...dataset, name: cells[0].textContent, peak: Number(cells[1].dataset.v), end: cells[5].textContent,
    values: dataset.values.split(',').map((text) => parseInt(last = text || last, 16) || NaN)};
});
const middle = [], high = [];
for (let c = 0; c < columns; c++) {
  const sorted = ranks.map((rank) => rank.values[c]).filter((value) => value).sort((a, b) => a - b);
  middle.push(sorted[sorted.length >> 1]);
  high.push(sorted[sorted.length - 1]);
}
const top = Math.max(...high.filter(Boolean), 1);
const uneven = high.map((value, c) => value / middle[c] - 1);
let worst = 0;
uneven.forEach((part, c) => (worst = part > (uneven[worst] || 0) ? c : worst));

function sizeText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0, size = bytes;
  while (size >= 1023.95 && unit < 4) { size /= 1024; unit++; }
  return `${size.toFixed(unit ? (unit < 3 ? 1 : 2) : 0)} ${units[unit]}`;
}
const stepsText = (c) => (width === 1 ? `step ${first + c}` : `steps ${first + c * width} to ${first + (c + 1) * width - 1}`);
const rankText = (rank, c) => `${rank.name}, ${stepsText(c)}: ${sizeText(rank.values[c])}, ` +
  `${(rank.values[c] / middle[c]).toFixed(2)} times the median`;

let chosen = -1, pointed = null; /* pointed: {rank, c} */
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Paints the canvas of a chart as wide as the page: what under(context, width, height) draws, which is kept until the
   size or the theme changes, and over it what over() draws. */
function paint(chart) {
  const canvas = $(chart.id), {height} = chart, box = canvas.parentElement.clientWidth, scale = devicePixelRatio || 1;
  if (!box)
    return; /* not laid out yet: a resize follows */
  const begin = (target) => {
    target.width = box * scale;
    target.height = height * scale;
    const context = target.getContext('2d');
    context.scale(scale, scale);
    context.font = '11px system-ui, sans-serif';
    return context;
  };
  if (!chart.kept) {
    chart.kept = document.createElement('canvas');
    chart.under(begin(chart.kept), box, height);
  }
  const context = begin(canvas);
  canvas.style.height = `${height}px`;
  context.drawImage(chart.kept, 0, 0, box, height);
  chart.over?.(context, box, height);
}
const xOf = (c, box) => LEFT + (box - LEFT - RIGHT) * c / columns;
function line(context, values, x, y) {
  context.beginPath();
  let open = false;
  values.forEach((value, c) => {
    if (!(value >= 0)) { open = false; return; }
    context[open ? 'lineTo' : 'moveTo'](x(c), y(value));
    context.lineTo(x(c + 1), y(value));
    open = true;
  });
  context.stroke();
}
function axis(context, box, y, marks, text) {
  context.textAlign = 'right';
  for (const value of marks) {
    context.fillStyle = color('--line');
    context.fillRect(LEFT, Math.round(y(value)), box - LEFT - RIGHT, 1);
    context.fillStyle = color('--muted');
    context.fillText(text(value), LEFT - 6, y(value) + 4);
  }
}
const yOf = (value) => 280 - 22 - (280 - 34) * value / top;
const curves = {id: 'curves', height: 280,
  under(context, box, height) {
    const x = (c) => xOf(c, box);
    axis(context, box, yOf, [0, 0.25, 0.5, 0.75, 1].map((part) => part * top), sizeText);
    context.textAlign = 'left';
    context.fillText(`step ${first}`, LEFT, height - 6);
    context.textAlign = 'right';
    context.fillText(`${first + columns * width - 1}`, box - RIGHT, height - 6);
    context.lineWidth = 1;
    context.globalAlpha = Math.max(0.04, Math.min(0.6, 12 / ranks.length));
    context.strokeStyle = color('--usual');
    for (const rank of ranks)
      line(context, rank.values, x, yOf);
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.strokeStyle = color('--ink');
    line(context, middle, x, yOf);
  },
  over(context, box) {
    const x = (c) => xOf(c, box);
    const strong = (rank, stroke, more) => {
      context.strokeStyle = context.fillStyle = stroke;
      context.lineWidth = 2;
      line(context, rank.values, x, yOf);
      const c = rank.values.findLastIndex((value) => value);
      if (c < 0)
        return;
      context.textAlign = x(c) > box / 2 ? 'right' : 'left';
      context.fillText(`${rank.name}${more}`, x(c + 1) - 4, Math.max(10, yOf(rank.values[c]) - 5));
      if (rank.failed)
        context.fillText('✕', x(c + 1) + 4, yOf(rank.values[c]) + 4);
    };
    ranks.forEach((rank, i) => {
      const accent = i === chosen || (pointed && i === pointed.rank);
      const why = [rank.outlier && 'differs from the others', rank.failed === 'first' && 'out of memory first'].filter(Boolean).join(', ');
      if (accent || why)
        strong(rank, color(accent ? '--accent' : rank.failed === 'first' ? '--bad' : '--odd'), why && box > 600 ? `: ${why}` : '');
    });
  }};
const unevenness = {id: 'uneven', height: 64,
  under(context, box, height) {
    const most = Math.max(uneven[worst] || 0, 0.01), y = (part) => height - 6 - (height - 18) * part / most;
    axis(context, box, y, [0, most], (part) => `${part ? '+' : ''}${Math.round(100 * part)} %`);
    context.strokeStyle = color('--odd');
    context.lineWidth = 1.5;
    line(context, uneven, (c) => xOf(c, box), y);
  }};
/* Ranks by steps, coloured by how far from the median of the step; of several in a pixel the furthest. */
const mapRow = Math.max(1, Math.min(ROW_MOST, MAP_MOST / ranks.length));
const map = {id: 'map', height: Math.min(MAP_MOST, Math.ceil(ranks.length * mapRow)),
  under(context, box, height) {
    const most = Math.max(0.1, ...ranks.map((rank) => Math.max(...rank.values.map((value, c) =>
      Math.abs(value / middle[c] - 1) || 0))));
    const rows = Math.min(ranks.length, height), tall = height / rows, above = color('--odd'), below = color('--below');
    for (let row = 0; row < rows; row++) {
      const inside = ranks.slice(Math.floor(row * ranks.length / rows), Math.ceil((row + 1) * ranks.length / rows));
      for (let c = 0; c < columns; c++) {
        let far = NaN;
        for (const {values} of inside) {
          const part = values[c] / middle[c] - 1;
          far = Math.abs(part) > Math.abs(far) || Number.isNaN(far) ? part : far;
        }
        if (Number.isNaN(far))
          continue;
        context.globalAlpha = Math.abs(far) < 0.005 ? 0.05 : 0.1 + 0.9 * Math.sqrt(Math.abs(far) / most);
        context.fillStyle = far > 0 ? above : below;
        context.fillRect(xOf(c, box), row * tall, Math.max(1, xOf(c + 1, box) - xOf(c, box)), Math.max(1, tall - (tall > 4 ? 1 : 0)));
      }
    }
  },
  over(context, box, height) {
    context.textAlign = 'right';
    ranks.forEach((rank, i) => {
      const y = (i + 0.5) * height / ranks.length;
      if (mapRow < NAMES_LEAST && i !== chosen && !rank.outlier && rank.failed !== 'first')
        return;
      context.fillStyle = color(i === chosen ? '--accent' : rank.outlier || rank.failed === 'first' ? '--odd' : '--muted');
      context.fillText(rank.name.slice(0, 13), LEFT - 6, Math.min(height - 2, Math.max(9, y + 4)));
    });
    if (chosen >= 0) {
      context.strokeStyle = color('--accent');
      context.lineWidth = 2;
      context.strokeRect(LEFT, chosen * height / ranks.length, box - LEFT - RIGHT, Math.max(2, height / ranks.length));
    }
  }};
const charts = [curves, unevenness, map];
function say() {
  const {rank, c} = pointed || {rank: chosen, c: -1};
  $('said').textContent = rank >= 0 && c >= 0 ? rankText(ranks[rank], c) : rank >= 0
    ? `${ranks[rank].name}: peak ${sizeText(ranks[rank].peak)}, ${ranks[rank].end}. vramscope view ${ranks[rank].path}`
    : `Most uneven in ${stepsText(worst)}: ${ranks.find(({values}) => values[worst] === high[worst]).name} has ` +
      `${(1 + (uneven[worst] || 0)).toFixed(2)} times the median.`;
}
function draw() {
  for (const row of document.querySelectorAll('tr[data-rank]'))
    row.toggleAttribute('aria-current', Number(row.dataset.rank) === chosen);
  charts.forEach(paint);
  say();
}
const choose = (rank) => (location.hash = rank === chosen || rank < 0 ? '' : `rank=${rank}`);
function read() {
  const match = /^#rank=(\d+)$/.exec(location.hash);
  chosen = match && ranks[match[1]] ? Number(match[1]) : -1;
  draw();
}

/* --- pointer and keys --- */
function columnAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return Math.floor((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * columns);
}
function nearest(event) {
  const c = columnAt($('curves'), event), box = $('curves').getBoundingClientRect();
  const value = (box.height - 22 - (event.clientY - box.top)) / (box.height - 34) * top;
  const far = ranks.map(({values}) => (values[c] ? Math.abs(values[c] - value) : Infinity)), least = Math.min(...far);
  return least < Infinity ? {rank: far.indexOf(least), c} : null;
}
function inMap(event) {
  const c = columnAt($('map'), event), y = event.clientY - $('map').getBoundingClientRect().top;
  const rank = Math.min(ranks.length - 1, Math.max(0, Math.floor(y / map.height * ranks.length)));
  return ranks[rank].values[c] ? {rank, c} : null;
}
function point(found) {
  pointed = found;
  paint(curves);
  say();
}
for (const [id, find] of [['curves', nearest], ['map', inMap]]) {
  $(id).addEventListener('pointermove', (event) => point(find(event)));
  $(id).addEventListener('pointerleave', () => point(null));
  $(id).addEventListener('click', (event) => choose(find(event)?.rank ?? -1));
}
document.addEventListener('keydown', (event) => {
  const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (event.key === 'Escape')
    choose(-1);
  else if (by && event.target === $('map'))
    choose(Math.max(0, Math.min(ranks.length - 1, chosen + by)));
  else
    return;
  event.preventDefault();
});
body.addEventListener('click', (event) => {
  const row = event.target.closest('tr');
  if (row && !event.target.closest('a'))
    choose(Number(row.dataset.rank));
});
document.querySelectorAll('thead th').forEach((heading, column) => {
  let down = column > 0;
  const sort = document.createElement('button');
  sort.textContent = heading.textContent;
  heading.replaceChildren(sort);
  sort.addEventListener('click', () => {
    const value = ({cells}) => (cells[column].dataset.v ? Number(cells[column].dataset.v) : cells[column].textContent);
    const rows = [...body.rows].sort((a, b) => (value(a) > value(b)) - (value(a) < value(b)));
    body.append(...(down ? rows.reverse() : rows));
    down = !down;
  });
});
document.getElementById('charts').hidden = !columns;
addEventListener('hashchange', read);
const anew = () => {
  charts.forEach((chart) => (chart.kept = null));
  draw();
};
addEventListener('resize', anew);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', anew);
if (columns)
  read();
})();
