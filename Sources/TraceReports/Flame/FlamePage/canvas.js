// The drawing: only what can be seen, the rows in view and of those the frames wide enough.
const element = id => document.getElementById(id);
const make = (tag, text) => { // also where the document is no HTML document
    const node = document.createElementNS(document.documentElement.namespaceURI, tag);
    if (text !== undefined) node.textContent = text;
    return node;
};
const canvas = element('canvas'), view = element('view'), context = canvas.getContext('2d');
const rowHeight = 20, narrowest = 0.1, transition = 180; // px, px, ms
let zoomed = 0, selected = 0, inverted = data.inverted, width = 0, height = 0, letter = 7;
let matches = null; // by function, or null without a search
let narrow = []; // what was drawn of frames too narrow to draw: {row, x, width, count, total}
let shown = { start: 0, span: Math.max(data.total, 1) }; // ns
let moving = 0; // the animation frame that is to come, or 0
let scrolled = 0; // px, as of the last drawing

const space = () => Math.max(rows * rowHeight, height);
const rowTop = r => (inverted ? space() - (r + 1) * rowHeight : r * rowHeight) - scrolled;
const target = () => ({ start: left[zoomed], span: Math.max(total[zoomed], 1) });

/// Where a frame is in the view, in px, cut off at its edges; a width of 0 is out of view.
function placeOf(i) {
    const scale = width / shown.span, x = Math.max((left[i] - shown.start) * scale, 0);
    const far = Math.min((left[i] + total[i] - shown.start) * scale, width);
    return { x, y: rowTop(row[i]), width: Math.max(far - x, 0), height: rowHeight - 1 };
}

/// Fits the canvas to the view. Setting its size clears it, so only when that changed.
function fit() {
    const ratio = devicePixelRatio || 1;
    width = view.clientWidth;
    height = view.clientHeight;
    const size = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
        [canvas.width, canvas.height] = size;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    element('space').style.height = `${space()}px`;
    scrolled = view.scrollTop;
    theme = dark.matches ? 'dark' : 'light';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace';
    context.textBaseline = 'middle';
    letter = context.measureText('0').width;
    return ratio;
}

function draw() {
    const ratio = fit(), scale = width / shown.span, pixel = 1 / ratio;
    context.clearRect(0, 0, width, height);
    narrow = [];
    const painted = new Int32Array(rows).fill(-1); // by row: the last column of pixels with a frame
    const text = ink[theme], faint = 0.32;
    let run = null; // neighbours too narrow to draw, drawn as one
    const close = () => { if (run) block(run); run = null; };
    for (let i = 0; i < count;) {
        const from = (left[i] - shown.start) * scale, w = total[i] * scale;
        if (i > 0 && (from >= width - 1e-6 || from + w <= 1e-6)) { i = end[i]; continue; }
        if (w < narrowest) {
            const sum = fn[i] === summed ? self[i] : total[i], frames = fn[i] === summed ? calls[i] : end[i] - i;
            if (run && run.row === row[i] && from - run.x - run.width < narrowest) {
                run.width = from + w - run.x;
                run.count += frames;
                run.total += sum;
            } else {
                close();
                run = { row: row[i], x: from, width: w, count: frames, total: sum };
            }
            i = end[i];
            continue;
        }
        close();
        const y = rowTop(row[i]);
        if (y > -rowHeight && y < height) {
            const isMatch = matches !== null && fn[i] >= 0 && matches[fn[i]];
            const isOutside = row[i] < row[zoomed];
            if (w < pixel) {
                // Of frames that share a column of pixels one is seen, a match before others.
                const column = Math.floor(from * ratio);
                if (isMatch || painted[row[i]] < column) {
                    painted[row[i]] = column;
                    context.globalAlpha = matches && !isMatch ? faint : 1;
                    context.fillStyle = isMatch ? matched[theme] : fillOf(i);
                    context.fillRect(column * pixel, y, pixel, rowHeight - 1);
                }
            } else {
                const x = Math.max(from, 0), seen = Math.min(from + w, width) - x;
                context.globalAlpha = matches && !isMatch ? faint : isOutside ? 0.55 : 1;
                context.fillStyle = isMatch ? matched[theme] : fillOf(i);
                context.fillRect(x, y, w > 3 ? seen - 0.75 : seen, rowHeight - 1);
                const letters = Math.floor((seen - 8) / letter);
                if (letters > 2) {
                    const label = name(i);
                    context.globalAlpha = matches && !isMatch || isOutside ? 0.75 : 1;
                    context.fillStyle = text;
                    context.fillText(
                        label.length > letters ? label.slice(0, letters - 1) + '…' : label, x + 4, y + rowHeight / 2);
                }
            }
        }
        i++;
    }
    close();
    context.globalAlpha = 1;
    ruler();
    outline('chosen', selected);
}

function block(run) {
    narrow.push(run);
    const y = rowTop(run.row);
    if (y < -rowHeight || y > height) return;
    context.globalAlpha = 1;
    context.fillStyle = plain[theme];
    context.fillRect(run.x, y, Math.max(run.width, narrowest), rowHeight - 1);
}

/// Puts a frame's outline where the frame is, or hides it.
function outline(id, i) {
    const node = element(id), place = i === null ? { width: 0 } : placeOf(i);
    node.hidden = place.width === 0;
    if (node.hidden) return;
    node.style.transform = `translate(${place.x}px, ${place.y + scrolled}px)`;
    node.style.width = `${Math.max(place.width, 3)}px`;
    node.style.height = `${place.height}px`;
}

/// Marks of time above a flame chart, at round numbers.
function ruler() {
    const node = element('ruler');
    node.hidden = data.order !== 'time';
    if (node.hidden) return;
    const least = shown.span / Math.max(width / 110, 1), magnitude = 10 ** Math.floor(Math.log10(least));
    const step = Math.max([1, 2, 5, 10].find(n => n * magnitude >= least) * magnitude, 1);
    // All marks in one unit, with as many digits as tell them apart.
    const [scale, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(
        ([scale]) => shown.start + shown.span >= scale || scale === 1);
    const digits = Math.max(Math.ceil(Math.log10(scale / step) - 1e-9), 0);
    const marks = [];
    for (let at = Math.ceil(shown.start / step) * step; at <= shown.start + shown.span; at += step) {
        const mark = make('span', `${(at / scale).toFixed(digits)} ${unit}`);
        mark.style.left = `${(at - shown.start) * width / shown.span}px`;
        marks.push(mark);
    }
    node.replaceChildren(...marks);
}

/// Moves to what is zoomed to, in a moment, or at once for who wants no motion.
function move() {
    cancelAnimationFrame(moving);
    moving = 0;
    const from = shown, to = target();
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) { shown = to; return draw(); }
    let begin = null;
    const step = now => {
        begin ??= now;
        const part = Math.min((now - begin) / transition, 1), eased = 1 - (1 - part) ** 3;
        shown = part === 1 ? to : {
            start: from.start + (to.start - from.start) * eased, span: from.span + (to.span - from.span) * eased,
        };
        moving = part === 1 ? 0 : requestAnimationFrame(step);
        draw();
    };
    moving = requestAnimationFrame(step);
}

/// The frame at a point of the view, or a block of narrow ones, or nothing.
function hit(x, y) {
    const r = Math.floor((inverted ? space() - y - scrolled : y + scrolled) / rowHeight);
    for (const run of narrow) if (run.row === r && x >= run.x && x <= run.x + run.width) return { run };
    const moment = shown.start + x * shown.span / width;
    for (let i = 0; i < count;) {
        const isInside = i === 0 || moment >= left[i] && moment < left[i] + total[i];
        if (!isInside) { i = end[i]; continue; }
        if (row[i] === r) return { frame: i };
        i++;
    }
    return {};
}
