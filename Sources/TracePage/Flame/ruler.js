// Time above a chart: marks at round numbers, and the range that was chosen.
let isClock = false; // whether the ruler tells the time of day

function drawRuler() {
    const node = element('marks'), { shown, width } = main, most = isClock ? 170 : 110; // px between two marks
    const least = shown.span / Math.max(width / most, 1), magnitude = 10 ** Math.floor(Math.log10(least));
    const step = Math.max([1, 2, 5, 10].find(n => n * magnitude >= least) * magnitude, 1);
    // All marks in one unit, with as many digits as tell them apart.
    const [scale, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(
        ([scale]) => data.time.origin + shown.start + shown.span >= scale || scale === 1);
    const digits = each => Math.max(Math.ceil(Math.log10(each / step) - 1e-9), 0);
    // Times of day are round, or those since the session's start, where those since the chart's are not.
    const { origin, began } = data.time, offset = (isClock ? began[1] : origin) % step;
    const marks = [];
    for (let at = Math.ceil((shown.start + offset) / step) * step - offset; at <= shown.start + shown.span; at += step) {
        const mark = make('span', isClock ? clock(at, digits(1e9)) : `${((origin + at) / scale).toFixed(digits(scale))} ${unit}`);
        mark.style.left = `${(at - shown.start) * width / shown.span}px`;
        marks.push(mark);
    }
    node.replaceChildren(...marks);
    drawRange();
}

function drawRange() {
    const { shown, width } = main;
    for (const node of [element('range'), element('ranged')]) {
        node.hidden = range === null;
        if (range === null) continue;
        const scale = width / shown.span, from = Math.max((range.start - shown.start) * scale, 0);
        const to = Math.min((range.end - shown.start) * scale, width);
        node.style.left = `${from}px`;
        node.style.width = `${Math.max(to - from, 0)}px`;
    }
    if (range) element('ranged').textContent = time(range.end - range.start);
}

/// Chooses a range of time; null for none.
function setRange(from, to) {
    const inside = moment => Math.min(Math.max(moment, 0), total[0]);
    range = from === null ? null : { start: inside(Math.min(from, to)), end: inside(Math.max(from, to)) };
    drawRange();
    tell(selected);
    viewChanged();
    remember();
}

function toggleClock() {
    isClock = !isClock;
    element('clock').setAttribute('aria-pressed', isClock);
    drawRuler();
    remember();
}

/// When something was, as pairs of a word and its value.
const momentFacts = moment => [['at', since(moment)], ['time of day', `${clock(moment)} UTC`]];

// The ruler is as wide as the view, so its x are the view's.
let rangeBegin = null;
element('ruler').addEventListener('pointerdown', event => {
    element('ruler').setPointerCapture(event.pointerId);
    rangeBegin = event.clientX - view.getBoundingClientRect().x;
});
element('ruler').addEventListener('pointermove', event => {
    if (rangeBegin === null) return;
    const x = event.clientX - view.getBoundingClientRect().x;
    if (Math.abs(x - rangeBegin) > slack) setRange(rangeMoment(rangeBegin), rangeMoment(x));
});
for (const end of ['pointerup', 'pointercancel']) element('ruler').addEventListener(end, () => { rangeBegin = null; });
