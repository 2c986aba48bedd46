/* SPDX-License-Identifier: Apache-2.0
 *
 * The views of the page by tab, in order. A part is a view with its heading; its size is strip (a
 * low one, above the view that follows its cursor), tall, fill (the rest of the screen) or page; where
 * it is grouped, the choice of the grouping stands above it. Adding a view is a row here. */
import {mountCompare} from './panels/compare.js';
import {mountFlame} from './panels/flame.js';
import {moduleRows, mountModules} from './panels/modules.js';
import {mountTable} from './panels/table.js';
import {mountBlockmap} from './blockmap.js';
import {mountLanes} from './lanes.js';
import {mountSegmentmap} from './segmentmap.js';
import {mountStackchart} from './stackchart.js';
import {mountTimeline} from './timeline.js';

/** The curves beside the answer of the first screen. */
export const CURVE = {name: 'timeline', title: 'Memory over time', mount: mountTimeline, size: 'fill'};
const CURVE_STRIP = {...CURVE, size: 'strip'};

/** id, label and parts {name, title, mount, size, grouped} of each tab, and when a trace has it; overview is app.js's own. */
export const TABS = [
    {id: 'overview', label: 'Overview', parts: []},
    {id: 'timeline', label: 'Timeline', parts: [
        {...CURVE, size: 'tall'},
        {name: 'lanes', title: 'Steps, phases, kernels and copies', mount: mountLanes, size: 'chart'},
        {name: 'stackchart', title: 'What held the memory', mount: mountStackchart, size: 'chart', grouped: true},
    ]},
    {id: 'blocks', label: 'Blocks', parts: [
        CURVE_STRIP, {name: 'blockmap', title: 'Blocks over time and address', mount: mountBlockmap, size: 'chart', grouped: true},
    ]},
    {id: 'segments', label: 'Segments', parts: [
        CURVE_STRIP, {name: 'segmentmap', title: 'Segments at the cursor', mount: mountSegmentmap, size: 'chart', grouped: true},
    ]},
    {id: 'flame', label: 'Flame graph', parts: [
        CURVE_STRIP, {name: 'flame', title: 'Flame graph', mount: mountFlame, size: 'fill'},
    ]},
    {id: 'table', label: 'Table', parts: [
        CURVE_STRIP, {name: 'table', title: 'Table', mount: mountTable, size: 'fill'},
    ]},
    {id: 'modules', label: 'Modules', when: ({head}) => head.devices.some((_, device) => moduleRows(head, device)), parts: [
        {name: 'modules', title: 'Modules', mount: mountModules, size: 'fill'},
    ]},
    {id: 'compare', label: 'Compare', both: true, parts: [
        {name: 'compare', title: 'Compare', mount: mountCompare, size: 'page'},
    ]},
];
