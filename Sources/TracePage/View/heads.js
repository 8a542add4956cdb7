// The heads of lanes, at the left: what each is, with what can be done with it. Only those in view are there.
const headNodes = new Map(); // by lane or process

function drawHeads(top, bottom) {
    const shown = new Set(), place = element('heads');
    for (const item of lanes.items) {
        if (item.top > bottom + 200 || item.top + item.height < top - 200) continue;
        const key = item.lane ?? item.process, node = headNodes.get(key) ?? (item.lane ? headOf(item.lane) : headingOf(item));
        headNodes.set(key, node);
        shown.add(key);
        node.style.transform = `translateY(${item.top}px)`;
        node.style.height = `${item.height}px`;
        if (item.lane) fillHead(node, item.lane);
    }
    for (const [key, node] of headNodes) {
        if (shown.has(key)) continue;
        if (node.contains(document.activeElement)) { node.style.transform = 'translateY(-9999px)'; continue; } // keeps the focus
        node.remove();
        headNodes.delete(key);
    }
    // In the order of the lanes, so that Tab goes down.
    const nodes = lanes.items.map(item => headNodes.get(item.lane ?? item.process)).filter(node => node);
    if (nodes.some((node, at) => place.children[at] !== node)) {
        const { activeElement } = document;
        place.replaceChildren(...nodes);
        if (place.contains(activeElement)) activeElement.focus({ preventScroll: true });
    }
}

function headingOf(item) {
    const node = make('div', undefined, 'heading'), title = make('b', item.heading.name);
    title.title = item.heading.command;
    node.append(title, make('span', ` ${item.heading.pid}`));
    return node;
}

function headOf(lane) {
    const node = make('div', undefined, 'head'), label = make('div', undefined, 'label');
    const fold = make('button', undefined, 'fold'), facts = make('small'), tools = make('span', undefined, 'tools');
    fold.append(make('i'), make('span'));
    fold.title = `${laneTitle(lane)}: Enter folds or opens; drag, or Alt with ↑ and ↓, moves; p pins; h hides; o shows all rows`;
    fold.onclick = () => { if (!node.classList.contains('moved')) toggleFold(lane); };
    for (const [name, title, action] of [
        ['pin', 'Keep at the top (p)', () => togglePin(lane)], ['hide', 'Hide (h)', () => hideLane(lane)],
    ]) {
        const button = make('button', undefined, name);
        button.title = title;
        button.setAttribute('aria-label', `${name} ${lane.track.label}`);
        button.onclick = action;
        tools.append(button);
    }
    const rows = make('button', undefined, 'rows');
    rows.onclick = () => toggleRows(lane);
    label.append(fold, tools, facts, rows);
    node.append(label);
    node.setAttribute('role', 'listitem');
    node.addEventListener('keydown', event => headKey(event, lane));
    fold.addEventListener('pointerdown', event => dragHead(event, lane, node));
    return node;
}

function fillHead(node, lane) {
    const [fold, tools, facts, rows] = node.firstChild.children, { track } = lane;
    fold.setAttribute('aria-expanded', lane.isOpen);
    fold.lastChild.textContent = shortTitle(lane);
    tools.firstChild.setAttribute('aria-pressed', selection.pinned.includes(lane.index));
    node.classList.toggle('pinned', selection.pinned.includes(lane.index));
    const ran = session.splits && track.end > track.begin ? `ran ${percent(lane.ran, track.end - track.begin)}` : '';
    facts.textContent = [counted(track.calls, 'call'), ran].filter(text => text).join(' · ');
    facts.hidden = lane.height < 44;
    rows.textContent = lane.rows === lane.depth ? `${lane.depth} rows` : `${lane.rows} of ${lane.depth} rows`;
    rows.title = lane.rows === lane.depth ? 'Show the first rows alone (o)' : 'Show all rows (o)';
    rows.hidden = !lane.isOpen || lane.height < 66 || lane.depth <= 12 && lane.rows === lane.depth;
}

function headKey(event, lane) {
    const isArrow = event.key === 'ArrowUp' || event.key === 'ArrowDown', by = event.key === 'ArrowUp' ? -1 : 1;
    const actions = { p: () => togglePin(lane), h: () => hideLane(lane), o: () => toggleRows(lane) };
    if (event.ctrlKey || event.metaKey) return;
    if (isArrow && event.altKey) shiftLane(lane, by);
    else if (isArrow) {
        const shown = lanes.items.filter(item => item.lane), next = shown[shown.findIndex(item => item.lane === lane) + by];
        if (next) { revealItem(next); headNodes.get(next.lane)?.querySelector('.fold').focus({ preventScroll: true }); }
    } else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
}

/// Moves a lane with the pointer; a line shows where it would be.
function dragHead(event, lane, node) {
    if (event.button !== 0) return;
    const begin = event.clientY, line = element('dropline'), button = event.currentTarget;
    let before;
    button.setPointerCapture(event.pointerId);
    const over = moved => {
        if (Math.abs(moved.clientY - begin) < 6 && before === undefined) return;
        node.classList.add('moved');
        const y = moved.clientY - element('lanes').getBoundingClientRect().y + element('lanes').scrollTop;
        const shown = lanes.items.filter(item => item.lane);
        before = shown.find(item => y < item.top + item.height / 2) ?? null;
        line.hidden = false;
        line.style.transform = `translateY(${before ? before.top : lanes.height}px)`;
    };
    const drop = () => {
        button.removeEventListener('pointermove', over);
        line.hidden = true;
        if (before !== undefined && before?.lane !== lane) placeLane(lane, before?.lane);
        setTimeout(() => node.classList.remove('moved'));
    };
    button.addEventListener('pointermove', over);
    button.addEventListener('pointerup', drop, { once: true });
    button.addEventListener('pointercancel', drop, { once: true });
}
