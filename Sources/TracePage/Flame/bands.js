// In a chart of several threads, each has a row that names it, with marks, and below that its counters.
const bandFrames = []; // the frames that begin bands
let bandTime = 0; // ns that the calls of all threads lasted

loaders.push(() => {
    bandFrames.length = bandTime = 0;
    for (let i = 1; i < count; i = end[i]) if (fn[i] <= firstBand) bandFrames.push(i);
    for (const i of bandFrames) for (let j = i + 1; j < end[i]; j = end[j]) bandTime += fn[j] === summed ? self[j] : total[j];
    for (const { counters } of bands) {
        for (const counter of counters) {
            const { points } = counter;
            counter.least = counter.most = 0;
            for (let at = 1; at < points.length; at += 2) {
                counter.least = Math.min(counter.least, points[at]);
                counter.most = Math.max(counter.most, points[at]);
            }
        }
    }
});

/// Draws what is in the rows of bands besides calls.
function drawBands() {
    const { context, width, height, shown } = main, scale = width / shown.span, colours = getComputedStyle(document.body);
    const paint = name => colours.getPropertyValue(name);
    for (const i of bandFrames) {
        const y = main.rowTop(row[i]), band = bandOf(fn[i]), step = main.isTurned ? -1 : 1;
        band.counters.forEach((counter, at) => {
            const near = main.rowTop(row[i] + 1 + stateRows(band) + at * counterRows), far = near + step * (counterRows - 1) * rowHeight;
            const top = Math.min(near, far);
            if (top < height && top > -counterRows * rowHeight) drawCounter(counter, top, paint);
        });
        drawStates(i, paint);
        if (y < -rowHeight || y > height) continue;
        context.fillStyle = paint('--bar');
        context.fillRect(0, y, width, rowHeight - 1);
        const x = Math.max((left[i] - shown.start) * scale, 0), far = (left[i] + total[i] - shown.start) * scale;
        context.fillStyle = paint('--edge');
        context.fillRect(x, y + rowHeight - 2, Math.max(Math.min(far, width) - x, 0), 1);
        context.font = `600 ${font}`;
        context.fillStyle = paint('--text');
        const title = band.folded ? `${band.name}  ▸ ${counted(band.folded, 'more row')}` : band.isOpen ? `${band.name}  ▾` : band.name;
        context.fillText(fitted(context, title, width - 12), 6, y + rowHeight / 2);
        const named = 6 + context.measureText(title).width + 12; // px that the name takes
        context.font = font;
        band.marks.forEach(([moment, text], at) => {
            const x = (moment - shown.start) * scale;
            if (x < 0 || x > width) return;
            context.fillStyle = paint('--focus');
            if (x < named) return context.fillRect(x, y + rowHeight - 5, 2, 4); // below the name
            context.beginPath();
            context.moveTo(x - 4, y + 4);
            context.lineTo(x + 4, y + 4);
            context.lineTo(x, y + rowHeight - 3);
            context.fill();
            const next = band.marks[at + 1], room = Math.min(next ? (next[0] - shown.start) * scale - 6 : width, width) - x - 8;
            context.fillText(fitted(context, text, room), x + 7, y + rowHeight / 2);
        });
    }
}

/// The place in a counter's points of the value at a moment, or -1 before the first.
function pointAt({ points }, moment) {
    let low = 0, high = points.length / 2;
    while (low < high) {
        const at = low + high >> 1;
        if (points[2 * at] <= moment) low = at + 1; else high = at;
    }
    return low - 1;
}

/// Draws a counter as steps. Values that share a column of pixels are a line there from the least to the greatest, and the last of
/// them goes on.
function drawCounter(counter, top, paint) {
    const { context, width, shown } = main, { points, least, most } = counter, scale = width / shown.span;
    const room = counterRows * rowHeight - 4, tall = value => (value - least) / (most - least || 1) * room;
    const ground = top + counterRows * rowHeight - 2, zero = ground - tall(0);
    context.fillStyle = palette().counter;
    for (let at = Math.max(pointAt(counter, shown.start), 0), x; at < points.length / 2; at++) {
        x = Math.max((points[2 * at] - shown.start) * scale, 0);
        if (x >= width) break;
        let [low, high] = [points[2 * at + 1], points[2 * at + 1]];
        while (2 * at + 2 < points.length && (points[2 * at + 2] - shown.start) * scale < x + 1) {
            at++;
            low = Math.min(low, points[2 * at + 1]);
            high = Math.max(high, points[2 * at + 1]);
        }
        const far = Math.min(2 * at + 2 < points.length ? (points[2 * at + 2] - shown.start) * scale : width, width);
        const last = points[2 * at + 1];
        for (const [end, from, to] of [[far, last, last], [Math.min(x + 1, far), low, high]]) {
            const upper = Math.min(ground - tall(to), zero), lower = Math.max(ground - tall(from), zero);
            context.fillRect(x, upper, end - x, Math.max(lower - upper, 1));
        }
    }
    context.fillStyle = paint('--text');
    const label = `${counter.name}  ${number(least)} … ${number(most)}`;
    context.fillText(fitted(context, label, width - 12), 6, top + rowHeight / 2);
}

/// What a band's rows show at a point of the view: a mark or a counter's value, as pairs of a word and its value.
function bandFacts(x, y) {
    const r = main.rowAt(y), moment = main.momentAt(x);
    const i = bandFrames.findLast(each => row[each] <= r);
    if (i === undefined) return null;
    const band = bandOf(fn[i]), below = r - row[i] - 1, counter = band.counters[Math.floor((below - stateRows(band)) / counterRows)];
    if (below === 0 && stateRows(band)) return stateFacts(i, moment);
    if (below >= 0 && counter) {
        const at = pointAt(counter, moment);
        if (at < 0) return null;
        const [since, value] = counter.points.slice(2 * at, 2 * at + 2);
        return { name: counter.name, facts: [['value', number(value)], ...momentFacts(since)] };
    }
    if (r !== row[i]) return null;
    const near = 6 * main.shown.span / main.width, mark = band.marks.find(([at]) => Math.abs(at - moment) < near);
    return mark ? { name: mark[1], facts: momentFacts(mark[0]) } : null;
}
