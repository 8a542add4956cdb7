// The beginning of the viewer, and what follows the selection.
function chooseTints() {
    if (isGraphPage()) { if (graph) setColouring(selection.by); return; }
    if (!tints.by && book.names.length) if (session.colour) tints.by = session.colour; else tints.choose();
    if (selection.by && Object.hasOwn(tints.of, selection.by)) tints.by = selection.by;
    element('colour').value = tints.by;
    if (main.graph) { main.request(); legend(); }
}

function summaryOfSession() {
    if (isGraphPage() || isArticlePage()) return '';
    const { tracks, processes } = session, calls = tracks.reduce((sum, each) => sum + each.calls, 0);
    const tasks = tracks.filter(each => each.kind === 'task').length;
    const parts = [duration(session.end - session.begin)];
    if (processes.length > 1) parts.push(counted(processes.length, 'process').replace('processs', 'processes'));
    if (tracks.length - tasks > 0) parts.push(counted(tracks.length - tasks, 'thread'));
    if (tasks) parts.push(counted(tasks, 'task'));
    parts.push(counted(calls, session.content === 'samples' ? 'sample' : 'call'));
    if (source.tiles?.finest) parts.push(`saved with sums below ${duration(source.tiles.finest)}`);
    if (source.tiles?.rows) parts.push(`saved with ${number(source.tiles.rows)} rows`);
    return parts.join(' · ');
}

function followSelection(changed) {
    const has = (...keys) => keys.some(key => changed.has(key));
    if (has('folds', 'hidden', 'pinned', 'order', 'sort')) { element('lane-sort').value = selection.sort; layOut(); }
    if (has('by')) { chooseTints(); for (const pane of panes.all) pane.grid?.draw(); }
    if (has('search')) { element('search').value = selection.search; if (graph) search(); redraw(true); }
    if (has('filters')) refreshSieve();
    if (has('call', 'name')) followCall();
    if (has('graph') && isRestoring && graph) restoreGraph();
    if (has('pane') && selection.pane && panes.shown?.key !== selection.pane) showPane(selection.pane);
    redraw(has('by', 'search'));
    if (has('from', 'to', 'range', 'marks', 'clock') && theStage()) drawOverview();
    if (has('widths')) element('widths').value = selection.widths;
    if (has('from', 'to', 'range', 'filters', 'name', 'call', 'widths', 'file')) followWithPanes(has('widths', 'file'));
}

/// Brings the panes to the selected function and call.
function followCall() {
    tellCall();
    for (const pane of panes.all) pane.grid?.draw();
    bringGraph();
}

/// Selects the path of the selected call in the flame graph, as far as that is known, or else the widest frame of the function.
function bringGraph() {
    const { name, call } = selection;
    if (!graph || isFollowing || name === null) return;
    const exact = call?.path ? frameAt(call.path) : 0, isExact = exact > 0 && pathOf(exact).length === call.path.length;
    const frame = isExact ? exact : names[fn[selected]] === name ? selected : widestOf(name, zoomed);
    if (frame === undefined || frame === selected) return;
    isFollowing = true;
    if (!graph.isInside(frame, zoomed)) zoom(0);
    select(frame);
    isFollowing = false;
    drawSandwich();
}

/// Draws all anew, in another theme.
function redrawAll() {
    if (!session) return;
    theme = themeNow();
    redraw(true);
    if (theStage()) drawOverview();
    if (graph) { main.draw(); legend(); drawSandwich(); }
    for (const pane of panes.all) pane.grid?.draw();
}

async function beginViewing() {
    try {
        session = await source.session();
    } catch (problem) {
        return tellTrouble(problem);
    }
    if (!isArticlePage() && !isGraphPage()) document.title = `${session.session} · fathom`;
    element('title').textContent = session.session;
    element('title').title = session.command.join(' ');
    element('sum').textContent = summaryOfSession();
    Object.assign(selection, selectionAt(location.hash));
    makeSides();
    makeLanes();
    document.documentElement.classList.toggle('without-calls', !theStage());
    element('empty').hidden = session.tracks.length > 0 || isArticlePage();
    document.documentElement.classList.remove('is-static');
    document.documentElement.classList.toggle('of-graph', isGraphPage());
    document.documentElement.classList.toggle('of-article', isArticlePage());
    for (const [key, text] of Object.entries(isGraphPage() ? {} : tints.of)) {
        const choice = make('option', text);
        choice.value = key;
        element('colour').append(choice);
    }
    element('search').value = selection.search;
    element('lane-sort').value = selection.sort;
    selectionListeners.push(followSelection);
    book.whenGrown = () => { chooseTints(); refreshSieve(); };
    makeTabs();
    listenToSplitter();
    listenToGraph();
    listenToKeys();
    listenToPrompt();
    fillHelp();
    if (theStage()) {
        listenToStage();
        listenToOverview();
        layOut();
        loadOverview();
        loadEvents();
        drawOverview();
    }
    showPane(selection.pane ?? (isGraphPage() ? usualPane() : panes.all[0].key));
    tellScope();
    if (selection.call || selection.name) tellCall();
    stage.focus({ preventScroll: true });
    if (theStage()) setTimeout(describeStage, 1000);
    if (session.isRecording && new URLSearchParams(location.hash.slice(1)).has('follow')) toggleFollowing();
    tellRecording();
    if (session.isRecording) setTimeout(followRecording, growth.pause);
}

element('colour').addEventListener('change', event => choose({ by: event.target.value }, true));
element('search').addEventListener('input', event => choose({ search: event.target.value }));
element('search').addEventListener('keydown', event => {
    if (event.key === 'Enter' && graph) { event.preventDefault(); next(event.shiftKey ? -1 : 1); }
});
element('lane-sort').addEventListener('change', event => choose({ sort: event.target.value }, true));
element('lane-filter').addEventListener('input', event => { lanes.filter = event.target.value; layOut(); });
element('command').addEventListener('click', openPrompt);
element('keys').addEventListener('click', () => element('help').showModal());
element('close').addEventListener('click', () => element('help').close());
new ResizeObserver(() => { if (session && theStage()) { layOut(); loadOverview(); drawOverview(); } }).observe(element('lanes'));
dark.addEventListener('change', redrawAll);
addEventListener('popstate', followAddress);
beginViewing();
