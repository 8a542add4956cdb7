// A recording that goes on: what is viewed grows while one looks.
const growthPause = 1000; // ms

async function followRecording() {
    let next;
    try {
        next = await source.session();
    } catch {
        return setTimeout(followRecording, 4 * growthPause); // what ails is said where it is asked for next
    }
    if (next.end > session.end || next.tracks.length > session.tracks.length || !next.isRecording) grow(next);
    if (next.isRecording) setTimeout(followRecording, growthPause);
}

/// Takes what is new of a session. Who looks at the whole, or at its end, goes on doing so.
function grow(next) {
    const { begin, end } = session, span = selection.to - selection.from, wasWhole = isWhole([selection.from, selection.to]);
    const wasAtEnd = selection.to >= end;
    session = next;
    makeLanes();
    loadEvents();
    headNodes.clear();
    element('heads').replaceChildren();
    element('sum').textContent = summaryOfSession();
    element('empty').hidden = session.tracks.length > 0;
    if (!theStage()) return followWithPanes();
    if (wasWhole) choose({ from: Math.min(begin, next.begin), to: next.end });
    else if (wasAtEnd) choose({ from: next.end - span, to: next.end });
    overview.width = 0;
    layOut();
    loadOverview();
    for (const pane of panes.all) pane.state = null;
    followWithPanes();
}
