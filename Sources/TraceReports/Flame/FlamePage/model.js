'use strict';
// What is drawn: frames in pre-order, so those below frame i are i + 1 ..< end[i]. Frame 0 stands for all of them.
const data = JSON.parse(document.getElementById('data').textContent);
const { names, modules, frames } = data;
const columns = 6; // of `frames`: function, depth, calls, start, total, self
const count = frames.length / columns + 1;
const fn = new Int32Array(count), row = new Int32Array(count), parent = new Int32Array(count), end = new Int32Array(count);
const calls = new Float64Array(count), left = new Float64Array(count), total = new Float64Array(count);
const self = new Float64Array(count);
const summed = -1; // as function: a sum of frames too narrow to show; `calls` is how many, `self` is their total

let rows = 1;
{
    fn[0] = -2;
    parent[0] = -1;
    total[0] = data.total;
    const open = [0];
    for (let i = 1, at = 0; i < count; i++, at += columns) {
        fn[i] = frames[at];
        row[i] = frames[at + 1] + 1;
        calls[i] = frames[at + 2];
        left[i] = frames[at + 3];
        total[i] = frames[at + 4];
        self[i] = frames[at + 5];
        while (open.length > row[i]) end[open.pop()] = i;
        parent[i] = open[open.length - 1];
        if (row[i] >= rows) rows = row[i] + 1;
        open.push(i);
    }
    for (const i of open) end[i] = count;
}

const tooNarrow = n => `${n.toLocaleString('en')} ${n === 1 ? 'frame' : 'frames'} too narrow to show`;
const name = i => i === 0 ? 'all' : fn[i] === summed ? tooNarrow(calls[i]) : names[fn[i]];

/// A time as every report of Fathom writes it.
function time(ns) {
    if (ns < 1000) return `${ns} ns`;
    let scale = 1000;
    for (const unit of ['us', 'ms', 's']) {
        const hundredths = Math.floor((ns + scale / 200) / (scale / 100));
        if (hundredths < 10000) return `${(hundredths / 100).toFixed(2)} ${unit}`;
        const tenths = Math.floor((ns + scale / 20) / (scale / 10));
        if (tenths < 10000) return `${(tenths / 10).toFixed(1)} ${unit}`;
        scale *= 1000;
    }
    return `${Math.floor((ns + 5e8) / 1e9)} s`;
}

const percent = (part, whole) => `${(whole > 0 ? 100 * part / whole : 0).toFixed(2)} %`;

/// What frame i was before, in a differential flame graph.
function change(i) {
    const [calls, total, self, step] = data.changes.frames.slice(4 * (i - 1), 4 * i);
    return { calls, total, self, step };
}

/// What is known of a frame, as pairs of a word and its value.
function facts(i, zoomed) {
    const share = part => `${time(part)} (${percent(part, total[0])})`;
    if (i === 0) return [['total', time(total[0])]];
    if (fn[i] === summed) return [['total', share(self[i])]];
    const known = [['calls', calls[i].toLocaleString('en')], ['total', share(total[i])], ['self', share(self[i])]];
    if (data.changes) {
        const was = change(i);
        known.push(['before', was.calls + was.total === 0 ? 'not there' :
            `calls ${was.calls.toLocaleString('en')} · total ${time(was.total)} · self ${time(was.self)}`]);
    }
    if (zoomed > 0) known.push(['of shown', percent(total[i], total[zoomed])]);
    if (data.order === 'time') known.push(['at', time(left[i])]);
    known.push(['module', modules[data.module[fn[i]]]]);
    return known;
}

/// Which functions a search finds, and their time: a match within a match adds none.
///
/// `least` is exact but for matches inside sums of narrow frames, with which it is at most `most`.
function find(text) {
    let test;
    const pattern = /^\/(.+)\/$/.exec(text);
    if (pattern) {
        try { const regex = new RegExp(pattern[1]); test = n => regex.test(n); } catch { return { error: true }; }
    } else {
        const lower = text.toLowerCase();
        test = n => n.toLowerCase().includes(lower);
    }
    const matches = names.map(test);
    let least = 0, unsure = 0, functions = 0;
    for (const isMatch of matches) if (isMatch) functions++;
    for (let i = 1; i < count;) {
        if (fn[i] === summed) unsure += self[i];
        const isMatch = matches[fn[i]];
        if (isMatch) least += total[i];
        i = isMatch ? end[i] : i + 1;
    }
    return { matches, functions, least, most: least + unsure };
}

/// The frame's widest callee, or the frame itself.
function callee(i) {
    let best = i;
    for (let j = i + 1; j < end[i]; j = end[j]) if (best === i || total[j] > total[best]) best = j;
    return best;
}

/// The frame's neighbour below the same caller, or the frame itself.
function sibling(i, step) {
    if (i === 0) return i;
    let before = i;
    for (let j = parent[i] + 1; j < end[parent[i]]; j = end[j]) {
        if (step < 0 && j === i) return before;
        if (step > 0 && j > i) return j;
        before = j;
    }
    return i;
}

const isInside = (i, ancestor) => i >= ancestor && i < end[ancestor];
