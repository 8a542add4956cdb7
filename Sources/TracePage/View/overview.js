// The strip on top: how many threads ran, wanted a CPU and waited over the whole time. A drag chooses what is seen; the frame and its
// edges can be moved.
const overviewCanvas = element('overview'), overview = { sums: null, part: null, width: 0, drag: null };
const mostLanes = 400; // that are added up; those with the most activity

/// Asks for a picture of the outermost calls of all lanes, and adds up what was open, blocked and wanting in each column.
async function loadOverview() {
    const width = Math.round(overviewCanvas.clientWidth * (devicePixelRatio || 1));
    if (session.content !== 'calls' || width === 0 || overview.width === width) return;
    overview.width = width;
    const tracks = [...lanes.all].sort((a, b) => activity(b) - activity(a)).slice(0, mostLanes).map(lane => lane.index);
    const question = { from: session.begin, to: session.end, width, tracks, rows: [0, tracks.length === 1 ? 63 : 0] };
    let picture;
    try {
        picture = await source.picture(question);
    } catch (problem) {
        overview.width = 0;
        return tellTrouble(problem);
    }
    await readUpTo(picture.known);
    if (overview.width !== width) return; // another one is under way
    if (tracks.length === 1) {
        // Of a single lane, the calls themselves tell more.
        const [lane] = lanes.all, part = picture.tracks.get(tracks[0]);
        if ([deepen, findTrunk].map(find => find(lane, part)).includes(true)) layOut();
        overview.part = part;
    }
    const columns = [...picture.tracks.values()][0]?.width ?? width;
    const sums = [0, 1, 2].map(() => new Float32Array(columns)); // ran, wanted, waited: threads
    for (const part of picture.tracks.values()) {
        const fine = part.width / (part.to - part.from), open = new Float32Array(columns);
        for (let k = 0; k < part.begin.length; k++) {
            const begin = (part.begin[k] - part.from) * fine;
            const from = Math.max(begin, 0), to = Math.min(begin + part.length[k] * fine, columns);
            const dense = part.calls[k] > 1 ? part.busy[k] / Math.max(part.length[k], 1e-9) : 1;
            for (let x = Math.floor(from); x < to; x++) open[x] += dense * (Math.min(x + 1, to) - Math.max(x, from));
        }
        for (let x = 0; x < columns; x++) {
            const blocked = Math.min(part.blocked[x] / 255, open[x]), wanting = Math.min(part.wanting[x] / 255, open[x] - blocked);
            sums[0][x] += open[x] - blocked - wanting;
            sums[1][x] += wanting;
            sums[2][x] += blocked;
        }
    }
    Object.assign(overview, { sums, from: picture.from, to: picture.to });
    drawOverview();
    if ([...picture.tracks.values()].some(part => part.isCoarse)) {
        overview.width = 0;
        setTimeout(loadOverview, 500);
    }
}

const overviewX = moment => (moment - session.begin) / (session.end - session.begin) * overviewCanvas.clientWidth;
const overviewMoment = x => session.begin + Math.min(Math.max(x / overviewCanvas.clientWidth, 0), 1) * (session.end - session.begin);

/// The greatest number of threads at once, and what each column has, as words for who cannot see them.
function drawOverview() {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: tall } = overviewCanvas;
    const brush = overviewCanvas.getContext('2d');
    const size = [Math.round(width * ratio), Math.round(tall * ratio)];
    if (overviewCanvas.width !== size[0] || overviewCanvas.height !== size[1]) [overviewCanvas.width, overviewCanvas.height] = size;
    theme = themeNow();
    const ink = inks();
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, tall);
    const axis = 15, room = tall - axis - 2;
    refreshShades();
    if (overview.part && !session.splits) {
        brush.font = font;
        const shot = { from: session.begin, to: session.end, width, height: tall, ratio, seen: 0 };
        paintRows(brush, { ...lanes.all[0], isOpen: false, most: 15 }, overview.part, shot, axis + 1);
    } else if (overview.sums) {
        const [ran, wanted, waited] = overview.sums, columns = ran.length;
        let most = 1;
        for (let x = 0; x < columns; x++) most = Math.max(most, ran[x] + wanted[x] + waited[x]);
        const place = column => Math.round(overviewX(overview.from + column * (overview.to - overview.from) / columns));
        for (let x = 0; x < columns; x++) {
            let y = axis + room + 1;
            for (const [part, colour] of [[ran, ink.running], [wanted, ink.runnable], [waited, ink.blocked]]) {
                const high = part[x] / most * room;
                brush.fillStyle = colour;
                brush.fillRect(place(x), y -= high, place(x + 1) - place(x), high);
            }
        }
    }
    brush.font = '11px system-ui, sans-serif';
    brush.textBaseline = 'middle';
    for (const [moment, text] of ticksIn(session.begin, session.end, width, 150)) {
        const x = overviewX(moment);
        brush.fillStyle = ink.edge;
        brush.fillRect(x, 0, 1, axis);
        brush.fillStyle = ink.dim;
        if (x + 4 + brush.measureText(text).width < width) brush.fillText(text, x + 4, axis / 2 + 1);
    }
    const [from, to] = [overviewX(selection.from), overviewX(selection.to)], shown = Math.max(to - from, 3);
    if (!isWhole([selection.from, selection.to])) {
        brush.fillStyle = ink.back;
        brush.globalAlpha = 0.62;
        brush.fillRect(0, axis, from, tall);
        brush.fillRect(from + shown, axis, width, tall);
        brush.globalAlpha = 1;
        brush.strokeStyle = ink.focus;
        brush.lineWidth = 1.5;
        brush.strokeRect(from + 0.75, axis, shown - 1.5, tall - axis - 1);
        brush.fillStyle = ink.focus;
        for (const x of [from, from + shown]) brush.fillRect(x - 2, axis + room / 2 - 7, 4, 14);
    }
    if (selection.range) {
        brush.fillStyle = ink.focus;
        brush.fillRect(overviewX(selection.range[0]), axis - 3, Math.max(overviewX(selection.range[1]) - overviewX(selection.range[0]), 2), 3);
    }
    for (const moment of selection.marks) {
        brush.fillStyle = ink.focus;
        brush.fillRect(overviewX(moment) - 1, axis - 6, 2, 6);
    }
    const seen = `${duration(selection.to - selection.from)} of ${duration(session.end - session.begin)}`;
    overviewCanvas.setAttribute('aria-valuetext', `from ${duration(selection.from)}, ${seen}`);
    overviewCanvas.setAttribute('aria-valuenow', Math.round(100 * (selection.from - session.begin) / (session.end - session.begin)));
}

function listenToOverview() {
    const place = x => {
        const [from, to] = [overviewX(selection.from), overviewX(selection.to)];
        if (isWhole([selection.from, selection.to])) return 'choose';
        if (Math.abs(x - from) < 6) return 'from';
        if (Math.abs(x - to) < 6) return 'to';
        return x > from && x < to ? 'move' : 'choose';
    };
    overviewCanvas.addEventListener('pointerdown', event => {
        if (event.button !== 0) return;
        overviewCanvas.setPointerCapture(event.pointerId);
        cancelAnimationFrame(glide);
        overview.drag = { kind: place(event.offsetX), x: event.offsetX, from: selection.from, to: selection.to, hasMoved: false };
    });
    overviewCanvas.addEventListener('pointermove', event => {
        const { drag } = overview, x = event.offsetX;
        overviewCanvas.style.cursor = { from: 'ew-resize', to: 'ew-resize', move: 'grab', choose: 'crosshair' }[drag?.kind ?? place(x)];
        if (!drag || Math.abs(x - drag.x) < clickSlack && !drag.hasMoved) return;
        drag.hasMoved = true;
        startMoving();
        const by = overviewMoment(x) - overviewMoment(drag.x);
        if (drag.kind === 'move') show(drag.from + by, drag.to + by);
        else if (drag.kind === 'from') show(Math.min(drag.from + by, drag.to - leastSpan), drag.to);
        else if (drag.kind === 'to') show(drag.from, Math.max(drag.to + by, drag.from + leastSpan));
        else show(...[overviewMoment(drag.x), overviewMoment(x)].sort((a, b) => a - b));
    });
    const end = event => {
        const { drag } = overview;
        overview.drag = null;
        if (!drag || event.type === 'pointercancel') return;
        if (drag.hasMoved) return writeAddress('pushState');
        const half = (selection.to - selection.from) / 2, moment = overviewMoment(event.offsetX);
        if (drag.kind === 'choose' && !isWhole([selection.from, selection.to])) glideTo(moment - half, moment + half);
    };
    overviewCanvas.addEventListener('pointerup', end);
    overviewCanvas.addEventListener('pointercancel', end);
    overviewCanvas.addEventListener('dblclick', () => glideTo(session.begin, session.end));
    overviewCanvas.addEventListener('wheel', event => {
        event.preventDefault();
        startMoving();
        const middle = overviewMoment(event.offsetX), half = (selection.to - selection.from) / 2 * Math.exp(event.deltaY * 0.002);
        show(middle - half, middle + half);
    }, { passive: false });
    overviewCanvas.addEventListener('keydown', event => {
        const zoomed = factor => zoomAbout(timeline.width / 2, factor), actions = {
            ArrowLeft: () => shift(-0.1), ArrowRight: () => shift(0.1), ArrowUp: () => zoomed(1 / 1.5), ArrowDown: () => zoomed(1.5),
        };
        if (!actions[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        actions[event.key]();
    });
}
