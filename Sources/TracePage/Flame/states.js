// What threads did at every moment, in a row below the thread's name: they ran, were blocked, or wanted a CPU. Where the pointer is
// at a wait that another thread ended, an arrow leads from there to the wait's end.
const stateColumns = 7; // begin, length, 1 for wanting a CPU, text, band of who ended it, moment of that, its text
const stateRows = band => band.states.length ? 1 : 0;
const extraRows = band => stateRows(band) + counterRows * band.counters.length;

/// The place in a band's states of the last one that begins at a moment or before it, or a negative number.
function stateAt({ states }, moment) {
    let low = 0, high = states.length / stateColumns;
    while (low < high) {
        const at = low + high >> 1;
        if (states[at * stateColumns] <= moment) low = at + 1; else high = at;
    }
    return (low - 1) * stateColumns;
}

/// Draws a band's row of states. Those that share a column of pixels are as high there as they are long.
function drawStates(i, paint) {
    const band = bandOf(fn[i]), y = main.rowTop(row[i] + 1);
    if (!stateRows(band) || y < -rowHeight || y > main.height) return;
    const { context, width, shown } = main, { states } = band, scale = width / shown.span, room = rowHeight - 5;
    const begin = Math.max((left[i] - shown.start) * scale, 0);
    const far = Math.min((left[i] + total[i] - shown.start) * scale, width);
    if (far <= begin) return;
    context.fillStyle = paint('--running');
    context.fillRect(begin, y + 2, far - begin, room);
    const columns = [new Float32Array(Math.ceil(far) + 1), new Float32Array(Math.ceil(far) + 1)]; // shares of a pixel
    for (let at = Math.max(stateAt(band, shown.start), 0); at < states.length; at += stateColumns) {
        const from = Math.max((states[at] - shown.start) * scale, begin);
        const to = Math.min((states[at] + states[at + 1] - shown.start) * scale, far);
        if (from >= far) break;
        const column = columns[states[at + 2]];
        for (let x = Math.floor(from); x < to; x++) column[x] += Math.min(x + 1, to) - Math.max(x, from);
    }
    for (let x = Math.floor(begin); x < far;) {
        const [blocked, runnable] = [columns[0][x], columns[1][x]];
        let end = x + 1;
        while (end < far && columns[0][end] === blocked && columns[1][end] === runnable) end++;
        const tall = Math.min(blocked, 1) * room, taller = Math.min(blocked + runnable, 1) * room;
        context.fillStyle = paint('--blocked');
        context.fillRect(x, y + 2, end - x, tall);
        context.fillStyle = paint('--runnable');
        context.fillRect(x, y + 2 + tall, end - x, taller - tall);
        x = end;
    }
}

/// What the thread did at a moment, as pairs of a word and its value.
function stateFacts(i, moment) {
    const band = bandOf(fn[i]), { states } = band, at = stateAt(band, moment);
    if (moment < left[i] || moment > left[i] + total[i]) return null;
    if (at < 0 || states[at] + states[at + 1] < moment) return { name: 'running', facts: momentFacts(moment) };
    const [begin, length, wants, text, waker, when, path] = states.slice(at, at + stateColumns);
    const told = [['for', time(length)], ...momentFacts(begin)], { texts } = data.time;
    if (text >= 0) told.unshift(['waited for', texts[text]]);
    if (path >= 0) told.push(['ended by', waker >= 0 ? `${bands[waker].name}, ${texts[path]}` : texts[path]]);
    const arrow = waker >= 0 ? [[waker, when], [firstBand - fn[i], begin + length]] : null;
    return { name: wants ? 'runnable: it wanted a CPU' : 'blocked', facts: told, arrow };
}

/// Draws an arrow between two moments of bands, or takes it away.
function showArrow(ends) {
    if (!ends) { document.getElementById('arrow')?.remove(); return; }
    const [from, to] = ends.map(([band, moment]) => {
        const i = bandFrames.find(each => firstBand - fn[each] === band);
        const x = (moment - main.shown.start) * main.width / main.shown.span;
        return { x: Math.min(Math.max(x, -9999), 9999), y: main.rowTop(row[i] + 1) + main.scrolled + rowHeight / 2 };
    });
    if (!document.getElementById('arrow')) main.space.insertAdjacentHTML('beforeend', '<svg id="arrow"><path></path></svg>');
    const picture = document.getElementById('arrow');
    const angle = Math.atan2(to.y - from.y, to.x - from.x), wing = side =>
        `${to.x - 9 * Math.cos(angle + side)} ${to.y - 9 * Math.sin(angle + side)}`;
    picture.firstChild.setAttribute('d', `M${from.x} ${from.y}L${to.x} ${to.y}M${wing(0.4)}L${to.x} ${to.y}L${wing(-0.4)}`);
    picture.setAttribute('width', main.width);
    picture.setAttribute('height', main.spaceHeight);
}

const stateLegend = () => bands.some(stateRows) ? ['running', 'blocked', 'runnable'].map(
    word => [Array(2).fill(getComputedStyle(document.body).getPropertyValue(`--${word}`)), word]) : [];
