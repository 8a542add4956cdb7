// Draws lanes into a picture of a stretch of time: calls of at least three pixels one by one, and what is narrower into lines of pixels,
// two a row (single calls; runs of shorter ones), which are then stretched to the row's height.
const strip = { canvas: null };

/// Draws the rows of a lane that can be seen. A `shot` is {from, to, width, height, ratio, seen: the left edge of what can be seen}.
function paintRows(context, lane, part, shot, top) {
    const limit = rowLimit(lane), first = Math.max(rowAtHeight(lane, -top), firstRow(lane));
    const last = Math.min(rowAtHeight(lane, shot.height - top) + 1, limit);
    if (first >= last) return;
    const columns = Math.round(shot.width * shot.ratio), count = last - first;
    strip.canvas ??= make('canvas');
    if (strip.canvas.width !== columns || strip.canvas.height < 2 * count) {
        Object.assign(strip.canvas, { width: columns, height: Math.max(2 * count, 64) });
    }
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
        const y = top + rowPlace(lane, row) + cut, height = tall - (tall > 8 ? 1 : 0) - 2 * cut;
        context.drawImage(strip.canvas, 0, line, columns, 1, 0, y, shot.width, height);
    });
    paintLabels(context, part, found.labels, shot);
}

const runInset = 3; // px: what a run of short calls is less tall than a call, at either side

/// Draws a row's wide entries, and notes narrow ones as pixels.
function paintRow(context, lane, part, shot, y, row, { pixels, columns, used, labels, first, states }) {
    const tall = rowTall(lane, row), isTall = tall > 8, height = isTall ? tall - 1 : tall, inset = isTall ? runInset : 0;
    const scale = shot.width / (shot.to - shot.from), [low, high] = entriesOf(part, row);
    const owns = tints.by === 'self' ? ownSteps(part) : null;
    const pale = paleEntries(part), waitBits = states && [0, bitsOf(inks().blocked), bitsOf(inks().runnable)];
    for (let k = entryAfter(part, low, high, shot.from); k < high; k++) {
        const from = (part.begin[k] - shot.from) * scale;
        if (from >= shot.width) break;
        const wide = part.length[k] * scale, id = part.fn[k], isRun = part.calls[k] > 1;
        const density = isRun ? 0.35 + 0.65 * Math.min(part.busy[k] / Math.max(part.length[k], 1e-9), 1) : 1;
        if (wide * shot.ratio < 3) {
            const column = Math.max(Math.floor(from * shot.ratio), 0);
            const until = Math.min(Math.max(Math.round((from + wide) * shot.ratio), column + 1), columns);
            const line = 2 * (row - first) + (isRun ? 1 : 0), waits = states?.columns[column / shot.ratio | 0];
            const colour = waits ? waitBits[waits] : owns && !shades.isSearch ? bytes(viewPalette().self[owns[k]]) : shades.bits[id] ?? shades.paper;
            const part = density * (pale?.[k] ? faint : 1);
            pixels.fill(part < 1 ? mixed(shades.paper, colour, part) : colour, line * columns + column, line * columns + until);
            used[line] = 1;
            continue;
        }
        const x = Math.max(from, -2), width = Math.min(from + wide, shot.width + 2) - x;
        const pair = owns && !shades.hits?.[id] ? viewPalette().self[owns[k]] : shades.pairs[id] ?? shades.plain;
        const isPale = shades.isSearch && !shades.hits[id] || pale?.[k], seen = isTall && !isRun ? width - 1 : width;
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
