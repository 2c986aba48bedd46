/* SPDX-License-Identifier: Apache-2.0
 *
 * The views of the page by tab, in order. A part is a view with its heading; its size is strip (a
 * low one, above the view that follows its cursor), tall, fill (the rest of the screen) or page; where
 * it is grouped, the choice of the grouping stands above it. Adding a view is a row here. */
import {mountCompare} from './panels/compare.js';
import {mountEvents} from './panels/events.js';
import {mountFlame} from './panels/flame.js';
import {moduleRows, mountModules} from './panels/modules.js';
import {mountSteps} from './panels/steps.js';
import {mountTable} from './panels/table.js';
import {mountWhatif} from './panels/whatif.js';
import {mountBlockmap} from './blockmap.js';
import {mountLanes} from './lanes.js';
import {mountSegmentmap} from './segmentmap.js';
import {STEPS_LEAST} from './panels/stepfold.js';
import {mountTimeline} from './timeline.js';

/** The stack of all allocations, beside the answer of the first screen. */
export const STACK = {name: 'timeline', title: 'Memory over time', mount: mountTimeline, size: 'fill', grouped: true, timed: true};
const STACK_STRIP = {...STACK, size: 'strip'};

/** id, label and parts {name, title, mount, size, grouped, found, timed} of each tab (found: with the search of blocks; timed: its
 * axis is that of time or of events), and when a
 * trace has it; overview is app.js's own. */
export const TABS = [
    {id: 'overview', label: 'Overview', parts: []},
    {id: 'timeline', label: 'Timeline', parts: [
        {...STACK, size: 'tall'},
        {name: 'lanes', title: 'Steps, phases, kernels and copies', mount: mountLanes, size: 'chart', timed: true},
    ]},
    {id: 'blocks', label: 'Blocks', parts: [
        STACK_STRIP, {name: 'blockmap', title: 'Blocks over time and address', mount: mountBlockmap, size: 'chart', found: true, timed: true},
    ]},
    {id: 'segments', label: 'Segments', parts: [
        STACK_STRIP, {name: 'segmentmap', title: 'Segments at the cursor', mount: mountSegmentmap, size: 'chart'},
    ]},
    {id: 'flame', label: 'Flame graph', parts: [
        STACK_STRIP, {name: 'flame', title: 'Flame graph', mount: mountFlame, size: 'fill'},
    ]},
    {id: 'table', label: 'Table', parts: [
        STACK_STRIP, {name: 'table', title: 'Table', mount: mountTable, size: 'fill'},
    ]},
    {id: 'events', label: 'Events', parts: [
        STACK_STRIP, {name: 'events', title: 'Events', mount: mountEvents, size: 'fill'},
    ]},
    {id: 'steps', label: 'Steps', when: ({head}) => (head.sections.steps?.columns[0]?.count || 0) >= STEPS_LEAST, parts: [
        {name: 'steps', title: 'Steps', mount: mountSteps, size: 'page'},
    ]},
    {id: 'modules', label: 'Modules', when: ({head}) => head.devices.some((_, device) => moduleRows(head, device)), parts: [
        {name: 'modules', title: 'Modules', mount: mountModules, size: 'fill'},
    ]},
    {id: 'whatif', label: 'What if', when: ({head}) => head.whatif, parts: [
        {name: 'whatif', title: 'What if', mount: mountWhatif, size: 'fill'},
    ]},
    {id: 'compare', label: 'Compare', both: true, parts: [
        {name: 'compare', title: 'Compare', mount: mountCompare, size: 'page'},
    ]},
];
