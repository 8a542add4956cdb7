// What lies over the lanes: the ruler with its marks, the range, the selected call, what the pointer is at, and what a search has found.

/// Round moments of a stretch, or times of day, that are at least so many px apart, each with its words: all in one unit, with as many
/// digits as tell them apart.
function ticksIn(from, to, width, most) {
    const least = (to - from) / Math.max(width / most, 1), magnitude = 10 ** Math.floor(Math.log10(least));
    const step = Math.max([1, 2, 5, 10].find(n => n * magnitude >= least) * magnitude, 1);
    const [scale, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(([scale]) => to >= scale || scale === 1);
    const digits = each => Math.max(Math.ceil(Math.log10(each / step) - 1e-9), 0), found = [], offset = selection.clock ? session.began[1] % step : 0;
    for (let n = Math.ceil((from + offset) / step); n * step - offset <= to; n++) {
        const at = n * step - offset;
        found.push([at, selection.clock ? clock(at, digits(1e9)) : `${(at / scale).toFixed(digits(scale))} ${unit}`]);
    }
    return found;
}

function drawTicks() {
    const canvas = element('ruler'), { width, ratio } = timeline, tall = canvas.clientHeight;
    const size = [Math.round(width * ratio), Math.round(tall * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const brush = canvas.getContext('2d'), ink = inks();
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, tall);
    brush.font = '11px system-ui, sans-serif';
    brush.textBaseline = 'middle';
    for (const [moment, text] of ticksIn(selection.from, selection.to, width, 130)) {
        const x = xOf(moment);
        brush.fillStyle = ink.edge;
        brush.fillRect(x, tall - 8, 1, 8);
        brush.fillStyle = ink.dim;
        if (x + 4 + brush.measureText(text).width < width) brush.fillText(text, x + 4, tall / 2);
    }
    if (selection.range) {
        const [from, to] = selection.range.map(xOf), left = Math.max(from, 0), right = Math.min(to, width);
        if (right > left) {
            brush.fillStyle = ink.focus;
            brush.fillRect(left, 0, right - left, tall);
            const text = duration(selection.range[1] - selection.range[0]), room = brush.measureText(text).width;
            brush.fillStyle = ink.back;
            if (room < right - left - 8) brush.fillText(text, (left + right - room) / 2, tall / 2);
        }
    }
    for (const moment of selection.marks) {
        const x = xOf(moment);
        brush.fillStyle = ink.focus;
        brush.beginPath();
        brush.moveTo(x, tall);
        brush.lineTo(x - 5, tall - 7);
        brush.lineTo(x - 5, 4);
        brush.lineTo(x + 5, 4);
        brush.lineTo(x + 5, tall - 7);
        brush.fill();
    }
    if (timeline.pointer) {
        brush.fillStyle = ink.text;
        brush.fillRect(timeline.pointer.x, tall - 8, 1, 8);
    }
}

/// Outlines an entry of a row, or tells that it is out of view.
function outlineEntry(lane, row, begin, end, colour, width) {
    if (!lane || row >= rowLimit(lane) || row < firstRow(lane)) return;
    const tall = rowTall(lane, row), y = lane.top + 2 + rowsTop(lane) + rowPlace(lane, row) - timeline.scrolled;
    if (y + tall < 0 || y > timeline.height) return;
    const from = Math.max(xOf(begin), -4), to = Math.min(xOf(end), timeline.width + 4);
    if (to < 0 || from > timeline.width) return;
    stageBrush.strokeStyle = colour;
    stageBrush.lineWidth = width;
    stageBrush.strokeRect(from + width / 2, y + width / 2, Math.max(to - from - width, 2), tall - width);
}

function drawOverlay() {
    const ink = inks(), { width, height } = timeline;
    if (selection.range) {
        const [from, to] = selection.range.map(xOf);
        stageBrush.fillStyle = ink.focus;
        stageBrush.globalAlpha = 0.1;
        stageBrush.fillRect(Math.max(from, 0), 0, Math.max(Math.min(to, width) - Math.max(from, 0), 0), height);
        stageBrush.globalAlpha = 1;
        for (const x of [from, to]) if (x >= -1 && x <= width) stageBrush.fillRect(Math.min(x, width - 1), 0, 1, height);
    }
    for (const moment of selection.marks) {
        stageBrush.fillStyle = ink.focus;
        stageBrush.fillRect(Math.round(xOf(moment)), 0, 1, height);
    }
    const wanted = timeline.hover?.part ? timeline.hover.part.fn[timeline.hover.k] : book.ids.get(selection.name);
    if (wanted !== undefined && !timeline.isMoving) outlineFunction(wanted, ink);
    if (shades.isSearch) drawHits(ink);
    for (const call of timeline.found ?? []) outlineEntry(laneOf(call.track), call.row, call.begin, call.end, ink.hit, 2);
    const { call } = selection, { hover } = timeline;
    if (hover?.part) {
        const begin = hover.part.begin[hover.k];
        outlineEntry(hover.lane, hover.row, begin, begin + hover.part.length[hover.k], ink.text, 1.5);
    }
    if (call) outlineEntry(laneOf(call.track), call.row, call.begin, call.end, document.activeElement === stage ? ink.focus : ink.text, 2.5);
    if (timeline.pointer && !timeline.isMoving) {
        stageBrush.fillStyle = ink.edge;
        stageBrush.globalAlpha = 0.5;
        stageBrush.fillRect(timeline.pointer.x, 0, 1, height);
        stageBrush.globalAlpha = 1;
    }
    drawArrows([...panes.shown?.key === 'chain' ? timeline.arrows : [], ...timeline.isMoving ? [] : arrowOfWait()], ink);
}

const laneOf = track => lanes.all[track];

/// Outlines all calls of a function that are wide enough, thinly.
function outlineFunction(id, ink) {
    let left = 2000; // more are not told apart
    for (const lane of lanesIn(timeline.scrolled, timeline.scrolled + timeline.height)) {
        const part = pictures.get(lane.index);
        if (!part || !lane.isOpen) continue;
        for (let row = Math.max(part.firstRow, 0); row < Math.min(part.firstRow + part.rows, lane.rows); row++) {
            const [low, high] = entriesOf(part, row);
            for (let k = entryAfter(part, low, high, selection.from); k < high && part.begin[k] < selection.to; k++) {
                if (part.fn[k] !== id || part.length[k] < 3 * nsPerPx() || left-- <= 0) continue;
                outlineEntry(lane, row, part.begin[k], part.begin[k] + part.length[k], ink.text, 1);
            }
        }
    }
}

/// What a search has found, in any lane, as ticks below the ruler.
function drawHits(ink) {
    const columns = new Uint8Array(Math.ceil(timeline.width) + 1);
    for (const lane of lanes.all) {
        const part = pictures.get(lane.index);
        if (!part) continue;
        for (let k = 0; k < part.fn.length; k++) {
            if (!shades.hits[part.fn[k]] || part.begin[k] > selection.to || part.begin[k] + part.length[k] < selection.from) continue;
            columns[Math.max(xOf(part.begin[k]) | 0, 0)] = 1;
        }
    }
    stageBrush.fillStyle = ink.hit;
    columns.forEach((is, x) => { if (is) stageBrush.fillRect(x, 0, 2, 5); });
}

/// Draws arrows between moments of lanes, as of the chain of the selected call: each from where one thread had waited for another to
/// where that went on.
function drawArrows(arrows, ink) {
    if (arrows.length === 0) return;
    const place = ({ track, at }) => {
        const lane = laneOf(track);
        return { x: xOf(at), y: lane.top + Math.min(lane.height / 2, 16) - timeline.scrolled };
    };
    stageBrush.strokeStyle = ink.focus;
    stageBrush.lineWidth = 2;
    stageBrush.beginPath();
    for (const [from, to] of arrows.map(ends => ends.map(place))) {
        if (Math.max(from.x, to.x) < 0 || Math.min(from.x, to.x) > timeline.width) continue;
        const angle = Math.atan2(to.y - from.y, to.x - from.x);
        stageBrush.moveTo(from.x, from.y);
        stageBrush.lineTo(to.x, to.y);
        for (const side of [0.4, -0.4]) {
            stageBrush.moveTo(to.x - 9 * Math.cos(angle + side), to.y - 9 * Math.sin(angle + side));
            stageBrush.lineTo(to.x, to.y);
        }
    }
    stageBrush.stroke();
}

/// The lanes for who cannot see them: a table inside the canvas of what each shows, and what is selected.
function describeStage() {
    const table = make('table'), head = make('tr');
    const { from, to } = selection, title = `${counted(lanes.all.length, 'lane')}, ${duration(to - from)} from ${duration(from)}`;
    table.append(make('caption', title), head);
    for (const word of ['lane', 'calls', 'depth', 'outermost calls in view']) head.append(make('th', word));
    for (const { lane } of lanes.items.filter(item => item.lane).slice(0, 60)) {
        const part = pictures.get(lane.index), line = make('tr'), said = [];
        if (part) {
            const [low, high] = entriesOf(part, part.firstRow);
            for (let k = entryAfter(part, low, high, selection.from); k < high && part.begin[k] < selection.to && said.length < 8; k++) {
                said.push(part.calls[k] > 1 ? counted(part.calls[k], 'short call') : `${book.names[part.fn[k]]} ${duration(part.length[k])}`);
            }
        }
        for (const text of [laneTitle(lane), number(lane.track.calls), number(lane.depth), said.join(', ')]) line.append(make('td', text));
        table.append(line);
    }
    stage.replaceChildren(table);
}
