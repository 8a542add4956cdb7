// The pictures that the timeline is drawn from: what is there of each lane, what is asked for, and what is at a point of them.
const pictures = new Map(); // by track: the last picture of it
const mostPictures = 512; // that are kept
const unseenRows = 64; // that are asked for at first

/// Asks for pictures of the lanes in view, where what is there is not fine enough or of another stretch. Open lanes and folded ones are
/// asked for apart, as these need other rows; each time, one question at most is under way.
function askForPictures() {
    const { scrolled, height } = timeline, near = lanesIn(scrolled - height / 2, scrolled + height * 1.5);
    for (const isOpen of [true, false]) {
        const group = near.filter(lane => lane.isOpen === isOpen);
        if (group.length === 0) continue;
        let first = Math.min(...group.map(firstRow)), last = Math.max(...group.map(rowLimit)) - 1;
        if (isOpen) {
            const ranges = group.map(lane => {
                const above = scrolled - height / 2 - lane.top - laneHead(lane);
                // One row more tells whether there is more.
                return [Math.max(rowAtHeight(lane, above), 0), Math.min(rowAtHeight(lane, above + 2 * height) + 1, lane.rows)];
            });
            first = Math.min(...ranges.map(each => each[0]));
            last = Math.max(...ranges.map(each => each[1]), first);
        }
        // What filters leave out depends on the callers.
        if (selection.filters.length) first = 0;
        // Of a lane that nobody has seen yet, nobody knows how deep it is.
        if (group.some(lane => !pictures.has(lane.index))) last = Math.max(last, unseenRows - 1);
        askForGroup(isOpen, group.filter(lane => !isFine(lane, first, last)), [first, last]);
    }
}

/// Whether the picture of a lane has all that can be shown of it.
function isFine(lane, first, last) {
    const part = pictures.get(lane.index);
    if (part?.isAll) return true;
    if (!part || part.isCoarse || part.isOld) return false;
    const step = nsPerPx() / timeline.ratio, is = (part.to - part.from) / part.width;
    return part.from <= Math.max(selection.from, session.begin) && part.to >= Math.min(selection.to, session.end)
        && part.firstRow <= first && part.lastRow >= Math.min(last, lane.depth - 1) && is <= step * 1.01 && is > step / 4;
}

async function askForGroup(group, wanted, rows) {
    const { inFlight } = timeline, before = inFlight.get(group);
    if (before) {
        // What is under way is of no use when it is of quite another stretch.
        const shared = Math.min(before.to, selection.to) - Math.max(before.from, selection.from);
        if (shared < (selection.to - selection.from) / 4 || before.to - before.from > 16 * (selection.to - selection.from)) before.stop.abort();
        return;
    }
    if (wanted.length === 0) return;
    const span = selection.to - selection.from, step = nsPerPx() / timeline.ratio;
    const from = Math.max(Math.floor(selection.from - beyond * span), session.begin);
    const to = Math.min(Math.ceil(selection.to + beyond * span), session.end);
    const question = { from, to, width: Math.max(Math.ceil((to - from) / step), 1), tracks: wanted.map(lane => lane.index), rows };
    // What has been answered is not asked again, whatever the answer was, unless a finer one was promised.
    const key = JSON.stringify(question);
    if (timeline.answered.get(group) === key) return;
    const mine = { from, to, stop: new AbortController(), begun: performance.now() };
    inFlight.set(group, mine);
    let wait = 0, hasGrown = false;
    try {
        const picture = await source.picture(question, mine.stop.signal);
        await readUpTo(picture.known);
        for (const [track, part] of picture.tracks) {
            if (part.isCoarse) wait = 400;
            pictures.delete(track); // so that the last ones are those that were asked for last
            pictures.set(track, part);
            for (const find of [deepen, findTrunk]) hasGrown = find(lanes.all[track], part) || hasGrown;
        }
        for (const track of pictures.keys()) {
            if (pictures.size > mostPictures && !wanted.some(lane => lane.index === track)) pictures.delete(track);
        }
        timeline.answered.set(group, wait ? null : key);
        if (hasGrown) layOut();
        timeline.refinedAt = performance.now();
        if (!tints.by) chooseTints();
        tellTrouble(null);
    } catch (problem) {
        wait = problem.name === 'AbortError' ? 0 : 2000;
        if (wait) tellTrouble(problem);
    }
    inFlight.delete(group);
    if (wait) setTimeout(() => redraw(true), wait); else redraw(true);
}

/// Says beside the timeline why it cannot be drawn.
function tellTrouble(problem) {
    const place = element('trouble');
    place.hidden = problem === null;
    if (problem) place.textContent = problem instanceof Refusal ? problem.message : `the timeline cannot be drawn: ${problem.message}`;
}

/// What is at a point of the stage: {lane, row, k, part}, {lane, mark}, {lane, counter, value}, or {lane}.
function hitAt(x, y) {
    const item = itemAt(y + timeline.scrolled), lane = item?.lane;
    if (!lane) return {};
    const part = pictures.get(lane.index), moment = momentAtX(x), near = 3 * nsPerPx();
    const below = y + timeline.scrolled - lane.top - 2, row = rowAtHeight(lane, below - rowsTop(lane));
    if (lane.isOpen && row < 0 && lane.marks.length) {
        const mark = lane.marks.find(each => Math.abs(each[0] - moment) < 2 * near);
        return { lane, mark };
    }
    if (lane.isOpen && row >= lane.rows) {
        const counter = lane.counters[Math.floor((below - laneHead(lane) - openHeight(lane, lane.rows)) / laneParts.counter)];
        return { lane, counter, value: counter?.points.findLast(each => each[0] <= moment) };
    }
    if (!part || row < firstRow(lane) || row >= rowLimit(lane)) return { lane };
    const [low, high] = entriesOf(part, row), at = entryAfter(part, low, high, moment);
    let best = -1, distance = near / 2;
    for (const k of [at - 1, at]) {
        if (k < low || k >= high) continue;
        const away = Math.max(part.begin[k] - moment, moment - part.begin[k] - part.length[k], 0);
        if (away <= distance) [best, distance] = [k, away];
    }
    return best < 0 ? { lane } : { lane, row, k: best, part };
}
