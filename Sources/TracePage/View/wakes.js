// What threads waited for, and who made them go on. Where the pointer is at a wait that another thread ended, an arrow leads from there to
// the wait's end.
const wakes = { byTrack: [], asked: null, timer: 0, shown: null };

/// Asks for the waits of what is seen, once that has settled.
function askForWaits() {
    if (!session.waits || timeline.isMoving) return;
    const seen = lanesIn(timeline.scrolled, timeline.scrolled + timeline.height).map(lane => lane.index);
    const question = source.isFrozen ? {} : { from: Math.floor(selection.from), to: Math.ceil(selection.to), tracks: seen.sort((a, b) => a - b).join() };
    const key = JSON.stringify(question);
    if (wakes.asked === key) return;
    wakes.asked = key;
    clearTimeout(wakes.timer);
    wakes.timer = setTimeout(async () => {
        const answer = await source.waits(question).catch(() => null); // without it, all else is there
        if (wakes.asked !== key || !answer) return;
        if (answer.tracks) wakes.byTrack = readWaits(answer); else wakes.asked = null; // not all records are read yet
        if (timeline.pointer && lastPointed) tellPointed(lastPointed);
    }, 150);
}

/// The waits of each track, as FrozenWaits.swift writes them: {begin, end, what, waker: {track, at, path}}.
const readWaits = ({ texts, tracks }) => tracks.map(numbers => Array.from({ length: numbers.length / 6 }, (_, at) => {
    const [begin, end, what, track, moment, path] = numbers.slice(6 * at, 6 * at + 6);
    return { begin, end, what: texts[what], waker: path < 0 ? null : { track, at: moment, path: texts[path] } };
}));

/// The wait of a lane at a moment, or null.
function waitAt(lane, moment) {
    const waits = wakes.byTrack[lane?.index] ?? [];
    let low = 0, high = waits.length;
    while (low < high) {
        const at = low + high >> 1;
        if (waits[at].begin <= moment) low = at + 1; else high = at;
    }
    return low > 0 && waits[low - 1].end >= moment ? waits[low - 1] : null;
}

/// What is known of a wait, as pairs of a word and its value.
function waitFacts({ begin, end, what, waker }) {
    const lane = laneOf(waker?.track), isNoCall = waker?.path.startsWith(`thread ${lane?.track.tid}`); // it ended, or no call was open
    const by = waker && [lane?.track.label, isNoCall ? '' : waker.path].filter(text => text).join(', ');
    return [['waited for', what], ['for', duration(end - begin)], ...by ? [['ended by', by]] : []];
}

/// The arrow of the wait at the pointer, from who ended it, where that can be seen.
function arrowOfWait() {
    const { lane, wait } = wakes.shown ?? {}, { waker } = wait ?? {}, isSeen = each => lanes.items.some(item => item.lane === each);
    return waker && waker.track >= 0 && isSeen(lane) && isSeen(laneOf(waker.track)) ? [[waker, { track: lane.index, at: wait.end }]] : [];
}
