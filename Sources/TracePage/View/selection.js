// What is looked at: one selection for all panes. It is in the address, behind the #, so that it can be shared and Back leads back.
const selection = {
    from: 0, to: 1, // ns since the session's start: what the timeline shows
    range: null, // [from, to], ns: a stretch that was chosen
    name: null, // of a function
    call: null, // {track, row, begin, end}
    filters: [], // as on the command line, a word each
    marks: [], // ns
    pane: null, by: null, search: '', // the pane in front, what colours tell, what is searched for
    graph: null, // the place in the graph, where that is all there is
    file: null, // of the source, where another one than that of the function was chosen
    widths: '', // what frames of the flame graph are as wide as, as options have it; empty for all time
    clock: null, // 1 where moments are told by the time of day
    sort: 'activity', order: [], folds: {}, hidden: [], pinned: [], // of lanes; folds: 0 for folded, or a number of rows, by track
};
const selectionListeners = []; // each is told which keys have changed, as a Set
let session = null; // what is viewed
let selectionTimer = 0, isRestoring = false;

/// The stretch that all panes show.
const stretch = () => selection.range ?? [selection.from, selection.to];
const isWhole = ([from, to]) => from <= session.begin && to >= session.end;

/// Changes the selection, and tells everybody.
///
/// - `isStep`: whether Back leads to what was selected before.
function choose(part, isStep = false) {
    const changed = new Set(Object.keys(part).filter(key => JSON.stringify(part[key]) !== JSON.stringify(selection[key])));
    if (changed.size === 0) return;
    if (isStep) writeAddress('replaceState'); // what a movement has left out
    Object.assign(selection, part);
    for (const each of selectionListeners) each(changed);
    if (isRestoring) return;
    clearTimeout(selectionTimer);
    if (isStep) writeAddress('pushState'); else selectionTimer = setTimeout(() => writeAddress('replaceState'), 200);
}

const lists = ['marks', 'order', 'hidden', 'pinned'];

function addressOf(each) {
    const parts = new URLSearchParams(), note = (key, value) => { if (value || value === 0) parts.append(key, value); };
    if (!isWhole([each.from, each.to])) {
        note('from', Math.round(each.from));
        note('to', Math.round(each.to));
    }
    note('follow', growth.isFollowed ? 1 : null);
    note('range', each.range?.map(Math.round).join('-'));
    if (!isGraphPage()) note('function', each.name);
    note('call', each.call && [each.call.track, each.call.row, Math.round(each.call.begin), Math.round(each.call.end)].join('-'));
    for (const word of each.filters) note('o', word);
    for (const key of lists) note(key, each[key].map(Math.round).join('-'));
    note('folds', Object.entries(each.folds).map(pair => pair.join('.')).join('-'));
    note('pane', isGraphPage() && each.pane === usualPane() ? null : each.pane);
    for (const [key, value] of Object.entries(each.graph ?? {})) note(key, value);
    note('by', each.by);
    note('widths', each.widths);
    note('file', each.file);
    note('clock', each.clock);
    note('side', shownSide === 'before' ? shownSide : null);
    note('search', each.search);
    note('sort', each.sort === 'activity' ? null : each.sort);
    return `#${parts}`;
}

/// What an address says, as far as it makes sense.
function selectionAt(hash) {
    const parts = new URLSearchParams(hash.slice(1)), { begin, end } = session;
    const numbers = text => (text ?? '').split('-').filter(each => /^\d+(\.\d+)?$/.test(each)).map(Number);
    const isNumber = text => /^\d+$/.test(text ?? '');
    let [from, to] = ['from', 'to'].map(key => Number(parts.get(key)));
    if (!isNumber(parts.get('from')) || !isNumber(parts.get('to')) || from >= to) [from, to] = [begin, end];
    const range = numbers(parts.get('range')), call = numbers(parts.get('call'));
    const folds = {};
    for (const each of (parts.get('folds') ?? '').split('-')) {
        const [track, rows] = each.split('.');
        if (isNumber(track) && isNumber(rows)) folds[track] = Number(rows);
    }
    const chosen = {
        from, to, range: range.length === 2 && range[0] < range[1] ? range : null, name: parts.get('function'),
        call: call.length === 4 ? { track: call[0], row: call[1], begin: call[2], end: call[3] } : null,
        filters: parts.getAll('o'), folds, pane: parts.get('pane'), by: parts.get('by'), search: parts.get('search') ?? '',
        widths: parts.get('widths') ?? '', file: parts.get('file'), clock: parts.has('clock') ? 1 : null,
        sort: ['name', 'time', 'order'].includes(parts.get('sort')) ? parts.get('sort') : 'activity',
    };
    for (const key of lists) chosen[key] = numbers(parts.get(key));
    if (isGraphPage()) chosen.graph = graphStateAt(parts);
    return chosen;
}

function writeAddress(how) {
    clearTimeout(selectionTimer);
    const text = addressOf(selection);
    if (text !== (location.hash || '#')) history[how](null, '', text);
}

/// Goes where the address says.
function followAddress() {
    if ((new URLSearchParams(location.hash.slice(1)).get('side') === 'before') !== (shownSide === 'before')) return location.reload();
    isRestoring = true;
    choose(selectionAt(location.hash));
    isRestoring = false;
}
