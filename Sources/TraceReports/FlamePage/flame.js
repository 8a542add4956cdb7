'use strict';
// The page draws only what can be seen: frames on the rows in view, and of those the ones wide enough.
const data = JSON.parse(document.getElementById('data').textContent);
const { names, modules, kinds, module, kind, frames } = data;
const columns = 6; // of `frames`: function, depth, calls, start, total, self
const count = frames.length / columns + 1;
const fn = new Int32Array(count), row = new Int32Array(count), parent = new Int32Array(count), end = new Int32Array(count);
const calls = new Float64Array(count), left = new Float64Array(count), total = new Float64Array(count);
const self = new Float64Array(count);

// Frame 0 stands for all; the rest are in pre-order, so those below frame i are i + 1 ..< end[i].
let rows = 1;
{
    fn[0] = parent[0] = -1;
    total[0] = data.total;
    const open = [0];
    for (let i = 1, at = 0; i < count; i++, at += columns) {
        fn[i] = frames[at];
        row[i] = frames[at + 1] + 1;
        calls[i] = frames[at + 2];
        left[i] = frames[at + 3];
        total[i] = frames[at + 4];
        self[i] = frames[at + 5];
        while (open.length > row[i]) end[open.pop()] = i;
        parent[i] = open[open.length - 1];
        if (row[i] >= rows) rows = row[i] + 1;
        open.push(i);
    }
    for (const i of open) end[i] = count;
}

const element = id => document.getElementById(id);
const canvas = element('canvas'), view = element('view'), context = canvas.getContext('2d');
const dark = matchMedia('(prefers-color-scheme: dark)');
const rowHeight = 18, narrowest = 0.1; // px
let zoomed = 0, selected = 0, inverted = data.inverted, width = 0, height = 0, letter = 7;
let matches = null; // by function, or null without a search
let narrow = []; // what was drawn of frames too narrow to draw: {row, x, width, count, total}

const name = i => i === 0 ? 'all' : names[fn[i]];

function time(ns) {
    for (const [scale, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]) {
        if (ns >= scale) return `${(ns / scale).toFixed(ns / scale < 10 ? 3 : 1)} ${unit}`;
    }
    return `${ns} ns`;
}

const percent = (part, whole) => `${(whole > 0 ? 100 * part / whole : 0).toFixed(2)} %`;

function groupOf(i) {
    const byKind = element('colour').value === 'kind';
    return i === 0 ? -1 : (byKind ? kind : module)[fn[i]];
}

/// The colour of a group; `shade`, 0..10, tells its functions apart.
function colour(group, shade) {
    if (group < 0) return dark.matches ? '#3d3e44' : '#d9d9de';
    const hue = (32 + group * 137.508 + 2 * shade) % 360; // golden angle: neighbours differ
    return dark.matches ? `hsl(${hue} 38% ${30 + shade}%)` : `hsl(${hue} 68% ${80 - shade}%)`;
}

const rowTop = r => (inverted ? Math.max(rows * rowHeight, height) - (r + 1) * rowHeight : r * rowHeight) - view.scrollTop;

function draw() {
    const ratio = devicePixelRatio || 1;
    width = view.clientWidth;
    height = view.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    element('space').style.height = `${Math.max(rows * rowHeight, height)}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
    context.textBaseline = 'middle';
    letter = context.measureText('0').width;
    narrow = [];
    for (let i = parent[zoomed]; i >= 0; i = parent[i]) frame(i, 0, width, true);
    const scale = width / Math.max(total[zoomed], 1);
    let run = null; // neighbours too narrow to draw, drawn as one
    const close = () => { if (run) { block(run); run = null; } };
    for (let i = zoomed; i < end[zoomed];) {
        const x = (left[i] - left[zoomed]) * scale, w = i === zoomed ? width : total[i] * scale;
        if (w >= narrowest) {
            close();
            frame(i, x, w, false);
            i++;
            continue;
        }
        if (run && run.row === row[i] && x - run.x - run.width < 1e-6 + narrowest) {
            run.width = x + w - run.x;
            run.count++;
            run.total += total[i];
        } else {
            close();
            run = { row: row[i], x, width: w, count: 1, total: total[i] };
        }
        i = end[i];
    }
    close();
    crumbs();
}

function block(run) {
    narrow.push(run);
    const y = rowTop(run.row);
    if (y < -rowHeight || y > height) return;
    context.fillStyle = colour(-1, 0);
    context.fillRect(run.x, y, Math.max(run.width, narrowest), rowHeight - 1);
}

function frame(i, x, w, faded) {
    const y = rowTop(row[i]);
    if (y < -rowHeight || y > height) return;
    const isMatch = matches && i > 0 && matches[fn[i]];
    context.globalAlpha = faded ? 0.5 : matches && !isMatch ? 0.4 : 1;
    context.fillStyle = isMatch ? (dark.matches ? '#b0308c' : '#f06ad0') : colour(groupOf(i), fn[i] * 7 % 11);
    context.fillRect(x, y, w > 2 ? w - 0.5 : w, rowHeight - 1);
    if (i === selected) {
        context.strokeStyle = getComputedStyle(document.body).getPropertyValue('--focus');
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), rowHeight - 3);
    }
    const letters = Math.floor((w - 6) / letter);
    if (letters > 2) {
        const text = name(i);
        context.globalAlpha = faded ? 0.7 : 1;
        context.fillStyle = dark.matches ? '#f2f2f4' : '#17171a';
        context.fillText(text.length > letters ? text.slice(0, letters - 1) + '…' : text, x + 3, y + rowHeight / 2);
    }
    context.globalAlpha = 1;
}

/// The frame at a point of the view, or a block of narrow ones, or nothing.
function hit(x, y) {
    const at = (inverted ? Math.max(rows * rowHeight, height) - y - view.scrollTop : y + view.scrollTop) / rowHeight;
    const r = Math.floor(at);
    for (let i = parent[zoomed]; i >= 0; i = parent[i]) if (row[i] === r) return { frame: i };
    for (const run of narrow) if (run.row === r && x >= run.x && x <= run.x + run.width) return { run };
    const scale = width / Math.max(total[zoomed], 1), moment = left[zoomed] + x / scale;
    for (let i = zoomed; i < end[zoomed];) {
        const inside = moment >= left[i] && moment < left[i] + total[i];
        if (!inside) { i = end[i]; continue; }
        if (row[i] === r) return { frame: i };
        i++;
    }
    return {};
}

function facts(i) {
    const part = `total ${time(total[i])} (${percent(total[i], total[0])})`;
    if (i === 0) return part;
    const ofZoom = zoomed > 0 ? `, ${percent(total[i], total[zoomed])} of what is shown` : '';
    return `${calls[i].toLocaleString('en')} ${calls[i] === 1 ? 'call' : 'calls'} · ${part}${ofZoom} · ` +
        `self ${time(self[i])} (${percent(self[i], total[0])})`;
}

function tell(i) { element('status').textContent = `${name(i)} · ${facts(i)}`; }

function select(i) {
    selected = i;
    tell(i);
    const y = rowTop(row[i]);
    if (y < 0) view.scrollTop += y;
    if (y + rowHeight > height) view.scrollTop += y + rowHeight - height;
    draw();
}

function zoom(i) {
    zoomed = i;
    hideTip();
    select(i);
}

function crumbs() {
    const path = [];
    for (let i = zoomed; i >= 0; i = parent[i]) path.unshift(i);
    const shown = path.length > 12 ? [...path.slice(0, 3), -1, ...path.slice(-8)] : path;
    const nodes = [];
    for (const i of shown) {
        if (nodes.length) nodes.push(Object.assign(document.createElement('span'), { textContent: '›' }));
        if (i < 0) { nodes.push(Object.assign(document.createElement('span'), { textContent: '…' })); continue; }
        const button = Object.assign(document.createElement('button'), { textContent: name(i) });
        button.onclick = () => zoom(i);
        nodes.push(button);
    }
    element('crumbs').replaceChildren(...nodes);
}

function search() {
    const text = element('search').value;
    let test = null;
    if (text.length > 2 && text.startsWith('/') && text.endsWith('/')) {
        try { const regex = new RegExp(text.slice(1, -1)); test = n => regex.test(n); } catch { test = () => false; }
    } else if (text) {
        const lower = text.toLowerCase();
        test = n => n.toLowerCase().includes(lower);
    }
    matches = test && names.map(test);
    if (matches) {
        // A match within a match adds no time.
        let sum = 0;
        for (let i = 1; i < count;) {
            if (matches[fn[i]]) { sum += total[i]; i = end[i]; } else i++;
        }
        element('matched').textContent = `matched ${percent(sum, total[0])}`;
    } else element('matched').textContent = '';
    draw();
}

function legend() {
    const isKind = element('colour').value === 'kind', groups = isKind ? kinds : modules;
    element('legend').replaceChildren(...groups.slice(0, 6).map((text, group) => {
        const item = document.createElement('span'), mark = document.createElement('i');
        mark.style.background = colour(group, 4);
        item.append(mark, text);
        return item;
    }));
    draw();
}

function hideTip() { element('tip').style.display = 'none'; }

canvas.addEventListener('mousemove', event => {
    const found = hit(event.offsetX, event.offsetY), tip = element('tip');
    canvas.style.cursor = found.frame === undefined ? 'default' : 'pointer';
    if (found.frame === undefined && !found.run) return hideTip();
    const title = document.createElement('b'), rest = document.createElement('small');
    if (found.run) {
        title.textContent = `${found.run.count} frames too narrow to show`;
        rest.textContent = `total ${time(found.run.total)} (${percent(found.run.total, total[0])})`;
    } else {
        const i = found.frame;
        title.textContent = name(i);
        rest.textContent = facts(i) + (i > 0 ? ` · ${modules[module[fn[i]]]}` : '');
        tell(i);
    }
    tip.replaceChildren(title, rest);
    tip.style.display = 'block';
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    const below = event.clientY + 18;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below}px`;
});
canvas.addEventListener('mouseleave', () => { hideTip(); tell(selected); });
canvas.addEventListener('click', event => {
    const found = hit(event.offsetX, event.offsetY);
    if (found.frame !== undefined) zoom(found.frame);
});

/// The first of a frame's callees that is wide enough to be seen, or the frame itself.
function callee(i) {
    let best = i;
    for (let j = i + 1; j < end[i]; j = end[j]) if (best === i || total[j] > total[best]) best = j;
    return best;
}

function sibling(i, step) {
    if (i === 0) return i;
    let before = i;
    for (let j = parent[i] + 1; j < end[parent[i]]; j = end[j]) {
        if (step < 0 && j === i) return before;
        if (step > 0 && j > i) return j;
        before = j;
    }
    return i;
}

function turn() {
    inverted = !inverted;
    draw();
    view.scrollTop = inverted ? view.scrollHeight : 0;
    draw();
}

addEventListener('keydown', event => {
    const isTyping = event.target === element('search');
    if (event.key === 'Escape') {
        if (isTyping || element('search').value) {
            element('search').value = '';
            search();
            canvas.focus();
        } else zoom(0);
        return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    const out = inverted ? 'ArrowDown' : 'ArrowUp', into = inverted ? 'ArrowUp' : 'ArrowDown';
    const actions = {
        '/': () => element('search').focus(),
        i: turn,
        Home: () => zoom(0),
        Backspace: () => zoom(Math.max(parent[zoomed], 0)),
        ArrowLeft: () => select(sibling(selected, -1)),
        ArrowRight: () => select(sibling(selected, 1)),
        [out]: () => select(Math.max(parent[selected], 0)),
        [into]: () => select(callee(selected)),
    };
    if (event.key === 'Enter' && event.target === canvas) actions.Enter = () => zoom(selected);
    if (actions[event.key]) {
        event.preventDefault();
        actions[event.key]();
    }
});
element('search').addEventListener('input', search);
element('colour').addEventListener('change', legend);
element('turn').addEventListener('click', turn);
view.addEventListener('scroll', draw);
addEventListener('resize', draw);
dark.addEventListener('change', legend);

element('title').textContent = document.title;
element('colour').value = data.colour;
tell(0);
legend();
if (inverted) { view.scrollTop = view.scrollHeight; draw(); }
canvas.focus();
