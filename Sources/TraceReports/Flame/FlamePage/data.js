'use strict';
// What Fathom wrote into the page, see FlameGraph+HTML.swift.
const data = JSON.parse(document.getElementById('data').textContent);
const { names } = data;
const isChart = data.time !== undefined;
const bands = isChart ? data.time.bands : []; // threads, where there are several

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
    const count = frames.length / columns + 1, graph = new Graph(count), level = new Int32Array(count);
    graph.fn[0] = whole;
    graph.total[0] = data.total;
    let base = 0, used = 0; // what is added to a frame's level for its row, and the last row so far
    for (let i = 1, at = 0; i < count; i++, at += columns) {
        const f = graph.fn[i] = frames[at];
        level[i] = frames[at + 1] + 1;
        if (f <= firstBand) base = used;
        graph.row[i] = base + level[i];
        if (f <= firstBand) base += counterRows * bandOf(f).counters.length;
        used = Math.max(used, graph.row[i], base + level[i]);
        graph.calls[i] = frames[at + 2];
        graph.left[i] = frames[at + 3];
        graph.total[i] = frames[at + 4];
        graph.self[i] = frames[at + 5];
    }
    graph.rows = used + 1;
    data.frames = null; // the graph has them now
    return graph.link(level);
}
