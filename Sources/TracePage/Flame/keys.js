// What keys do.
const help = element('help');

const keys = {
    '/': () => { element('search').focus(); element('search').select(); },
    '?': () => help.showModal(),
    i: turn,
    n: () => next(1),
    N: () => next(-1),
    t: () => togglePanel('table'),
    s: () => togglePanel('sandwich'),
    c: copy,
    a: toggleClock,
    o: toggleLane,
    '+': () => scaleAbout(main.width / 2, 1 / 1.5),
    '-': () => scaleAbout(main.width / 2, 1.5),
    '<': () => pan(-0.25),
    '>': () => pan(0.25),
    Home: () => zoom(0),
    Backspace: () => zoom(Math.max(parent[zoomed], 0)),
    ArrowLeft: () => select(graph.sibling(selected, -1)),
    ArrowRight: () => select(graph.sibling(selected, 1)),
    ArrowUp: () => select(main.isTurned ? graph.callee(selected) : Math.max(parent[selected], 0)),
    ArrowDown: () => select(main.isTurned ? Math.max(parent[selected], 0) : graph.callee(selected)),
};
keys['='] = keys['+'];

function escape(isTyping, isFilter) {
    if (isFilter) {
        element('filter').value = '';
        fillTable();
        remember();
    } else if (isTyping || element('search').value) {
        element('search').value = '';
        search();
        remember();
    } else if (range) setRange(null);
    else zoom(0);
    canvas.focus();
}

addEventListener('keydown', event => {
    if (help.open) return;
    const isSearch = event.target === element('search'), isFilter = event.target === element('filter');
    if (event.key === 'Escape') {
        event.preventDefault();
        return escape(isSearch, isFilter);
    }
    if (isSearch && event.key === 'Enter') { event.preventDefault(); next(event.shiftKey ? -1 : 1); }
    if (isSearch || isFilter || event.ctrlKey || event.metaKey || event.altKey || event.target.localName === 'select') return;
    const isEnter = event.key === 'Enter' && [canvas, document.body].includes(event.target);
    const action = isEnter ? () => range ? showSpan({ start: range.start, span: range.end - range.start }, true) : zoom(selected)
        : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
});
