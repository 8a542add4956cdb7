// The functions as a table to sort and filter. Only the lines in view are there.
const lineHeight = 24; // px
let columnsOfTable = [];
const sortKeys = ['name', 'calls', 'total', 'self'];
let sortKey = 'self', isRising = false;
let functions = []; // those of the table, in its order
let found = null; // their sums

/// What of the graph the table adds up.
function scope() {
    if (range) return { first: 1, limit: count, from: range.start, to: range.end };
    if (isFree()) {
        return { first: 1, limit: count, from: main.shown.start, to: main.shown.start + main.shown.span };
    }
    return { first: Math.max(zoomed, 1), limit: end[zoomed] };
}

function fillTable() {
    found = sums(scope());
    const caption = range ? `in ${time(range.end - range.start)} from ${since(range.start)}`
        : isFree() ? 'in what is shown' : `in ${middle(graph.label(zoomed), 60)}`;
    const narrow = found.narrow > 0 ? `, without ${tooNarrow(found.narrow)}` : '';
    const test = matcher(element('filter').value);
    element('filter').classList.toggle('none', !test);
    functions = [];
    names.forEach((text, f) => { if (found.calls[f] > 0 && (!test || test(text))) functions.push(f); });
    sortFunctions();
    element('scope').textContent =
        test ? `${counted(functions.length, 'function')} ${caption}${narrow}` : 'no regular expression';
    showLines();
}

function sortFunctions() {
    const sign = isRising ? 1 : -1;
    if (sortKey === 'name') functions.sort((a, b) => sign * (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    else functions.sort((a, b) => sign * (found[sortKey][a] - found[sortKey][b]) || a - b);
    for (const node of element('heads').children) {
        if (node.dataset.key !== sortKey) node.removeAttribute('aria-sort');
        else node.setAttribute('aria-sort', isRising ? 'ascending' : 'descending');
    }
}

/// Sorts by a column: names from A, numbers from the greatest; or the other way round.
function sortBy(key, isReversed) {
    if (!sortKeys.includes(key) || !columnsOfTable.some(column => column.key === key)) return;
    isRising = isReversed !== (key === 'name');
    sortKey = key;
    if (panel === 'table') { sortFunctions(); showLines(); }
    remember();
}

const isSortReversed = () => isRising !== (sortKey === 'name');

/// Puts the lines in view into the table, and room in place of the others.
function showLines() {
    const box = element('lines'), body = element('functions');
    const first = Math.max(Math.floor(box.scrollTop / lineHeight) - 10, 0);
    const last = Math.min(first + Math.ceil(box.clientHeight / lineHeight) + 20, functions.length);
    const room = lines => {
        const line = make('tr');
        line.setAttribute('aria-hidden', true);
        line.style.height = `${lines * lineHeight}px`;
        return line;
    };
    element('table').setAttribute('aria-rowcount', functions.length + 1);
    const most = found.total.reduce((most, each) => Math.max(most, each), 1);
    const focus = body.contains(document.activeElement) ? document.activeElement.dataset.f : null;
    const letters = lettersOfNames();
    const lines = functions.slice(first, last).map((f, at) => {
        const line = make('tr');
        line.tabIndex = 0;
        line.dataset.f = f;
        line.setAttribute('aria-rowindex', first + at + 2);
        line.setAttribute('aria-selected', f === fn[selected]);
        // With arguments of templates, in which alone two names may differ.
        const label = make('th', middle(names[f], letters));
        label.scope = 'row';
        label.title = [names[f], placeIn(f)].filter(part => part).join('\n');
        const place = make('td', placeIn(f).slice(placeIn(f).lastIndexOf('/') + 1), 'place');
        place.title = placeIn(f);
        line.append(label, place, make('td', number(found.calls[f]), 'calls'));
        for (const key of ['total', 'self']) {
            const cell = make('td', time(found[key][f])), share = percent(found[key][f], everything());
            cell.title = share;
            cell.style.backgroundSize = `${Math.min(100 * found[key][f] / most, 100)}% 100%`;
            line.append(cell, make('td', share, key === 'self' ? 'share self' : 'share'));
        }
        return line;
    });
    body.replaceChildren(room(first), ...lines, room(functions.length - last));
    if (focus !== null) body.querySelector(`[data-f="${focus}"]`)?.focus({ preventScroll: true });
}

/// How many letters of a name the table's first column has room for, at least so many that two names can be told apart.
function lettersOfNames() {
    const room = element('heads').firstChild.clientWidth - 20; // px, without the cell's padding
    return Math.max(Math.floor(room / letterWidth(main.context, '0')), 8);
}

/// Selects the widest frame of a function, of what is zoomed to if there is one.
function selectFunction(f) {
    let best = -1;
    for (const [first, limit] of [[zoomed, end[zoomed]], [1, count]]) {
        for (let i = first; i < limit; i++) {
            if (fn[i] === f && (best < 0 || total[i] > total[best])) best = i;
        }
        if (best >= 0) break;
    }
    if (best < 0) return;
    if (!graph.isInside(best, zoomed)) zoom(0);
    select(best);
}

loaders.push(() => {
    columnsOfTable = [
        { key: 'name', title: 'Function' }, { key: 'place', title: 'Place', hint: 'where it is defined' },
        { key: 'calls', title: data.samples ? 'Samples' : 'Calls' },
        { key: 'total', title: 'Total', hint: 'with what it called' }, { key: 'totalShare', title: '%', hint: 'total, of all' },
        { key: 'self', title: 'Self', hint: 'without what it called' }, { key: 'selfShare', title: '%', hint: 'self, of all' },
    ];
    element('heads').replaceChildren(...columnsOfTable.map(({ key, title, hint }) => {
        const head = make('th'), button = make('button', title);
        head.dataset.key = key;
        head.scope = 'col';
        if (hint) head.title = hint;
        head.className = key === 'place' || key === 'calls' ? key : key === 'totalShare' ? 'share' : key === 'selfShare' ? 'share self' : '';
        button.onclick = () => sortBy(key, key === sortKey && !isSortReversed());
        head.append(sortKeys.includes(key) ? button : title);
        return head;
    }));
});
element('lines').addEventListener('scroll', showLines);
element('filter').addEventListener('input', () => { element('lines').scrollTop = 0; fillTable(); remember(); });
element('functions').addEventListener('click', event => {
    const line = event.target.closest('tr[data-f]');
    if (line) selectFunction(Number(line.dataset.f));
});
element('functions').addEventListener('keydown', event => {
    const line = event.target.closest('tr[data-f]'), go = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' };
    if (!line) return;
    if (event.key === 'Enter') selectFunction(Number(line.dataset.f));
    else if (go[event.key]) line[go[event.key]]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
});
