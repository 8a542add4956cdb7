// The panes below or beside the timeline. Each is {key, title, hint, make(place), show()}; `show` asks what it needs of `ask`, and
// draws it. All show the same stretch and filters. While an answer is under way, the old one stays.
const panes = { all: [], shown: null, timer: 0, answers: new Map() };

const addPane = pane => panes.all.push(pane);
const paneOf = key => panes.all.find(pane => pane.key === key);

/// The options of the stretch and of the filters, as the command line takes them.
function stretchOptions() {
    const [from, to] = stretch();
    return isWhole([from, to]) ? [] : ['--from', `${Math.floor(from)}ns`, '--to', `${Math.ceil(to)}ns`];
}
const commonOptions = () => [...stretchOptions(), ...selection.filters];

/// The same for what adds up times: of calls that reach beyond the stretch, what lies within.
const clippedOptions = () => [...stretchOptions().length > 0 && !session.compared ? ['--clip'] : [], ...commonOptions()];

/// Asks a command, and says in the pane how that goes. Null where another question has taken its place, or there is no answer.
///
/// - `side`: which of two sessions is asked, where two are compared.
async function ask(pane, command, options, side = shownSide) {
    const key = [side, command, ...options].join('\n'), known = panes.answers.get(key);
    if (known && !session.isRecording && !source.isFrozen) { settlePane(pane, null); return known; }
    pane.stop?.abort();
    const stop = pane.stop = new AbortController();
    pane.place.classList.add('asking');
    clearTimeout(pane.patience);
    pane.patience = setTimeout(() => {
        if (pane.stop !== stop || pane.isAnswered) return;
        pane.note.replaceChildren(make('p', `fathom ${command} goes through the calls…`));
        pane.note.hidden = false;
    }, 800);
    try {
        const { answer, said } = await source.ask(command, options, pane.key, stop.signal, side);
        if (pane.stop !== stop) return null;
        panes.answers.set(key, answer);
        pane.isAnswered = true;
        if (panes.answers.size > 12) panes.answers.delete(panes.answers.keys().next().value);
        settlePane(pane, null, said);
        return answer;
    } catch (problem) {
        if (problem.name === 'AbortError' || pane.stop !== stop) return null;
        settlePane(pane, problem);
        return null;
    }
}

/// Says what was said beside an answer, or why there is none, as the sentence that it is.
function settlePane(pane, problem, said = []) {
    clearTimeout(pane.patience);
    pane.place.classList.remove('asking');
    pane.place.classList.toggle('failed', problem !== null);
    const lines = problem ? [...problem.said ?? [], problem.message] : said;
    pane.note.replaceChildren(...lines.map(line => make('p', line.replace(/^(fathom: )?(warning|error): /, ''))));
    pane.note.hidden = lines.length === 0;
    if (pane.isBehind) {
        pane.isBehind = false;
        followWithPanes();
    }
}

/// Draws a pane's answer, where it has come.
async function refreshPane(pane) {
    const state = JSON.stringify([stretch(), selection.filters, pane.of?.()]);
    if (pane.state === state) return;
    pane.state = state;
    try {
        await pane.show();
    } catch (problem) {
        settlePane(pane, problem instanceof Refusal ? problem : new Refusal(`this cannot be shown: ${problem.message}`));
        if (!(problem instanceof Refusal)) console.error(problem);
    }
}

/// Panes in view follow the selection when that has settled.
function followWithPanes(isSoon = false) {
    clearTimeout(panes.timer);
    panes.timer = setTimeout(() => {
        if (timeline.isMoving) return followWithPanes();
        for (const pane of panes.all) {
            if (!pane.place || pane.place.hidden || element('dock').offsetHeight <= 40) continue;
            // Of a recording that grows, what was asked is answered first.
            pane.isBehind = growth.isNew && pane.place.classList.contains('asking');
            if (!pane.isBehind) refreshPane(pane);
        }
        growth.isNew = false;
        tellScope();
        if (session.content === 'calls') describeStage();
    }, isSoon ? 0 : 250);
}

function tellScope() {
    const [from, to] = stretch(), chips = [];
    const chip = (text, title, action) => {
        const button = make('button', text, 'chip');
        button.title = title;
        button.onclick = action;
        chips.push(button);
    };
    if (selection.range) chip(`range ${duration(to - from)}`, 'Take the range back (Esc)', () => choose({ range: null }, true));
    else if (!isWhole([from, to])) {
        chip(`${duration(to - from)} from ${duration(from)}`, 'Show all (Home)', () => glideTo(session.begin, session.end));
    }
    for (let i = 0; i < selection.filters.length; i += 2) {
        const [option, value] = selection.filters.slice(i, i + 2);
        chip(`${option} ${value}`, 'Take this filter back', () => choose({ filters: selection.filters.toSpliced(i, 2) }, true));
    }
    if (isFinest()) {
        chip(`sums below ${duration(source.tiles.finest)}`, 'This page was saved without single calls that are shorter: zoom out', () => glideTo(
            ...aroundMoment((selection.from + selection.to) / 2, source.tiles.finest * timeline.width)));
    }
    element('chips').replaceChildren(...chips);
}

/// Whether one looks at what is finer than what a saved page has.
const isFinest = () => source.tiles?.finest > nsPerPx();
const aroundMoment = (moment, span) => [moment - span / 2, moment + span / 2];

function showPane(key, isStep = false) {
    const pane = paneOf(key) ?? panes.all[0];
    panes.shown = pane;
    const seen = panesBeside(pane);
    for (const each of panes.all) {
        const isShown = seen.includes(each);
        each.tab.setAttribute('aria-selected', isShown);
        each.tab.tabIndex = isShown ? 0 : -1;
        if (isShown) buildPane(each);
        if (each.place) each.place.hidden = !isShown;
    }
    pane.tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    choose({ pane: key }, isStep);
    for (const each of seen) {
        each.whenShown?.();
        refreshPane(each);
    }
    redraw();
}

/// Where there is room for two panes, the flame graph stays beside another one.
function panesBeside(pane) {
    if (isGraphPage()) {
        panes.isWide = pane.key !== 'flame';
        element('panes').classList.toggle('wide', panes.isWide);
        return panes.isWide ? panes.all : [pane];
    }
    panes.isWide = element('dock').offsetWidth >= 1600;
    element('panes').classList.toggle('wide', panes.isWide);
    if (!panes.isWide || panes.all.length < 2) return [pane];
    const [graphPane, usual] = panes.all;
    return [graphPane, pane === graphPane ? usual : pane];
}

function buildPane(pane) {
    if (pane.place) return;
    pane.place = make('section', undefined, `pane ${pane.key}`);
    pane.place.id = `pane-${pane.key}`;
    pane.place.setAttribute('role', 'tabpanel');
    pane.place.setAttribute('aria-labelledby', `tab-${pane.key}`);
    pane.note = make('div', undefined, 'note');
    pane.note.setAttribute('role', 'status');
    pane.note.hidden = true;
    pane.body = make('div', undefined, 'body');
    pane.place.style.order = panes.all.indexOf(pane);
    pane.place.append(make('div', undefined, 'progress'), pane.note, pane.body);
    element('panes').append(pane.place);
    pane.make(pane.body);
}

function makeTabs() {
    panes.all = panes.all.filter(pane => pane.isFor?.() ?? true);
    for (const pane of panes.all) {
        const tab = pane.tab = make('button', pane.title, 'tab');
        tab.id = `tab-${pane.key}`;
        tab.title = pane.hint;
        tab.setAttribute('role', 'tab');
        tab.setAttribute('aria-controls', `pane-${pane.key}`);
        tab.onclick = () => showPane(pane.key, true);
        element('tabs').append(tab);
    }
    element('tabs').addEventListener('keydown', event => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = panes.all.indexOf(panes.shown);
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        const next = panes.all[(at + by + panes.all.length) % panes.all.length];
        showPane(next.key, true);
        next.tab.focus();
    });
}

/// A part of a pane that asks by itself, and says beside the pane's other parts how that goes.
function addPart(key, place) {
    const note = make('div', undefined, 'note');
    note.setAttribute('role', 'status');
    note.hidden = true;
    place.classList.add('part');
    place.append(make('div', undefined, 'progress'), note);
    return { key, place, note };
}

// The line between timeline and panes can be dragged, and moved by keys.
function listenToSplitter() {
    const bar = element('splitter'), work = element('work');
    const isBeside = () => work.classList.contains('beside');
    const set = part => {
        const kept = Math.min(Math.max(part, 0.06), 0.94);
        timeline.isSized = true;
        work.style.setProperty('--part', kept);
        bar.setAttribute('aria-valuenow', Math.round(kept * 100));
        layOut();
        panes.shown?.whenShown?.();
    };
    bar.addEventListener('pointerdown', event => {
        bar.setPointerCapture(event.pointerId);
        bar.onpointermove = moved => {
            const box = work.getBoundingClientRect();
            set(isBeside() ? (moved.clientX - box.x) / box.width : (moved.clientY - box.y) / box.height);
        };
    });
    for (const end of ['pointerup', 'pointercancel']) bar.addEventListener(end, () => { bar.onpointermove = null; followWithPanes(); });
    bar.addEventListener('keydown', event => {
        const by = { ArrowUp: -0.04, ArrowLeft: -0.04, ArrowDown: 0.04, ArrowRight: 0.04 }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        set(Number(bar.getAttribute('aria-valuenow')) / 100 + by);
    });
    element('dock-side').onclick = toggleSide;
    new ResizeObserver(() => {
        if (panes.shown && !isGraphPage() && panes.isWide !== element('dock').offsetWidth >= 1600) showPane(panes.shown.key);
    }).observe(element('dock'));
}

function toggleSide() {
    const isBeside = element('work').classList.toggle('beside');
    element('dock-side').setAttribute('aria-pressed', isBeside);
    element('splitter').setAttribute('aria-orientation', isBeside ? 'vertical' : 'horizontal');
    layOut();
    panes.shown?.whenShown?.();
}
