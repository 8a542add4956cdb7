// Where nothing ran: a thread was blocked or wanted a CPU, or a task was suspended. There frames are hatched, in grey, whatever their
// colours are, so that waiting does not look like work.
const noBand = -1; // stands for the band where there are none
const waitStretches = new Map(); // by band: begin, end, begin, end, ..., in order, none of which overlap
const waitColumns = new Map(); // by band, as of the last drawing: which columns of pixels waited

loaders.push(() => {
    waitStretches.clear();
    waitColumns.clear();
    const found = new Map(), add = (band, begin, stop) => {
        if (!found.has(band)) found.set(band, []);
        found.get(band).push([begin, stop]);
    };
    bands.forEach(({ states }, band) => {
        for (let at = 0; at < states.length; at += stateColumns) {
            add(band, states[at], states[at] + states[at + 1]);
        }
    });
    // In a graph, a frame's own time is at its right, behind its callees. In a chart, calls that did little else tell when a thread or
    // task waited whose states are not known.
    let band = noBand, hasStates = false;
    for (let i = 1; i < count; i++) {
        if (fn[i] <= firstBand) {
            band = firstBand - fn[i];
            hasStates = stateRows(bands[band]) > 0;
        } else if (waits[i] > 0 && (!isChart || !hasStates && waits[i] >= 0.95 * total[i])) {
            add(band, left[i] + total[i] - waits[i], left[i] + total[i]);
        }
    }
    for (const [band, stretches] of found) {
        const merged = [];
        for (const [begin, stop] of stretches.sort((a, b) => a[0] - b[0])) {
            if (merged.length && begin <= merged.at(-1)) merged[merged.length - 1] = Math.max(merged.at(-1), stop);
            else merged.push(begin, stop);
        }
        waitStretches.set(band, merged);
    }
});

/// Which columns of pixels of a band waited for at least half of their time; undefined where none is known to have waited.
function waitingAt(band) {
    const stretches = waitStretches.get(band);
    if (!stretches || waitColumns.has(band)) return waitColumns.get(band);
    const { start, span } = main.shown, scale = main.width / span, parts = new Float32Array(main.width + 1);
    let low = 0, high = stretches.length / 2;
    while (low < high) {
        const at = low + high >> 1;
        if (stretches[2 * at + 1] <= start) low = at + 1; else high = at;
    }
    for (let at = 2 * low; at < stretches.length && stretches[at] < start + span; at += 2) {
        const from = Math.max((stretches[at] - start) * scale, 0), to = Math.min((stretches[at + 1] - start) * scale, main.width);
        for (let x = Math.floor(from); x < to; x++) parts[x] += Math.min(x + 1, to) - Math.max(x, from);
    }
    const columns = parts.map(part => part >= 0.5 ? 1 : 0);
    waitColumns.set(band, columns);
    return columns;
}

/// The columns of a row of the main view that waited.
function waitingInRow(r) {
    if (waitStretches.size === 0) return undefined;
    const i = bandFrames.findLast(each => row[each] <= r);
    return waitingAt(i === undefined ? noBand : firstBand - fn[i]);
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

const waitLegend = () => waitStretches.size ? [[palette().waiting, 'waiting']] : [];
