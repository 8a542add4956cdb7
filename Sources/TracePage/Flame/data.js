'use strict';
// The document that is shown, as Fathom writes it (see FlameGraph+HTML.swift), and what follows of it. All of it is set by `load`, as
// often as there is another document.
let data = {}, names = [];
let countedThings; // what `calls` counts
let isChart = false;
let bands = []; // threads, where there are several
let knowsWaits; // whether the time that frame i waited, in all, is data.waiting[i - 1]
let wall, tellsWall; // how long it took, in ns, whatever the sum over all threads is; undefined where that is not known
let graph, count, fn, row, parent, end, calls, left, total, self, waits; // the frames that were recorded, and their columns
const loaders = []; // what else there is to be done with a document, in the order of the modules

function load(next) {
    data = next;
    names = data.names;
    countedThings = data.samples ? 'samples' : 'calls';
    isChart = data.time !== undefined;
    bands = isChart ? data.time.bands : [];
    for (const band of bands) band.states ??= [];
    knowsWaits = data.waiting !== undefined;
    wall = bands.length ? data.total : data.wall;
    tellsWall = wall !== undefined && Math.abs(data.total - wall) > data.total / 100 || bands.length > 0;
    graph = readGraph();
    ({ count, fn, row, parent, end, calls, left, total, self, waits } = graph);
    for (const each of loaders) each();
}

// What stands in place of a function, 0 and up: frames too narrow to show, of which `calls` is how many and `self` their total;
// all that there is; and the rows that begin bands[0], bands[1], ..., which are firstBand, firstBand - 1, ...
const summed = -1, whole = -2, firstBand = -3;
const bandOf = f => f <= firstBand ? bands[firstBand - f] : undefined;
const counterRows = 2; // a counter's height, as in FlameTimeline.swift

/// Source file and line of a function, or nothing.
function placeIn(f) {
    if (f < 0) return '';
    const { names: files, of } = data.groups.file, file = files[of[f]];
    return file === data.noFile ? '' : `${file}:${data.lines[f]}`;
}

const moduleOf = f => data.groups.module.names[data.groups.module.of[f]];

/// The frames that were recorded; frame 0 stands for all of them.
function readGraph() {
    const { frames } = data, columns = 6; // function, depth, calls, start, total, self
    const count = frames.length / columns + 1, graph = new Graph(count), level = graph.level = new Int32Array(count);
    graph.fn[0] = whole;
    graph.total[0] = data.total;
    for (let i = 1, at = 0; i < count; i++, at += columns) {
        graph.fn[i] = frames[at];
        level[i] = frames[at + 1] + 1;
        graph.calls[i] = frames[at + 2];
        graph.left[i] = frames[at + 3];
        graph.total[i] = frames[at + 4];
        graph.self[i] = frames[at + 5];
        if (data.ownWaiting) graph.waits[i] = data.ownWaiting[i - 1];
    }
    data.frames = data.ownWaiting = null; // the graph has them now
    giveRows(graph);
    return graph.link(level);
}

const laneRows = 24; // of calls that a thread has, where there are several, until it is opened
const unseen = -1; // the row of a frame that has none

/// Gives frames rows: those of each thread below those of the one before. Deep calls of threads that are not open get none, so
/// that one deep thread does not push the others out of sight.
function giveRows(graph) {
    const { count, fn, row, level } = graph;
    let base = 0, used = 0, band; // what is added to a frame's level for its row, the last row so far, and the thread
    let most = Infinity; // levels that have rows
    for (let i = 1; i < count; i++) {
        if (fn[i] <= firstBand) {
            band = bandOf(fn[i]);
            band.folded = 0; // rows that it would have when open
            row[i] = used + 1;
            used = row[i] + extraRows(band);
            base = used - level[i];
            most = band.isOpen ? Infinity : level[i] + laneRows;
            continue;
        }
        row[i] = level[i] > most ? unseen : base + level[i];
        used = Math.max(used, row[i]);
        if (level[i] > most) band.folded = Math.max(band.folded, level[i] - most);
    }
    graph.rows = used + 1;
}
