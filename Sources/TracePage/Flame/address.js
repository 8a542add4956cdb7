// Where the reader stands is in the page's address, behind the #, so that it can be shared, and Back leads back.
let isRecalling = false, remembering = 0;

function address() {
    const parts = new URLSearchParams();
    const note = (key, value) => { if (value !== null && value !== '' && value !== false) parts.set(key, value); };
    note('zoom', zoomed || null);
    if (isFree()) {
        note('start', Math.round(main.shown.start));
        note('span', Math.max(Math.round(main.shown.span), 1));
    }
    note('select', selected === zoomed ? null : selected);
    note('search', element('search').value);
    note('panel', panel === usualPanel() ? null : panel ?? 'none');
    note('filter', panel === 'table' ? element('filter').value : '');
    note('sort', panel === 'table' && sortKey !== 'self' ? sortKey : null);
    note('reversed', panel === 'table' && isSortReversed() ? 1 : null);
    note('colour', colouring === data.colour ? null : colouring);
    note('turned', main.isTurned === data.inverted ? null : 1);
    note('range', range && `${Math.round(range.start)}-${Math.round(range.end)}`);
    note('clock', isClock ? 1 : null);
    return `#${parts}`;
}

/// Puts where the reader stands into the address: as a step to come Back from, or else in a moment, in place of what was there.
function remember(isStep = false) {
    if (isRecalling) return;
    clearTimeout(remembering);
    if (isStep) return keep('pushState');
    remembering = setTimeout(() => keep('replaceState'), 200);
}

function keep(how) {
    const text = address();
    if (text !== (location.hash || '#')) history[how](null, '', text);
}

/// Goes where the address says, as far as there is such a place.
function recall() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const whole = (text, limit) => /^\d+$/.test(text ?? '') && Number(text) < limit ? Number(text) : 0;
    isRecalling = true;
    element('search').value = parts.get('search') ?? '';
    search();
    setColouring(Object.hasOwn(colourings, parts.get('colour') ?? '') ? parts.get('colour') : data.colour);
    if (main.isTurned !== (parts.has('turned') !== data.inverted)) turn();
    if (isClock !== parts.has('clock')) toggleClock();
    element('filter').value = parts.get('filter') ?? '';
    sortBy(parts.get('sort') ?? 'self', parts.has('reversed'));
    zoom(whole(parts.get('zoom'), count));
    if (parts.has('span')) showSpan({ start: whole(parts.get('start'), Infinity), span: whole(parts.get('span'), Infinity) });
    if (parts.has('select')) select(whole(parts.get('select'), count));
    const bounds = /^(\d+)-(\d+)$/.exec(parts.get('range') ?? '');
    setRange(bounds && Number(bounds[1]), bounds && Number(bounds[2]));
    setPanel(['table', 'sandwich'].includes(parts.get('panel')) ? parts.get('panel') : parts.has('panel') ? null : usualPanel());
    isRecalling = false;
}
