// The flame graph of the stretch, with what leads to the selected function and what it leads to beside it.
addPane({
    key: 'flame', title: 'Flame graph', hint: 'Call paths of the stretch, as wide as their time', of: () => selection.widths,
    isFor: () => !isArticlePage() && knows('flame'),
    make(place) {
        place.append(element('flame'));
        element('flame').hidden = false;
        for (const [key, text] of widthChoices()) {
            const choice = make('option', text);
            choice.value = key;
            element('widths').append(choice);
        }
        element('widths').hidden = element('widths').children.length < 2;
        element('widths').value = selection.widths;
        element('widths').onchange = () => choose({ widths: element('widths').value }, true);
    },
    async show() {
        const answer = await ask(this, 'flame', [...widthOptions(), ...clippedOptions()]);
        if (!answer || answer === this.answer && graph) return;
        const before = graph ? [pathOf(zoomed), pathOf(selected)] : [[], []];
        load({ ...answer });
        this.answer = answer;
        const [zoomedTo, chosen] = before.map(frameAt);
        focus = null;
        search();
        isFollowing = true;
        zoom(zoomedTo);
        const wanted = selection.name !== null && names[fn[chosen]] !== selection.name ? widestOf(selection.name, zoomedTo) : chosen;
        select(wanted ?? chosen);
        isFollowing = false;
        if (before[1].length === 0 && !isGraphPage()) scrollToBranches();
        main.draw();
        legend();
        if (isGraphPage()) beginGraphPage();
        if (selection.call) tellCall(); // not of the frame
    },
    whenShown() { if (graph) { main.fit(); main.draw(); legend(); drawSandwich(); } },
});

/// What frames can be as wide as: options of flame, without their dashes.
const widthChoices = () => [
    ...session.compared ? [['', 'change since before'], ['plain', 'all time']] : [['', 'all time']], ...!session.splits ? []
        : [['time=cpu', 'time on a CPU'], ['time=blocked', 'time blocked'], ['time=runnable', 'time wanting a CPU']],
    ...session.memory ? [['memory=bytes', 'bytes allocated'], ['memory=live', 'bytes never freed']] : [],
    ...session.faults ? [['faults=minor', 'minor page faults'], ['faults=major', 'major page faults']] : [],
].filter(([key]) => !key || key === 'plain' || knows(`flame --${key}`));
const widthOptions = () => session.compared && !selection.widths ? ['--diff'] : selection.widths !== 'plain' && widthChoices().some(([key]) => key && key === selection.widths) ? [`--${selection.widths}`] : [];

/// Scrolls to where the graph first branches: what is above that, one path has all the time of.
function scrollToBranches() {
    let i = 0;
    while (graph.callee(i) !== i && total[graph.callee(i)] >= 0.9 * total[i]) i = graph.callee(i);
    main.fit();
    const y = main.rowTop(row[i]), room = main.height - 3 * rowHeight;
    if (main.isTurned ? y > 2 * rowHeight : y < room) return;
    main.view.scrollTop += main.isTurned ? y - room : y - 2 * rowHeight;
}

/// The functions that lead to a frame, from the root.
function pathOf(i) {
    const path = [];
    for (; i > 0; i = parent[i]) path.unshift(names[fn[i]] ?? '');
    return path;
}

/// The frame that a path leads to, as far as it goes.
function frameAt(path) {
    let i = 0;
    for (const step of path) {
        let next = -1;
        for (let j = i + 1; j < end[i]; j = end[j]) if (names[fn[j]] === step) { next = j; break; }
        if (next < 0) break;
        i = next;
    }
    return i;
}

/// The widest frame of a function, of what is zoomed to if there is one; undefined for none.
function widestOf(text, inside) {
    const f = names.indexOf(text);
    for (const [first, limit] of f < 0 ? [] : [[inside, end[inside]], [1, count]]) {
        let best = -1;
        for (let i = first; i < limit; i++) if (fn[i] === f && (best < 0 || total[i] > total[best])) best = i;
        if (best >= 0) return best;
    }
}

// What the graph's modules tell of.
let isFollowing = false; // whether the graph is brought where the selection is, so that it does not change that
let viewTimer = 0, rememberTimer = 0;

/// Puts the place in the graph into the address, where there is nothing else: as a step to come Back from, or else in a moment.
function remember(isStep = false) {
    if (!isGraphPage() || isFollowing || isRestoring) return;
    clearTimeout(rememberTimer);
    if (!isStep && isMovedByHand()) return;
    if (isStep) choose({ graph: graphState() }, true);
    else rememberTimer = setTimeout(() => choose({ graph: graphState() }), 200);
}

/// Another part of the graph is shown: in a moment, when that has settled, a table of it follows.
function viewChanged() {
    clearTimeout(viewTimer);
    if (isGraphPage()) viewTimer = setTimeout(() => { if (paneOf('functions').place?.hidden === false) paneOf('functions').showGraph(); }, 120);
}

function selectionChanged() {
    if (isFollowing) return;
    const f = fn[selected];
    if (f >= 0) choose({ name: names[f], call: null });
    drawSandwich();
}

function drawSandwich() {
    const isShown = !element('sandwich').hidden;
    element('show-sandwich').setAttribute('aria-pressed', isShown);
    if (isShown && graph) showSandwich();
}

function toggleSandwich() {
    element('sandwich').hidden = !element('sandwich').hidden;
    main.fit();
    main.draw();
    drawSandwich();
    remember();
}

/// Selects the widest frame of a function.
function selectFunction(f) {
    const best = widestOf(names[f], zoomed);
    if (best === undefined) return;
    if (!graph.isInside(best, zoomed)) zoom(0);
    select(best);
}

const graphKeys = {
    i: turn, c: copy, s: toggleSandwich, t: () => isGraphPage() ? toggleTable() : showPane('functions', true),
    Enter: () => zoom(selected), Backspace: () => zoom(Math.max(parent[zoomed], 0)),
    ArrowLeft: () => select(graph.sibling(selected, -1)), ArrowRight: () => select(graph.sibling(selected, 1)),
    ArrowUp: () => select(main.isTurned ? graph.callee(selected) : Math.max(parent[selected], 0)),
    ArrowDown: () => select(main.isTurned ? Math.max(parent[selected], 0) : graph.callee(selected)),
    '+': () => scaleAbout(main.width / 2, 1 / 1.5), '-': () => scaleAbout(main.width / 2, 1.5), '=': () => scaleAbout(main.width / 2, 1 / 1.5),
    '<': () => pan(-0.25), '>': () => pan(0.25), Home: () => zoom(0),
};

/// Does what a key does in the graph; Enter and arrows do something else on buttons and in tables.
function actOnGraph(event) {
    const action = graphKeys[event.key];
    if (!action || event.key === 'Enter' && ![canvas, document.body].includes(event.target)) return false;
    event.preventDefault();
    action();
    return true;
}

function listenToGraph() {
    canvas.addEventListener('keydown', event => {
        if (graph && !event.ctrlKey && !event.metaKey && !event.altKey && actOnGraph(event)) event.stopPropagation();
    });
    element('turn').onclick = turn;
    tellTurned();
    element('show-sandwich').onclick = toggleSandwich;
    view.addEventListener('scroll', hideTip);
    new ResizeObserver(() => {
        if (!graph || !main.view.clientWidth || isPrinting) return;
        hideTip();
        const below = main.spaceHeight - main.height - main.scrolled; // stays as it is where the root is at the bottom
        main.fit();
        if (main.isTurned) view.scrollTop = main.spaceHeight - main.height - below;
        main.draw();
        legend();
        drawSandwich();
    }).observe(view);
}
