// The timeline: while it moves, what is drawn is moved and scaled, and pictures of the new stretch are asked for; these refine it.
const stage = element('stage'), stageBrush = stage.getContext('2d');
const timeline = {
    width: 0, height: 0, ratio: 1, scrolled: 0, pending: 0, version: 0, isMoving: false, stopped: 0,
    still: null, hover: null, pointer: null, inFlight: new Map(), answered: new Map(), refinedAt: 0,
    arrows: [], found: null, // of the chain, and calls of a bar of the histogram
};
const leastSpan = 10; // ns
const beyond = 0.25; // of the width, drawn at either side of what is seen, so that it can be moved there

const nsPerPx = () => (selection.to - selection.from) / Math.max(timeline.width, 1);
const xOf = moment => (moment - selection.from) / nsPerPx();
const momentAtX = x => selection.from + x * nsPerPx();

/// Draws before the next frame, once.
function redraw(isChange = false) {
    if (isChange) timeline.version++;
    timeline.pending ||= requestAnimationFrame(drawTimeline);
}

/// Shows a stretch, as near to it as there is.
function show(from, to, isStep = false) {
    const { begin, end } = session, span = Math.min(Math.max(to - from, leastSpan), Math.max(end - begin, leastSpan));
    const middle = (from + to) / 2;
    from = Math.min(Math.max(span === to - from ? from : middle - span / 2, begin), Math.max(end - span, begin));
    choose({ from, to: from + span }, isStep);
}

/// Zooms by a factor about a point.
function zoomAbout(x, factor) {
    const moment = momentAtX(x), span = Math.min(Math.max((selection.to - selection.from) * factor, leastSpan), session.end - session.begin);
    const from = moment - x / timeline.width * span;
    show(from, from + span);
}

const shift = part => show(selection.from + part * (selection.to - selection.from), selection.to + part * (selection.to - selection.from));

/// Goes to a stretch in a moment, or at once for who wants no motion.
let glide = 0;
function glideTo(from, to) {
    cancelAnimationFrame(glide);
    if (wantsStillness.matches) return show(from, to, true);
    const old = [selection.from, selection.to], scale = Math.log((to - from) / (old[1] - old[0]));
    writeAddress('replaceState');
    let begin = null;
    const step = now => {
        begin ??= now;
        const part = Math.min((now - begin) / 220, 1), eased = 1 - (1 - part) ** 3;
        if (part === 1) {
            showQuietly(from, to);
            return writeAddress('pushState');
        }
        // Spans change by a factor, and edges so that all meet at the end.
        const span = (old[1] - old[0]) * Math.exp(scale * eased);
        const along = Math.abs(scale) < 1e-6 ? eased : (Math.exp(scale * eased) - 1) / (Math.exp(scale) - 1);
        const start = old[0] + (from - old[0]) * along;
        startMoving();
        showQuietly(start, start + span);
        glide = requestAnimationFrame(step);
    };
    glide = requestAnimationFrame(step);
}

/// Shows a stretch on the way to another one, of which the address does not tell.
function showQuietly(from, to) {
    isRestoring = true;
    show(from, to);
    isRestoring = false;
}

/// Something moves: for a moment, what is drawn is moved in place of being drawn anew.
function startMoving() {
    timeline.isMoving = true;
    clearTimeout(timeline.stopped);
    timeline.stopped = setTimeout(() => { timeline.isMoving = false; redraw(); }, 120);
}

/// Fits the canvas to its place. Setting its size clears it, so only when that changed.
function fitStage() {
    const box = element('lanes');
    timeline.width = Math.max(box.clientWidth - element('heads').offsetWidth, 1);
    timeline.height = box.clientHeight;
    timeline.ratio = devicePixelRatio || 1;
    const size = [Math.round(timeline.width * timeline.ratio), Math.round(timeline.height * timeline.ratio)];
    if (stage.width !== size[0] || stage.height !== size[1]) {
        [stage.width, stage.height] = size;
        stage.style.width = `${timeline.width}px`;
        stage.style.height = `${timeline.height}px`;
        timeline.version++;
    }
}

/// Lays the lanes out anew, for instance because one was opened.
function layOut() {
    const work = element('work'), room = 0.56 * work.clientHeight - 40;
    if (!timeline.isSized && !work.classList.contains('beside')) {
        // Until somebody says otherwise, the timeline is as tall as what there is to see, up to a good half.
        layLanes(room);
        work.style.setProperty('--part', Math.min(Math.max((lanes.height + 34) / work.clientHeight, 0.16), 0.56));
        fitStage();
    } else {
        fitStage();
        layLanes(timeline.height - 4);
    }
    element('lanes-space').style.height = `${Math.max(lanes.height, timeline.height)}px`;
    redraw(true);
}

function drawTimeline() {
    cancelAnimationFrame(timeline.pending);
    timeline.pending = 0;
    if (!session || !element('lanes').clientWidth) return;
    timeline.scrolled = element('lanes').scrollTop;
    drawHeads(timeline.scrolled, timeline.scrolled + timeline.height);
    if (!isStillGood()) paintStill();
    const { still, ratio } = timeline, span = selection.to - selection.from, scale = timeline.width / span;
    stageBrush.setTransform(ratio, 0, 0, ratio, 0, 0);
    stageBrush.fillStyle = inks().back;
    stageBrush.fillRect(0, 0, timeline.width, timeline.height);
    // Of the still, the part that is seen.
    const fine = still.canvas.width / (still.to - still.from);
    const from = Math.max(selection.from, still.from), to = Math.min(selection.to, still.to);
    stageBrush.imageSmoothingEnabled = false;
    if (to > from) {
        stageBrush.drawImage(still.canvas, (from - still.from) * fine, 0, (to - from) * fine, still.canvas.height,
            (from - selection.from) * scale, still.scrolled - timeline.scrolled, (to - from) * scale, timeline.height);
    }
    drawOverlay();
    drawTicks();
    askForPictures();
}

function isStillGood() {
    const { still, version, isMoving, scrolled, width, ratio } = timeline;
    if (!still) return false;
    const isSame = still.version === version && still.scrolled === scrolled && still.theme === themeNow();
    const step = (still.to - still.from) / still.canvas.width * ratio, part = nsPerPx() / step;
    const covers = still.from <= selection.from && still.to >= selection.to;
    if (!isMoving) return isSame && covers && Math.abs(part - 1) < 1e-6 && still.seen === selection.from;
    if (performance.now() - still.at < 100) return width === still.shown;
    return isSame && (covers || still.from <= session.begin || still.to >= session.end) && part < 1.6 && part > 0.6;
}

/// Draws what is seen, and something beside it, as a picture that can be moved.
function paintStill() {
    const { width, height, ratio } = timeline, span = selection.to - selection.from;
    const from = Math.max(selection.from - beyond * span, session.begin), to = Math.min(selection.to + beyond * span, session.end);
    const still = timeline.still ??= { canvas: make('canvas') };
    const size = [Math.max(Math.round((to - from) / nsPerPx() * ratio), 1), Math.round(height * ratio)];
    if (still.canvas.width !== size[0] || still.canvas.height !== size[1]) [still.canvas.width, still.canvas.height] = size;
    const { scrolled, version } = timeline;
    paintLanes(still.canvas.getContext('2d', { alpha: false }), {
        from, to, width: size[0] / ratio, height, ratio, seen: Math.max((selection.from - from) / nsPerPx(), 0),
    }, scrolled);
    Object.assign(still, { from, to, scrolled, version, theme, shown: width, seen: selection.from, at: performance.now() });
}
