// What is told of a frame: numbers first, then its name and where it is written.
let pointed = null; // the frame under the pointer

/// What is known of a frame, as pairs of a word and its value.
function facts(each, i) {
    const f = each.fn[i], share = part => `${time(part)} (${percent(part, everything())})`;
    if (f === whole) {
        if (!data.changes) return [['total', time(everything())], ...!tellsWall ? [] : [['wall time', time(wall)]]];
        const [before, after] = data.changes.totals;
        return [['total', time(after)], ['before', time(before)], ['change', signed(after - before)]];
    }
    if (f === summed) return [['total', share(each === graph ? each.self[i] : each.total[i])]];
    const told = [[countedThings, number(each.calls[i])], ['total', share(each.total[i])]];
    if (each !== callersView.graph || i === 0) told.push(['self', share(each.self[i])]);
    if (each === graph && knowsWaits && data.waiting[i - 1] > 0) {
        told.push(['waiting', `${time(data.waiting[i - 1])} (${percent(data.waiting[i - 1], each.total[i])} of it)`]);
    }
    if (each !== graph) return i === 0 ? told : [...told, ['of the function', percent(each.total[i], each.total[0])]];
    if (data.changes) {
        const was = change(i);
        told.push(['before', was.calls + was.total === 0 ? 'not there' :
            `${countedThings} ${number(was.calls)} · total ${time(was.total)} · self ${time(was.self)}`]);
    }
    if (zoomed > 0) told.push(['of shown', percent(total[i], total[zoomed])]);
    return told;
}

const words = told => told.map(([word, value]) => `${word} ${value}`).join(' · ');

/// Everything about a frame, as it is copied.
function wording(each, i) {
    const f = each.fn[i];
    return [words(facts(each, i)), each.name(i), ...f < 0 ? [] : [placeIn(f), moduleOf(f)]].filter(part => part).join('\n');
}

function tell(i) {
    // Each by itself, so that the style sheet can give each its room, or a line.
    const parts = [words(facts(graph, i)), middle(name(i), 1000), placeIn(fn[i])].filter(part => part).map((part, at) => {
        const node = make('span');
        if (at > 0) node.append(make('i', ' · '));
        node.append(part);
        node.title = part;
        return node;
    });
    element('status').replaceChildren(...parts);
}

function hideTip() {
    pointed = null;
    element('tip').hidden = true;
    for (const each of [main, callersView, calleesView]) each.outline('hover', null);
}

/// Shows what is at a point of a view, beside the pointer and inside the window.
function showTip(painter, event) {
    const found = painter.hit(event.offsetX, event.offsetY);
    painter.canvas.style.cursor = found.frame === undefined && !found.run ? 'default' : 'pointer';
    if (found.frame === undefined && !found.run) { hideTip(); return tell(selected); }
    const { frame, run } = found, each = painter.graph;
    pointed = frame === undefined ? null : { each, i: frame };
    const told = run ? [['total', `${time(run.total)} (${percent(run.total, everything())})`]]
        : facts(each, frame);
    const list = make('dl');
    for (const [word, value] of told) list.append(make('dt', word), make('dd', value));
    const title = make('b'), f = frame === undefined ? whole : each.fn[frame];
    const nodes = [list, title];
    if (f >= 0) nodes.push(make('p', [placeIn(f), moduleOf(f)].filter(part => part).join(' · ')));
    const tip = element('tip');
    tip.replaceChildren(...nodes);
    tip.hidden = false;
    fill(title, run ? tooNarrow(run.count) : each.name(frame), 3);
    if (pointed && painter === main) tell(frame);
    painter.outline('hover', frame ?? null);
    place(tip, event.clientX, event.clientY);
}

function place(tip, x, y) {
    const edge = 8, { offsetWidth: w, offsetHeight: h } = tip;
    const near = x + 14 + w + edge > innerWidth ? x - 14 - w : x + 14;
    const below = y + 18 + h + edge > innerHeight ? y - 12 - h : y + 18;
    tip.style.left = `${Math.max(Math.min(near, innerWidth - w - edge), edge)}px`;
    tip.style.top = `${Math.max(Math.min(below, innerHeight - h - edge), edge)}px`;
}

/// Copies what is told of the frame under the pointer, or of the selected one.
const copy = () => document.execCommand('copy');

document.addEventListener('copy', event => {
    if (!getSelection().isCollapsed || ['INPUT', 'input'].includes(document.activeElement?.tagName)) return;
    const { each, i } = pointed ?? { each: graph, i: selected };
    event.clipboardData.setData('text/plain', wording(each, i));
    event.preventDefault();
    element('status').textContent = `copied: ${middle(each.name(i), 100)}`;
});
