'use strict';
// The document that is shown, as Fathom writes it (see FlameGraph+HTML.swift), and what follows of it. All of it is set by `load`, as
// often as there is another document.
let data = {}, names = [];
let countedThings; // what `calls` counts
let knowsWaits; // whether the time that frame i waited, in all, is data.waiting[i - 1]
let wall, tellsWall; // how long it took, in ns, whatever the sum over all threads is; undefined where that is not known
let graph, count, fn, row, parent, end, calls, left, total, self, waits; // the frames that were recorded, and their columns
const loaders = []; // what else there is to be done with a document, in the order of the modules

function load(next) {
    data = next;
    names = data.names;
    countedThings = data.samples ? 'samples' : 'calls';
    knowsWaits = data.waiting !== undefined;
    wall = data.wall;
    tellsWall = wall !== undefined && Math.abs(data.total - wall) > data.total / 100;
    graph = readGraph();
    ({ count, fn, row, parent, end, calls, left, total, self, waits } = graph);
    for (const each of loaders) each();
}

// What stands in place of a function, 0 and up: frames too narrow to show, of which `calls` is how many and `self` their total;
// and all that there is.
const summed = -1, whole = -2;

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
    const count = frames.length / columns + 1, graph = new Graph(count);
    graph.fn[0] = whole;
    graph.total[0] = data.total;
    for (let i = 1, at = 0; i < count; i++, at += columns) {
        graph.fn[i] = frames[at];
        graph.row[i] = frames[at + 1] + 1;
        graph.rows = Math.max(graph.rows, graph.row[i] + 1);
        graph.calls[i] = frames[at + 2];
        graph.left[i] = frames[at + 3];
        graph.total[i] = frames[at + 4];
        graph.self[i] = frames[at + 5];
        if (data.ownWaiting) graph.waits[i] = data.ownWaiting[i - 1];
    }
    data.frames = data.ownWaiting = null; // the graph has them now
    return graph.link();
}
