// Draws lanes into a picture of a stretch of time: calls of at least three pixels one by one, and what is narrower into lines of pixels,
// two a row (single calls; runs of shorter ones), which are then stretched to the row's height.
const inkCache = {};
const inks = () => inkCache[theme] ??= Object.fromEntries(
    ['back', 'text', 'dim', 'line', 'edge', 'bar', 'focus', 'running', 'blocked', 'runnable', 'hit'].map(
        key => [key, getComputedStyle(document.documentElement).getPropertyValue(`--${key}`).trim()]));

/// Red, green, blue and opaque as a picture has them, the first byte lowest.
function bitsOf(css) {
    const long = css.length === 4 ? css.replace(/[^#]/g, '$&$&') : css;
    return [5, 3, 1].reduce((sum, at) => sum << 8 | parseInt(long.slice(at, at + 2), 16), 0xff) >>> 0;
}

/// Between two colours of pixels: part 0 is the first.
function mixed(a, b, part) {
    const share = part * 256 | 0, rest = 256 - share;
    const odd = ((a >>> 8 & 0xff) * rest + (b >>> 8 & 0xff) * share) & 0xff00;
    const even = ((a & 0xff00ff) * rest + (b & 0xff00ff) * share >>> 8) & 0xff00ff;
    return (0xff000000 | odd | even) >>> 0;
}

// The colours of functions, as of the theme, the colouring and the search.
const shades = { key: '', pairs: [], bits: [], hits: null };

function refreshShades() {
    const key = [theme, tints.by, selection.search, book.names.length].join();
    if (shades.key === key) return;
    const test = selection.search ? matcher(selection.search) : null, paper = bitsOf(inks().back);
    shades.hits = test && Uint8Array.from(book.names, each => test(each));
    shades.pairs = book.names.map((_, id) => shades.hits?.[id] ? viewPalette().matched : tints.pair(id));
    shades.bits = shades.pairs.map((pair, id) => shades.hits && !shades.hits[id] ? mixed(paper, bitsOf(pair[0]), faint) : bitsOf(pair[0]));
    Object.assign(shades, { key, paper, plain: viewPalette().plain, isSearch: shades.hits !== null });
}

/// The first entry of a row that ends after a moment.
function entryAfter(part, low, high, moment) {
    const limit = high;
    while (low < high) {
        const at = low + high >> 1;
        if (part.begin[at] + part.length[at] <= moment) low = at + 1; else high = at;
    }
    return Math.min(low, limit);
}

/// Entries of a row, as [first, limit].
function entriesOf(part, row) {
    const at = row - part.firstRow;
    return at < 0 || at >= part.rows ? [0, 0] : [part.first[at], part.first[at + 1]];
}

/// What a lane did in each column of a picture: 0 where it ran, 1 where it was blocked, 2 where it wanted a CPU, most of the time.
function statesIn(part, shot) {
    const columns = new Uint8Array(Math.ceil(shot.width) + 1), fine = part.width / (part.to - part.from);
    const step = (shot.to - shot.from) / shot.width * fine, begin = (shot.from - part.from) * fine;
    let any = false;
    for (let x = 0; x < columns.length; x++) {
        const at = Math.floor(begin + (x + 0.5) * step);
        if (at < 0 || at >= part.width || part.blocked[at] + part.wanting[at] < 128) continue;
        columns[x] = part.wanting[at] > part.blocked[at] ? 2 : 1;
        any = true;
    }
    return any ? columns : null;
}

const stripes = {}; // by theme: patterns of what is blocked and of what wants a CPU

function stripesOf(context) {
    return stripes[theme] ??= [viewPalette().waiting, [viewPalette().waiting[0], inks().runnable]].map(([ground, lines]) => {
        const tile = make('canvas'), size = tile.width = tile.height = 8, brush = tile.getContext('2d');
        brush.fillStyle = ground;
        brush.fillRect(0, 0, size, size);
        brush.strokeStyle = lines;
        for (const at of [-size, 0, size]) {
            brush.moveTo(at - 1, size + 1);
            brush.lineTo(at + size + 1, -1);
        }
        brush.stroke();
        return context.createPattern(tile, 'repeat');
    });
}

/// Fills those columns of a rectangle in which a lane waited: hatched where nothing deeper is drawn, plain above, and in low rows.
function hatchStates(context, { columns, deepest }, row, x, y, width, height) {
    const isLow = height < 8, ground = viewPalette().waiting[0];
    const [waiting, wanting] = isLow ? [inks().blocked, inks().runnable] : stripesOf(context);
    for (let at = Math.floor(x), stop; at < x + width; at = stop) {
        const isLeaf = deepest[at] <= row;
        for (stop = at + 1; stop < x + width && columns[stop] === columns[at] && deepest[stop] <= row === isLeaf;) stop++;
        if (!columns[at]) continue;
        const from = Math.max(at, x);
        context.fillStyle = !isLeaf ? ground : columns[at] === 1 ? waiting : wanting;
        context.fillRect(from, y, Math.min(stop, x + width) - from, height);
    }
}

/// The deepest row, by column, in which a call is drawn.
function deepestIn(lane, part, shot, limit) {
    const deepest = new Int32Array(Math.ceil(shot.width) + 1).fill(-1), scale = shot.width / (shot.to - shot.from);
    for (let r = firstRow(lane); r < limit; r++) {
        const [low, high] = entriesOf(part, r);
        for (let k = entryAfter(part, low, high, shot.from); k < high; k++) {
            const from = (part.begin[k] - shot.from) * scale, wide = part.length[k] * scale;
            if (from >= shot.width) break;
            if (wide * shot.ratio >= 3) deepest.fill(r, Math.max(Math.round(from), 0), Math.max(Math.round(from + wide), 0));
        }
    }
    return deepest;
}

const strip = { canvas: null };

/// Draws the rows of a lane that can be seen. A `shot` is {from, to, width, height, ratio, seen: the left edge of what can be seen}.
function paintRows(context, lane, part, shot, top) {
    const limit = rowLimit(lane), first = Math.max(rowAtHeight(lane, -top), firstRow(lane));
    const last = Math.min(rowAtHeight(lane, shot.height - top) + 1, limit);
    if (first >= last) return;
    const columns = Math.round(shot.width * shot.ratio), count = last - first;
    strip.canvas ??= make('canvas');
    if (strip.canvas.width !== columns || strip.canvas.height < 2 * count) Object.assign(strip.canvas, { width: columns, height: Math.max(2 * count, 64) });
    const brush = strip.canvas.getContext('2d'), image = brush.createImageData(columns, 2 * count);
    const found = { pixels: new Uint32Array(image.data.buffer), columns, used: new Uint8Array(2 * count), labels: [], first };
    const states = statesIn(part, shot);
    if (states) found.states = { columns: states, deepest: deepestIn(lane, part, shot, limit) };
    for (let row = first; row < last; row++) paintRow(context, lane, part, shot, top + rowPlace(lane, row), row, found);
    brush.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    found.used.forEach((isUsed, line) => {
        if (!isUsed) return;
        const row = first + (line >> 1), tall = rowTall(lane, row), cut = line & 1 && tall > 8 ? runInset : 0;
        context.drawImage(strip.canvas, 0, line, columns, 1, 0, top + rowPlace(lane, row) + cut, shot.width, tall - (tall > 8 ? 1 : 0) - 2 * cut);
    });
    paintLabels(context, part, found.labels, shot);
}

const runInset = 3; // px: what a run of short calls is less tall than a call, at either side

/// Draws a row's wide entries, and notes narrow ones as pixels.
function paintRow(context, lane, part, shot, y, row, { pixels, columns, used, labels, first, states }) {
    const tall = rowTall(lane, row), isTall = tall > 8, height = isTall ? tall - 1 : tall, inset = isTall ? runInset : 0;
    const scale = shot.width / (shot.to - shot.from), [low, high] = entriesOf(part, row);
    const waitBits = states && [0, bitsOf(inks().blocked), bitsOf(inks().runnable)];
    for (let k = entryAfter(part, low, high, shot.from); k < high; k++) {
        const from = (part.begin[k] - shot.from) * scale;
        if (from >= shot.width) break;
        const wide = part.length[k] * scale, id = part.fn[k], isRun = part.calls[k] > 1;
        const density = isRun ? 0.35 + 0.65 * Math.min(part.busy[k] / Math.max(part.length[k], 1e-9), 1) : 1;
        if (wide * shot.ratio < 3) {
            const column = Math.max(Math.floor(from * shot.ratio), 0), until = Math.min(Math.max(Math.round((from + wide) * shot.ratio), column + 1), columns);
            const line = 2 * (row - first) + (isRun ? 1 : 0), waits = states?.columns[column / shot.ratio | 0];
            const colour = waits ? waitBits[waits] : shades.bits[id] ?? shades.paper;
            pixels.fill(isRun ? mixed(shades.paper, colour, density) : colour, line * columns + column, line * columns + until);
            used[line] = 1;
            continue;
        }
        const x = Math.max(from, -2), width = Math.min(from + wide, shot.width + 2) - x, pair = shades.pairs[id] ?? shades.plain;
        const isPale = shades.isSearch && !shades.hits[id], seen = isTall && !isRun ? width - 1 : width;
        if (isTall && !isPale && !isRun) {
            context.fillStyle = pair[1];
            context.fillRect(x, y, width, tall);
        }
        context.globalAlpha = density * (isPale ? faint : 1);
        context.fillStyle = pair[0];
        const cut = isRun ? inset : 0;
        context.fillRect(x, y + cut, seen, height - 2 * cut);
        context.globalAlpha = 1;
        if (states && !isPale) hatchStates(context, states, row, x, y + cut, seen, height - 2 * cut);
        if (isTall && width > 26) labels.push([k, x, y + tall / 2, width]);
    }
}

/// Names in calls, from where they can be seen.
function paintLabels(context, part, labels, shot) {
    context.fillStyle = viewPalette().ink;
    for (const [k, left, middle, width] of labels) {
        const id = part.fn[k], from = Math.max(left, shot.seen), room = left + width - from - 9;
        if (room < 20) continue;
        const text = foldedName(book.names[id] ?? '…'), calls = part.calls[k];
        const label = fitted(context, calls > 1 ? `${number(calls)} × ${text}` : text, room);
        if (label) context.fillText(label, from + 4, middle);
    }
}

/// What a thread did, as a line above its calls: it ran, was blocked, or wanted a CPU, each as high as its part of the time.
function paintState(context, lane, part, shot, y) {
    const scale = shot.width / (shot.to - shot.from), tall = laneParts.state - 1, { begin, end } = lane.track;
    const from = Math.max((begin - shot.from) * scale, 0), to = Math.min((end - shot.from) * scale, shot.width);
    if (to <= from) return;
    context.fillStyle = inks().running;
    context.fillRect(from, y, to - from, tall);
    const fine = part.width / (part.to - part.from), step = 1 / scale * fine, origin = (shot.from - part.from) * fine;
    const [blocked, wanting] = [inks().blocked, inks().runnable];
    const at = x => Math.floor(origin + (x + 0.5) * step);
    for (let x = Math.floor(from); x < to;) {
        const place = at(x);
        if (place < 0 || place >= part.width) { x++; continue; }
        const [b, w] = [part.blocked[place], part.wanting[place]];
        let stop = x + 1;
        while (stop < to && part.blocked[at(stop)] === b && part.wanting[at(stop)] === w) stop++;
        context.fillStyle = blocked;
        context.fillRect(x, y, stop - x, tall * b / 255);
        context.fillStyle = wanting;
        context.fillRect(x, y + tall * b / 255, stop - x, tall * w / 255);
        x = stop;
    }
}

function paintMarks(context, lane, shot, y) {
    const scale = shot.width / (shot.to - shot.from), { marks } = lane;
    context.fillStyle = inks().focus;
    for (let at = 0, before = -Infinity; at < marks.length; at++) {
        const x = (marks[at][0] - shot.from) * scale;
        if (x < -200 || x > shot.width + 10 || x - before < 3) continue;
        before = x;
        context.beginPath();
        context.moveTo(x - 4, y + 3);
        context.lineTo(x + 4, y + 3);
        context.lineTo(x, y + laneParts.mark - 3);
        context.fill();
        const next = marks[at + 1], room = Math.min(next ? (next[0] - shot.from) * scale - 6 : Infinity, shot.width) - x - 9;
        if (room > 20) context.fillText(fitted(context, marks[at][1], room), x + 7, y + laneParts.mark / 2);
    }
}

/// A counter as steps. Values that share a column of pixels are a line there from the least to the greatest.
function paintCounter(context, counter, shot, top) {
    const scale = shot.width / (shot.to - shot.from), { points, least, most } = counter, ground = top + laneParts.counter - 3;
    const tall = value => (value - least) / (most - least || 1) * (laneParts.counter - 8), zero = ground - tall(0);
    let at = points.findLastIndex(each => each[0] <= shot.from);
    context.fillStyle = viewPalette().counter;
    for (at = Math.max(at, 0); at < points.length; at++) {
        const x = Math.max((points[at][0] - shot.from) * scale, 0);
        if (x >= shot.width) break;
        let [low, high] = [points[at][1], points[at][1]];
        while (at + 1 < points.length && (points[at + 1][0] - shot.from) * scale < x + 1) {
            at++;
            [low, high] = [Math.min(low, points[at][1]), Math.max(high, points[at][1])];
        }
        const far = Math.min(at + 1 < points.length ? (points[at + 1][0] - shot.from) * scale : shot.width, shot.width);
        for (const [end, a, b] of [[far, points[at][1], points[at][1]], [Math.min(x + 1, far), low, high]]) {
            const upper = Math.min(ground - tall(b), zero), lower = Math.max(ground - tall(a), zero);
            context.fillRect(x, upper, end - x, Math.max(lower - upper, 1));
        }
    }
    context.fillStyle = inks().text;
    context.fillText(fitted(context, `${counter.name}  ${number(least)} … ${number(most)}`, shot.width), shot.seen + 6, top + 8);
}

/// Draws all lanes that can be seen; `scrolled` is how far down they are.
function paintLanes(context, shot, scrolled) {
    theme = themeNow();
    refreshShades();
    context.setTransform(shot.ratio, 0, 0, shot.ratio, 0, 0);
    context.fillStyle = inks().back;
    context.fillRect(0, 0, shot.width, shot.height);
    context.font = font;
    context.textBaseline = 'middle';
    for (const item of lanes.items) {
        const y = item.top - scrolled;
        if (y > shot.height || y + item.height < 0) continue;
        context.fillStyle = inks().line;
        context.fillRect(0, y + item.height - 1, shot.width, 1);
        if (!item.lane) {
            context.fillStyle = inks().bar;
            context.fillRect(0, y, shot.width, item.height - 1);
            continue;
        }
        const { lane } = item, part = pictures.get(lane.index), up = y + 2;
        if (part && hasState()) paintState(context, lane, part, shot, up);
        if (part) paintRows(context, lane, part, shot, up + rowsTop(lane));
        if (!lane.isOpen) continue;
        if (lane.marks.length) paintMarks(context, lane, shot, up + (hasState() ? laneParts.state : 0));
        lane.counters.forEach((counter, at) => paintCounter(
            context, counter, shot, up + laneHead(lane) + openHeight(lane, lane.rows) + at * laneParts.counter));
    }
}
