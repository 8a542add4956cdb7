// The selected call: what is told of it, and how one goes from call to call.

/// When something was, as pairs of a word and its value.
const momentFacts = (word, moment) => [[word, duration(moment)], ['time of day', `${clock(moment)} UTC`]];

/// What is known of an entry of a picture, as pairs of a word and its value.
function entryFacts({ part, k }) {
    if (part.calls[k] <= 1) return [['total', duration(part.length[k])], ...momentFacts('begins at', part.begin[k])];
    return [
        ['short calls', number(part.calls[k])], ['they took', `${duration(part.busy[k])} of ${duration(part.length[k])}`],
        ...momentFacts('begin at', part.begin[k]),
    ];
}

/// Shows what is at the pointer, beside it.
function tellHit(hit, event) {
    const tip = element('tip'), list = make('dl'), title = make('b'), nodes = [list, title];
    let words = '', told = [];
    if (hit.mark) [words, told] = [hit.mark[1], momentFacts('at', hit.mark[0])];
    else if (hit.value) [words, told] = [hit.counter.name, [['value', number(hit.value[1])], ...momentFacts('since', hit.value[0])]];
    else if (hit.part) {
        const id = hit.part.fn[hit.k], isRun = hit.part.calls[hit.k] > 1;
        [words, told] = [isRun ? `mostly ${book.names[id]}` : book.names[id] ?? '…', entryFacts(hit)];
        if (book.modules[id]) nodes.push(make('p', [placeOf(id), lastPart(book.modules[id])].filter(text => text).join(' · ')));
        const at = Math.floor((momentAtX(event.offsetX) - hit.part.from) / (hit.part.to - hit.part.from) * hit.part.width);
        const [blocked, wanting] = [hit.part.blocked[at], hit.part.wanting[at]];
        if (blocked + wanting > 127) nodes.push(make('p', wanting > blocked ? 'here it wanted a CPU' : 'here it was blocked'));
        if (isRun) nodes.push(make('p', isFinest() ? 'this page was saved without single ones' : 'a click zooms in to them'));
        if (hit.wait) told.push(...waitFacts(hit.wait));
    } else if (hit.wait) [words, told] = [laneTitle(hit.lane), waitFacts(hit.wait)];
    else { tip.hidden = true; return; }
    for (const [word, value] of told) list.append(make('dt', word), make('dd', value));
    tip.replaceChildren(...nodes);
    tip.hidden = false;
    fill(title, words, 3);
    place(tip, event.clientX, event.clientY);
}

/// Selects an entry: a call, of which more is asked for; into a run of short calls it zooms.
function chooseEntry({ lane, row, k, part }) {
    const begin = part.begin[k], end = begin + part.length[k];
    if (part.calls[k] > 1) return glideTo(begin - part.length[k] * 0.1, end + part.length[k] * 0.1);
    choose({ call: { track: lane.index, row, begin, end }, name: book.names[part.fn[k]] ?? null }, true);
}

/// Arguments, as an object or a list of {name, value}, and what the call returned.
function valuesText(given, result) {
    const pairs = Array.isArray(given) ? given.map(each => [each.name, each.value]) : Object.entries(given ?? {});
    const text = pairs.map(pair => pair.join('=')).join(', ');
    return result === null || result === undefined ? text : `${text} = ${result}`.trim();
}

/// What is known of a call. Filters hide calls above it, so it may lie deeper than where a tree shows it; `exact` is its name then.
async function findCall(call) {
    const moment = Math.floor((call.begin + call.end) / 2);
    for (let { row } = call; ; row++) {
        const known = await source.call(call.track, row, moment);
        if (call.exact && (known.begin !== call.begin || known.name !== call.exact)) continue;
        call.row = row;
        return known;
    }
}

/// Tells of the selected call below, once it is known.
async function tellCall() {
    if (isGraphPage()) return; // of the frame is told
    const { call } = selection, place = element('status');
    if (!call) {
        place.textContent = selection.name ?? '';
        return;
    }
    const lane = laneOf(call.track);
    if (!lane) return;
    let told;
    try {
        const known = await findCall(call);
        if (selection.call !== call) return;
        // What the picture has is less exact.
        if (known.end !== null) Object.assign(call, { begin: known.begin, end: known.end });
        // Its callers, and itself.
        call.path = known.path.length > call.row ? known.path : [...known.path, known.name];
        bringGraph();
        told = [
            ['total', duration(known.total)],
            ...[['self', known.self], ['blocked', known.blocked], ['wanted a CPU', known.wanting]].filter(([, ns]) => ns !== null && ns !== undefined)
                .map(([word, ns]) => [word, duration(ns)]),
            ['at', duration(known.begin)], ...known.state === 'complete' ? [] : [['state', known.state]],
        ];
        const texts = [words(told), valuesText(known.arguments, known.result), laneTitle(lane)];
        const parts = [make('b', known.name), ...texts.map(text => make('span', text))];
        for (const each of parts) each.title = each.textContent;
        place.replaceChildren(...parts.filter(each => each.textContent));
    } catch (problem) {
        if (selection.call !== call) return;
        place.textContent = `${selection.name ?? ''} · ${duration(call.end - call.begin)} · ${problem.message}`;
    }
    redraw();
}

/// Centres the selected call, and again fits it.
function centreCall() {
    const { call } = selection;
    if (!call) return;
    revealCall(call);
    const middle = (call.begin + call.end) / 2, long = Math.max(call.end - call.begin, 1), span = selection.to - selection.from;
    const isCentred = timeline.centred === call;
    timeline.centred = isCentred ? null : call;
    if (isCentred) glideTo(call.begin - long * 0.02, call.end + long * 0.02);
    else glideTo(middle - Math.max(span, long * 1.1) / 2, middle + Math.max(span, long * 1.1) / 2);
}

function zoomToCall({ begin, end }) {
    const margin = Math.max((end - begin) * 0.02, 1);
    glideTo(begin - margin, end + margin);
}

/// Selects the next call of the row, or the one before; beyond what is seen, the view moves along.
function stepCall(by, patience = 4) {
    const { call } = selection;
    if (!call) return stepInto();
    const part = pictures.get(call.track);
    if (part) {
        const [low, high] = entriesOf(part, call.row), near = Math.max((call.end - call.begin) / 2, 0.5);
        let k = entryAfter(part, low, high, call.begin + near);
        for (k += by; k >= low && k < high; k += by) if (part.calls[k] <= 1) break;
        if (k >= low && k < high) {
            const begin = part.begin[k], end = begin + part.length[k];
            choose({ call: { track: call.track, row: call.row, begin, end }, name: book.names[part.fn[k]] }, true);
            if (begin < selection.from || end > selection.to) glideTo(...aroundCall(begin, end));
            return;
        }
    }
    if (patience === 0 || by < 0 && selection.from <= session.begin || by > 0 && selection.to >= session.end) return;
    shift(by * 0.5);
    setTimeout(() => stepCall(by, patience - 1), 200);
}

function aroundCall(begin, end) {
    const span = Math.max(selection.to - selection.from, (end - begin) * 1.1), middle = (begin + end) / 2;
    return [middle - span / 2, middle + span / 2];
}

/// Selects the longest outermost call in view, where none is selected.
function stepInto() {
    const lane = lanesIn(timeline.scrolled, timeline.scrolled + timeline.height).find(each => pictures.has(each.index));
    if (!lane) return;
    const part = pictures.get(lane.index), [low, high] = entriesOf(part, part.firstRow);
    let best = -1;
    for (let k = entryAfter(part, low, high, selection.from); k < high && part.begin[k] < selection.to; k++) {
        if (part.calls[k] <= 1 && (best < 0 || part.length[k] > part.length[best])) best = k;
    }
    if (best >= 0) chooseEntry({ lane, row: part.firstRow, k: best, part });
}

/// Selects the call around the selected one, or the longest in it.
function stepRow(by) {
    const { call } = selection;
    if (!call) return stepInto();
    const part = pictures.get(call.track), row = call.row + by;
    if (!part || row < 0) return;
    const [low, high] = entriesOf(part, row);
    let best = -1;
    for (let k = entryAfter(part, low, high, by < 0 ? (call.begin + call.end) / 2 : call.begin); k < high && part.begin[k] < call.end; k++) {
        if (part.calls[k] <= 1 && (best < 0 || part.length[k] > part.length[best])) best = k;
    }
    if (best < 0) return;
    const lane = laneOf(call.track), begin = part.begin[best];
    if (row >= lane.rows) foldLane(lane, Math.min(lane.depth, row + 6));
    choose({ call: { track: call.track, row, begin, end: begin + part.length[best] }, name: book.names[part.fn[best]] }, true);
    revealCall(selection.call);
}

/// Scrolls so that a call can be seen, and opens its lane so far.
function revealCall(call) {
    const lane = laneOf(call.track);
    if (!lane) return;
    if (selection.hidden.includes(lane.index)) choose({ hidden: selection.hidden.filter(each => each !== lane.index) });
    if (call.row >= lane.rows) foldLane(lane, Math.min(lane.depth, call.row + 6));
    const y = lane.top + 2 + rowsTop(lane) + rowPlace(lane, call.row), box = element('lanes');
    if (y < box.scrollTop || y + laneParts.row > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 3;
    redraw();
}

const revealItem = item => {
    const box = element('lanes');
    if (item.top < box.scrollTop) box.scrollTop = item.top;
    if (item.top + Math.min(item.height, box.clientHeight) > box.scrollTop + box.clientHeight) {
        box.scrollTop = item.top + Math.min(item.height, box.clientHeight) - box.clientHeight;
    }
    drawTimeline();
};

const chooseRange = (from, to) => choose({
    range: from === null ? null : [Math.max(Math.min(from, to), session.begin), Math.min(Math.max(from, to), session.end)],
});

/// Makes the selected call the range, or what is seen.
const rangeOfCall = () => selection.call ? choose({ range: [selection.call.begin, selection.call.end] }, true)
    : choose({ range: [selection.from, selection.to] }, true);

/// Marks a moment: the pointer's, or where the selected call begins; a mark that is there goes.
function markMoment() {
    const moment = Math.round(timeline.pointer ? momentAtX(timeline.pointer.x) : selection.call?.begin ?? (selection.from + selection.to) / 2);
    const near = selection.marks.find(each => Math.abs(each - moment) < 6 * nsPerPx());
    const { marks } = selection;
    choose({ marks: near === undefined ? [...marks, moment].sort((a, b) => a - b) : marks.filter(each => each !== near) }, true);
}
