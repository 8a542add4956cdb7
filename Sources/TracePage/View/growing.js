// A recording that goes on: what is viewed grows while one looks.
const growth = { pause: 1000, isFollowed: false, isNew: false }; // ms; whether the end stays in view, and panes are behind

async function followRecording() {
    let next;
    try {
        next = await source.session();
    } catch {
        return setTimeout(followRecording, 4 * growth.pause); // what ails is said where it is asked for next
    }
    if (next.end > session.end || next.tracks.length > session.tracks.length || !next.isRecording) grow(next);
    if (next.isRecording) setTimeout(followRecording, growth.pause);
}

/// Takes what is new of a session. Who looks at the whole, or at its end, goes on doing so.
function grow(next) {
    const { begin, end } = session, span = selection.to - selection.from, wasWhole = isWhole([selection.from, selection.to]);
    const wasAtEnd = selection.to >= end;
    session = next;
    growth.isFollowed &&= wasAtEnd; // who looks elsewhere does not want to be brought back
    makeLanes();
    loadEvents();
    headNodes.clear();
    element('heads').replaceChildren();
    element('sum').textContent = summaryOfSession();
    element('empty').hidden = session.tracks.length > 0;
    tellRecording();
    panes.answers.clear();
    growth.isNew = true;
    for (const part of pictures.values()) part.isOld = true;
    timeline.answered.clear();
    if (growth.isFollowed) choose({ from: Math.max(next.end - span, begin), to: next.end });
    else if (wasWhole) choose({ from: Math.min(begin, next.begin), to: next.end });
    else if (wasAtEnd) choose({ from: next.end - span, to: next.end });
    if (theStage()) {
        overview.width = 0;
        layOut();
        loadOverview();
        redraw(true);
    }
    for (const pane of panes.all) pane.state = null;
    followWithPanes();
}

/// The button that keeps the end in view, which is there as long as there is more to come.
function tellRecording() {
    const button = element('follow');
    button.hidden = !session.isRecording;
    button.setAttribute('aria-pressed', growth.isFollowed);
}

const followedSpan = 10e9; // ns

/// Keeps the end in view, or lets it go.
function toggleFollowing() {
    growth.isFollowed = !growth.isFollowed;
    const { begin, end } = session;
    if (growth.isFollowed) {
        const span = Math.min(selection.to - selection.from, followedSpan);
        choose({ from: Math.max(end - span, begin), to: end });
    }
    tellRecording();
    writeAddress('replaceState');
}
element('follow').addEventListener('click', toggleFollowing);
