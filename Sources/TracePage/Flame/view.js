// What is shown of the graph.
const main = new Painter(element('view'), {
    id: 'canvas',
    label: 'Flame graph. Arrow keys move, Enter zooms in, Backspace zooms out, slash searches, '
        + 't shows a table, s what leads to a function and what it leads to.',
});
const { canvas, view } = main;
let zoomed = 0, selected = 0;
let moving = 0; // the animation frame of a movement, or 0
const transition = 180; // ms
const wantsStillness = matchMedia('(prefers-reduced-motion: reduce)');

loaders.push(() => {
    if (!main.graph) main.isTurned = data.inverted; // later it is as the reader wants it
    cancelAnimationFrame(moving);
    zoomed = selected = main.chosen = moving = 0;
    main.show(graph);
});

const name = i => graph.name(i);
const spanOf = i => ({ start: left[i], span: Math.max(total[i], 1) });
const isFree = () => main.shown.start !== spanOf(zoomed).start || main.shown.span !== spanOf(zoomed).span;

function select(i) {
    selected = main.chosen = i;
    tell(i);
    const y = main.rowTop(row[i]);
    if (y < 0) view.scrollTop = main.scrolled + y;
    if (y + rowHeight > main.height) view.scrollTop = main.scrolled + y + rowHeight - main.height;
    if (!moving) main.draw();
    selectionChanged();
    remember();
}

function zoom(i) {
    if (fn[i] === summed) i = parent[i];
    const isMove = i !== zoomed || isFree();
    zoomed = main.outer = i;
    hideTip();
    select(i);
    makeRoom(i);
    crumbs();
    if (isMove) move(spanOf(i)); else main.draw();
    if (isMove) remember(true);
    viewChanged();
}

/// Scrolls so that a frame's callees have room.
function makeRoom(i) {
    const y = main.rowTop(row[i]), most = main.height * 0.4;
    if (!main.isTurned && y > most) view.scrollTop += y - most;
    if (main.isTurned && y < main.height - most) view.scrollTop -= main.height - most - y;
}

/// Moves to a stretch of time, in a moment, or at once for who wants no motion.
function move(to) {
    cancelAnimationFrame(moving);
    moving = 0;
    const from = main.shown;
    if (wantsStillness.matches) { main.shown = to; return main.draw(); }
    let begin = null;
    const step = now => {
        begin ??= now;
        const part = Math.min((now - begin) / transition, 1), eased = 1 - (1 - part) ** 3;
        main.shown = part === 1 ? to : {
            start: from.start + (to.start - from.start) * eased, span: from.span + (to.span - from.span) * eased,
        };
        moving = part === 1 ? 0 : requestAnimationFrame(step);
        main.draw();
    };
    moving = requestAnimationFrame(step);
}

/// Shows any stretch of the whole, as near to what is asked for as there is. What is zoomed to becomes the nearest caller that
/// holds all of it.
function showSpan({ start, span }, isStep = false) {
    cancelAnimationFrame(moving);
    moving = 0;
    span = Math.min(Math.max(span, 1), Math.max(total[0], 1));
    start = Math.min(Math.max(start, 0), Math.max(total[0], 1) - span);
    main.shown = { start, span };
    let i = zoomed;
    while (i > 0 && (left[i] > start || left[i] + total[i] < start + span)) i = parent[i];
    if (i !== zoomed) {
        zoomed = main.outer = i;
        crumbs();
    }
    hideTip();
    main.request();
    viewChanged();
    remember(isStep);
}

/// Zooms by a factor about a point of the view.
function scaleAbout(x, factor) {
    const { start, span } = main.shown, moment = main.momentAt(x), next = Math.min(Math.max(span * factor, 1), total[0]);
    showSpan({ start: moment - (moment - start) * next / span, span: next });
}

/// Moves by a part of what is shown.
const pan = part => showSpan({ start: main.shown.start + part * main.shown.span, span: main.shown.span });

function crumbs() {
    const path = [];
    for (let i = zoomed; i >= 0; i = parent[i]) path.unshift(i);
    const short = path.length > 12 ? [...path.slice(0, 3), -1, ...path.slice(-8)] : path;
    const nodes = [];
    for (const i of short) {
        if (nodes.length) nodes.push(make('span', '›'));
        if (i < 0) { nodes.push(make('span', '…')); continue; }
        const button = make('button', graph.label(i));
        button.title = middle(name(i), 300);
        if (i === zoomed) button.setAttribute('aria-current', 'location');
        button.onclick = () => { zoom(i); canvas.focus(); };
        nodes.push(button);
    }
    element('crumbs').replaceChildren(...nodes);
    element('crumbs').scrollLeft = element('crumbs').scrollWidth;
    outlineForReaders();
}

/// What is zoomed to, for who cannot see the drawing: a table inside the canvas of the frame, its caller and its callees.
function outlineForReaders() {
    const most = 100, table = make('table'), head = make('tr');
    for (const word of ['frame', 'total', 'share', 'self', countedThings]) head.append(make('th', word));
    table.append(make('caption', `${name(zoomed)}, its caller and its callees, the longest first`), head);
    const callees = [];
    for (let j = zoomed + 1; j < end[zoomed]; j = end[j]) callees.push(j);
    callees.sort((a, b) => total[b] - total[a]);
    for (const i of [parent[zoomed], zoomed, ...callees.slice(0, most)]) {
        if (i < 0) continue;
        const line = make('tr');
        const cells = [name(i), time(total[i]), percent(total[i], everything()), time(self[i]), number(calls[i])];
        for (const text of cells) line.append(make('td', text));
        table.append(line);
    }
    if (callees.length > most) table.append(make('caption', `and ${number(callees.length - most)} more callees`));
    canvas.replaceChildren(table);
}

/// The button says what it does next.
const tellTurned = () => { element('turn').textContent = main.isTurned ? 'Root on top' : 'Root at bottom'; };

function turn() {
    main.isTurned = !main.isTurned;
    hideTip();
    main.fit();
    view.scrollTop = main.isTurned ? view.scrollHeight : 0;
    main.draw();
    tellTurned();
    remember();
}
