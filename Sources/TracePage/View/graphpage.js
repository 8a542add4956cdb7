// The page of a flame graph alone, as `fathom flame` writes it: there is no timeline, the table adds up what is zoomed to, and the address
// has the place in the graph.
const isGraphPage = () => session?.content === 'graph';

/// What is open where nobody chose: the table, where there is room for it.
const usualPane = () => innerWidth >= 1600 ? 'functions' : 'flame';
const toggleTable = () => showPane(panes.shown.key === 'functions' ? 'flame' : 'functions');

/// Shows the place that the address tells, once the graph is there.
function beginGraphPage() {
    element('sum').textContent = summary();
    if (tellsWall) element('sum').title = 'total: the sum over all threads; wall time: from the first call to the end of the last';
    element('colour').replaceChildren(...Object.keys(colourings).map(key => {
        const choice = make('option', colouringNames[key]);
        choice.value = key;
        return choice;
    }));
    setColouring(selection.by);
    restoreGraph();
    if (main.isTurned && !location.hash) { view.scrollTop = view.scrollHeight; main.draw(); }
    tellTurned();
    canvas.focus({ preventScroll: true });
}

function setColouring(key) {
    colouring = Object.hasOwn(colourings, key ?? '') ? key : data.colour;
    element('colour').value = colouring;
    main.draw();
    legend();
    for (const pane of panes.all) pane.grid?.draw();
}

/// The place in the graph, as it stands in the address; null stands for what is usual.
function graphState() {
    const { filter, grid } = paneOf('functions');
    return {
        zoom: zoomed || null, select: selected === zoomed ? null : selected,
        start: isFree() && !moving ? Math.round(main.shown.start) : null, span: isFree() && !moving ? Math.max(Math.round(main.shown.span), 1) : null,
        turned: main.isTurned === data.inverted ? null : 1, sandwich: element('sandwich').hidden ? null : 1,
        filter: filter?.value || null, order: grid && grid.sort !== 'self' ? grid.sort : null,
        rising: grid && grid.isRising !== (grid.columns.find(each => each.key === grid.sort)?.isText === true) ? 1 : null,
    };
}

/// What an address says of the graph, as far as it makes sense.
function graphStateAt(parts) {
    const number = key => /^\d+$/.test(parts.get(key) ?? '') ? Number(parts.get(key)) : null, has = key => parts.has(key) ? 1 : null;
    return {
        zoom: number('zoom'), select: number('select'), start: number('start'), span: number('span'), turned: has('turned'),
        sandwich: has('sandwich'), filter: parts.get('filter'), order: parts.get('order'), rising: has('rising'),
    };
}

function restoreGraph() {
    const { graph: state } = selection, frame = i => i !== null && i < count ? i : 0;
    const before = isRestoring;
    clearTimeout(rememberTimer);
    isRestoring = true;
    if (main.isTurned !== ((state?.turned === 1) !== data.inverted)) turn();
    if (element('sandwich').hidden !== !state?.sandwich) toggleSandwich();
    zoom(frame(state?.zoom ?? null));
    if (state?.span) showSpan({ start: state.start ?? 0, span: state.span });
    if ((state?.select ?? null) !== null) select(frame(state.select));
    const pane = paneOf('functions');
    if (pane.place) pane.restore();
    isRestoring = before;
}

/// The rows of the table.
function rowsOfGraph() {
    const found = sums({ first: Math.max(zoomed, 1), limit: end[zoomed] });
    const rows = names.flatMap((name, f) => found.calls[f] === 0 ? [] : [{
        f, name, place: placeIn(f), calls: found.calls[f], total: found.total[f], self: found.self[f], waits: found.waits[f],
        change: found.self[f] - found.before[f],
    }]);
    return { rows, narrow: found.narrow };
}

function columnsOfGraph(pane) {
    const share = of => row => percent(of(row), everything()), amount = (key, title, of, more) => ({
        key, title, width: 88, value: of, text: row => time(of(row)), tell: share(of), bar: true, ...more,
    });
    const [total, self] = [row => row.total, row => row.self];
    return [
        textColumn('name', 'Function', row => pane.label(row), { value: row => row.name, tell: row => [row.name, row.place].filter(text => text).join('\n') }),
        textColumn('place', 'Place', row => lastPart(row.place), { width: 150, value: row => row.place, tell: row => row.place, hint: 'where it is defined' }),
        numberColumn('calls', data.samples ? 'Samples' : 'Calls', row => row.calls, { width: 88 }),
        amount('total', 'Total', total, { hint: 'with what it called' }),
        { key: 'share', title: '%', width: 68, value: total, text: share(total), hint: 'total, of all' },
        amount('self', 'Self', self, { hint: 'without what it called' }),
        { key: 'ownshare', title: '%', width: 68, value: self, text: share(self), hint: 'self, of all' },
        ...knowsWaits ? [amount('waits', 'Waiting', row => row.waits, {
            bar: false, text: row => row.waits > 0 ? time(row.waits) : '',
            hint: 'of self: a thread was blocked or wanted a CPU, or a task was suspended',
        })] : [],
        ...data.changes ? [amount('change', 'Change', row => row.change, { bar: false, text: row => signed(row.change), hint: 'of self time' })] : [],
    ];
}

function summary() {
    if (!data.changes) return `total ${time(everything())}${tellsWall ? ` · wall time ${time(wall)}` : ''}`;
    const [before, after] = data.changes.totals;
    return `total ${time(before)} → ${time(after)} (${changeInPercent(before, after)})`;
}

function changeInPercent(before, after) {
    if (before === 0) return 'new';
    const part = 100 * (after - before) / before;
    return `${part > 0 ? '+' : part < 0 ? '−' : '±'}${Math.abs(part).toFixed(1)} %`;
}

/// On paper there is all of the graph, in light colours.
function setPrinting(isNow) {
    if (!isGraphPage() || !graph) return;
    isPrinting = isNow;
    document.documentElement.classList.toggle('is-printing', isNow);
    const rows = Math.floor(tallest / rowHeight);
    element('sum').textContent = summary() + (isNow && graph.rows > rows ? `, the first ${number(rows)} of ${number(graph.rows)} rows` : '');
    redrawAll();
}
addEventListener('beforeprint', () => setPrinting(true));
addEventListener('afterprint', () => setPrinting(false));
