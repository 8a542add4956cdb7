// Where nothing ran: a thread was blocked or wanted a CPU, or a task was suspended. There frames are hatched, in grey, whatever their
// colours are, so that waiting does not look like work.
let waitStretches = []; // begin, end, begin, end, ..., in order, none of which overlap
let waitColumns; // as of this drawing: which columns of pixels waited for at least half of their time

loaders.push(() => {
    // A frame's own time is at its right, behind its callees.
    const found = [];
    for (let i = 1; i < count; i++) if (waits[i] > 0) found.push([left[i] + total[i] - waits[i], left[i] + total[i]]);
    waitStretches = [];
    waitColumns = undefined;
    for (const [begin, stop] of found.sort((a, b) => a[0] - b[0])) {
        if (begin <= waitStretches.at(-1)) waitStretches[waitStretches.length - 1] = Math.max(waitStretches.at(-1), stop);
        else waitStretches.push(begin, stop);
    }
});

/// The columns of the main view that waited; undefined where nothing is known to have waited.
function waitingNow() {
    if (waitStretches.length === 0 || waitColumns) return waitColumns;
    const { start, span } = main.shown, scale = main.width / span, parts = new Float32Array(main.width + 1);
    let low = 0, high = waitStretches.length / 2;
    while (low < high) {
        const at = low + high >> 1;
        if (waitStretches[2 * at + 1] <= start) low = at + 1; else high = at;
    }
    for (let at = 2 * low; at < waitStretches.length && waitStretches[at] < start + span; at += 2) {
        const from = Math.max((waitStretches[at] - start) * scale, 0), to = Math.min((waitStretches[at + 1] - start) * scale, main.width);
        for (let x = Math.floor(from); x < to; x++) parts[x] += Math.min(x + 1, to) - Math.max(x, from);
    }
    return waitColumns = parts.map(part => part >= 0.5 ? 1 : 0);
}

const hatching = {}; // by theme

const hatchingNow = context => hatching[theme] ??= stripedBy(context, palette().waiting);

/// A pattern of oblique lines.
function stripedBy(context, [ground, lines]) {
    const tile = make('canvas'), size = tile.width = tile.height = 8;
    const brush = tile.getContext('2d');
    brush.fillStyle = ground;
    brush.fillRect(0, 0, size, size);
    brush.strokeStyle = lines;
    for (const at of [-size, 0, size]) {
        brush.moveTo(at - 1, size + 1);
        brush.lineTo(at + size + 1, -1);
    }
    brush.stroke();
    return context.createPattern(tile, 'repeat');
}

/// Hatches what waited of a part of a row.
function hatch(context, columns, x, width, y) {
    context.fillStyle = hatchingNow(context);
    for (let at = Math.floor(x), stop; at < x + width; at = stop) {
        for (stop = at + 1; stop < x + width && columns[stop] === columns[at];) stop++;
        const from = Math.max(at, x);
        if (columns[at]) context.fillRect(from, y, Math.min(stop, x + width) - from, rowHeight - border);
    }
}

const waitLegend = () => waitStretches.length ? [[palette().waiting, 'waiting']] : [];
