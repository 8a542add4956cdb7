// What can be done: each command has a key, if any, and a line in the palette.
const theStage = () => session.content === 'calls';
const commands = [
    { keys: ['Ctrl+K', ':'], title: 'Commands, functions, times, filters', action: () => openPrompt() },
    { keys: ['w', 's'], title: 'Zoom in, out', isHeld: true, isFor: theStage },
    { keys: ['a', 'd'], title: 'Move to the left, right', isHeld: true, isFor: theStage },
    { keys: ['+'], title: 'Zoom in', action: () => zoomBy(1 / 1.5), isFor: theStage },
    { keys: ['-'], title: 'Zoom out', action: () => zoomBy(1.5), isFor: theStage },
    { keys: ['Home'], title: 'Show the whole time', action: () => glideTo(session.begin, session.end), isFor: theStage },
    { keys: ['f'], title: 'Centre the selected call; again: fit it', action: () => centreCall(), isFor: theStage },
    { keys: ['.'], title: 'Next call of the row', action: () => stepCall(1), isFor: theStage },
    { keys: [','], title: 'Previous call of the row', action: () => stepCall(-1), isFor: theStage },
    { keys: ['ArrowDown'], title: 'Longest call inside the selected one', isStage: true, action: () => stepRow(1), isFor: theStage },
    { keys: ['ArrowUp'], title: 'Caller of the selected call', isStage: true, action: () => stepRow(-1), isFor: theStage },
    { keys: ['ArrowRight'], title: 'Move to the right', isStage: true, action: () => { startMoving(); shift(0.1); }, isFor: theStage },
    { keys: ['ArrowLeft'], title: 'Move to the left', isStage: true, action: () => { startMoving(); shift(-0.1); }, isFor: theStage },
    { keys: ['Enter'], title: 'Zoom to the selected call, or to the range', isStage: true, action: () => zoomToChosen(), isFor: theStage },
    { keys: ['r'], title: 'Make the selected call, or what is seen, the range', action: () => rangeOfCall(), isFor: theStage },
    { keys: ['m'], title: 'Mark the moment at the pointer', action: () => markMoment(), isFor: theStage },
    { keys: ['u'], title: 'Time of day in UTC, or time since the start', action: () => choose({ clock: selection.clock ? null : 1 }, true), isFor: theStage },
    { keys: ['/'], title: 'Search functions', action: () => { element('search').focus(); element('search').select(); } },
    { keys: ['n'], title: 'Next match in the flame graph, the widest first', action: () => { if (graph) next(1); } },
    { keys: ['N'], title: 'Match before', action: () => { if (graph) next(-1); } },
    { keys: ['o'], title: 'All rows of the selected call’s lane, or the first ones', action: () => toggleChosenLane(), isFor: theStage },
    { keys: ['l'], title: 'Filter lanes by name', action: () => element('lane-filter').focus(), isFor: theStage },
    { keys: [], title: 'Keep the end of the recording in view, or let it go', action: () => toggleFollowing(), isFor: () => session.isRecording },
    { keys: ['v'], title: 'Panes below or beside the timeline', action: () => toggleSide(), isFor: theStage },
    { keys: ['Escape'], title: 'Take back: search, range, selected call', action: () => takeBack() },
    { keys: ['?'], title: 'Keys', action: () => element('help').showModal() },
    { keys: [], title: 'Sort lanes by activity', action: () => choose({ sort: 'activity' }, true), isFor: theStage },
    { keys: [], title: 'Sort lanes by name', action: () => choose({ sort: 'name' }, true), isFor: theStage },
    { keys: [], title: 'Sort lanes by time', action: () => choose({ sort: 'time' }, true), isFor: theStage },
    { keys: [], title: 'Show hidden lanes', action: () => choose({ hidden: [] }, true), isFor: () => selection.hidden.length > 0 },
    { keys: [], title: 'Fold all lanes', action: () => foldAll(() => 0), isFor: theStage },
    { keys: [], title: 'Open all lanes', action: () => foldAll(usualRows), isFor: theStage },
    { keys: [], title: 'Take all filters back', action: () => choose({ filters: [] }, true), isFor: () => selection.filters.length > 0 },
    { keys: [], title: 'Remove all marks', action: () => choose({ marks: [] }, true), isFor: () => selection.marks.length > 0 },
];

const commandsNow = () => [
    ...commands.filter(each => each.action && (each.isFor?.() ?? true)),
    ...panes.all.map((pane, at) => ({ keys: [String(at + 1)], title: `Pane: ${pane.title}`, action: () => showPane(pane.key, true) })),
    ...sides().filter(side => side !== shownSide).map(side => ({ keys: [], title: `Show the session ${side}`, action: () => showSide(side) })),
    ...widthChoices().map(([key, text]) => ({ keys: [], title: `Flame graph: ${text}`, action: () => choose({ widths: key }, true) })),
    ...Object.entries(tints.of).map(([key, text]) => ({ keys: [], title: `Colour ${text}`, action: () => choose({ by: key }, true) })),
];

const foldAll = rows => choose({ folds: Object.fromEntries(lanes.all.map(lane => [lane.index, rows(lane)])) }, true);

function zoomBy(factor) {
    startMoving();
    zoomAbout(timeline.pointer?.x ?? timeline.width / 2, factor);
}

function toggleChosenLane() {
    const lane = selection.call && laneOf(selection.call.track);
    if (lane) toggleRows(lane);
}

function zoomToChosen() {
    if (selection.call) zoomToCall(selection.call);
    else if (selection.range) glideTo(...selection.range);
}

function takeBack() {
    element('tip').hidden = true;
    if (element('search').value) {
        element('search').value = '';
        choose({ search: '' });
        if (isGraphPage()) canvas.focus();
    } else if (isGraphPage()) { zoom(0); canvas.focus(); } else if (timeline.found) { timeline.found = null; redraw(); } else if (selection.range) choose({ range: null }, true);
    else if (selection.call || selection.name) choose({ call: null, name: null }, true);
    else if (theStage()) glideTo(session.begin, session.end);
}

function listenToKeys() {
    const byKey = new Map(commands.flatMap(each => each.keys.map(key => [key, each])));
    byKey.set('=', byKey.get('+'));
    addEventListener('keydown', event => {
        if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') { event.preventDefault(); return openPrompt(); }
        if (document.querySelector('dialog[open]') || event.ctrlKey || event.metaKey || event.altKey) return;
        const isTyping = ['input', 'select', 'textarea'].includes(event.target.localName);
        if (isTyping && event.key !== 'Escape') return;
        if (isTyping && event.target !== element('search')) {
            if (event.target.type === 'search' && event.target.value) {
                event.preventDefault();
                event.target.value = '';
                event.target.dispatchEvent(new Event('input'));
            }
            return event.target.blur();
        }
        const at = panes.all[Number(event.key) - 1];
        if (at && /^\d$/.test(event.key)) { event.preventDefault(); return showPane(at.key, true); }
        const found = byKey.get(event.key) ?? byKey.get(event.key.length === 1 ? event.key.toLowerCase() : '');
        const command = found?.isFor?.() === false ? undefined : found;
        const isOnStage = event.target === stage || event.target === document.body;
        if (!command && isGraphPage() && graph && actOnGraph(event)) return;
        if (!command || command.isStage && !isOnStage) return;
        if (event.key === 'Enter' && !isOnStage) return;
        event.preventDefault();
        if (command.isHeld) hold(event.key.toLowerCase()); else command.action();
    });
    addEventListener('keyup', event => letGo(event.key.toLowerCase()));
    addEventListener('blur', () => held.clear());
}

/// The list of keys, of what is in the palette and of the mouse.
function fillHelp() {
    const signs = { ArrowDown: '↓', ArrowUp: '↑', ArrowRight: '→', ArrowLeft: '←', Escape: 'Esc' };
    const letter = key => key >= 'a' ? key.toUpperCase() : `Shift+${key}`;
    const shown = key => signs[key] ?? (/^[A-Za-z]$/.test(key) ? letter(key) : key);
    const line = (words, text) => {
        const term = make('dt');
        for (const word of words) term.append(make('kbd', word), ' ');
        return [term, make('dd', text)];
    };
    const nodes = commands.filter(each => each.keys.length && (each.isFor?.() ?? true)).flatMap(each => line(each.keys.map(shown), each.title));
    const mouse = !theStage() ? [] : [
        [['wheel', 'pinch'], 'zoom about the pointer'], [['Shift+wheel', 'drag'], 'move'], [['Alt+wheel'], 'scroll through lanes'],
        [['Shift+drag'], 'choose a range, also on the ruler; its edges can be dragged'], [['click'], 'select a call, or zoom in to short ones'],
        [['double click', 'middle click'], 'zoom to a call'],
    ].flatMap(each => line(...each));
    element('help-keys').replaceChildren(...nodes, ...mouse);
}
