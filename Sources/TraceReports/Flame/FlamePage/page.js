// What a person does with the page.
let order = []; // the search's frames, for Enter

function pairs(known) {
    const list = make('dl');
    for (const [word, value] of known) list.append(make('dt', word), make('dd', value));
    return list;
}

function tell(i) {
    element('status').textContent = [name(i), ...facts(i, zoomed).map(([word, value]) => `${word} ${value}`)].join(' · ');
}

function select(i) {
    selected = i;
    tell(i);
    const y = rowTop(row[i]);
    if (y < 0) view.scrollTop = scrolled + y;
    if (y + rowHeight > height) view.scrollTop = scrolled + y + rowHeight - height;
    if (!moving) draw();
}

function zoom(i) {
    if (fn[i] === summed) i = parent[i];
    const isMove = i !== zoomed;
    zoomed = i;
    hideTip();
    select(i);
    // Room for its callees.
    const y = rowTop(row[i]), most = height * 0.4;
    if (!inverted && y > most) view.scrollTop += y - most;
    if (inverted && y < height - most) view.scrollTop -= height - most - y;
    crumbs();
    if (isMove) move(); else draw();
}

function crumbs() {
    const path = [];
    for (let i = zoomed; i >= 0; i = parent[i]) path.unshift(i);
    const short = path.length > 12 ? [...path.slice(0, 3), -1, ...path.slice(-8)] : path;
    const nodes = [];
    for (const i of short) {
        if (nodes.length) nodes.push(make('span', '›'));
        if (i < 0) { nodes.push(make('span', '…')); continue; }
        const button = make('button', name(i));
        button.title = name(i);
        if (i === zoomed) button.setAttribute('aria-current', 'location');
        button.onclick = () => { zoom(i); canvas.focus(); };
        nodes.push(button);
    }
    element('crumbs').replaceChildren(...nodes);
    element('crumbs').scrollLeft = element('crumbs').scrollWidth;
}

function search() {
    const text = element('search').value, found = text === '' ? null : find(text);
    matches = found?.matches ?? null;
    order = [];
    for (let i = 1; matches && i < count; i++) if (matches[fn[i]]) order.push(i);
    const least = found && percent(found.least, total[0]), most = found && percent(found.most, total[0]);
    element('matched').textContent =
        !found ? '' : found.error ? 'no regular expression' : found.functions === 0
            ? (found.most > 0 ? 'no match wide enough to show' : 'no match')
        : `${least === most ? least : `${least.slice(0, -2)}–${most}`} in ${found.functions.toLocaleString('en')} ` +
            (found.functions === 1 ? 'function' : 'functions');
    element('search').classList.toggle('none', found !== null && !(found.functions > 0));
    draw();
}

/// Selects the search's next frame, or the one before.
function next(step) {
    if (order.length === 0) return;
    let at = order.findIndex(i => step > 0 ? i > selected : i >= selected);
    if (at < 0) at = step > 0 ? 0 : order.length;
    const i = order[(step > 0 ? at : at - 1 + order.length) % order.length];
    if (!isInside(i, zoomed)) zoom(0);
    select(i);
}

function legend() {
    draw(); // first: it looks at the theme
    const groups = colouring.legend(), most = 8;
    const nodes = groups.slice(0, most).map(([colour, text]) => {
        const item = make('span'), mark = make('i');
        mark.style.background = colour;
        item.append(mark, text);
        return item;
    });
    if (groups.length > most) nodes.push(make('span', `and ${groups.length - most} more`));
    element('legend').replaceChildren(...nodes);
}

function hideTip() {
    element('tip').hidden = true;
    outline('hover', null);
}

/// Shows what is at a point of the view, beside the pointer and inside the window.
function showTip(event) {
    const found = hit(event.offsetX, event.offsetY), tip = element('tip');
    canvas.style.cursor = found.frame === undefined ? 'default' : 'pointer';
    if (found.frame === undefined && !found.run) { hideTip(); return tell(selected); }
    const { run, frame } = found;
    tip.replaceChildren(
        make('b', run ? tooNarrow(run.count) : name(frame)),
        pairs(run ? [['total', `${time(run.total)} (${percent(run.total, total[0])})`]] : facts(frame, zoomed)));
    if (!run) tell(frame);
    outline('hover', run ? null : frame);
    tip.hidden = false;
    const edge = 8, { offsetWidth: w, offsetHeight: h } = tip;
    const x = event.clientX + 14 + w + edge > innerWidth ? event.clientX - 14 - w : event.clientX + 14;
    const y = event.clientY + 18 + h + edge > innerHeight ? event.clientY - 12 - h : event.clientY + 18;
    tip.style.left = `${Math.max(Math.min(x, innerWidth - w - edge), edge)}px`;
    tip.style.top = `${Math.max(Math.min(y, innerHeight - h - edge), edge)}px`;
}

canvas.addEventListener('mousemove', showTip);
canvas.addEventListener('mouseleave', () => { hideTip(); tell(selected); });
canvas.addEventListener('click', event => {
    const found = hit(event.offsetX, event.offsetY);
    if (found.frame !== undefined) zoom(found.frame);
});

function turn() {
    inverted = !inverted;
    hideTip();
    fit();
    view.scrollTop = inverted ? view.scrollHeight : 0;
    draw();
}

const help = element('help');
addEventListener('keydown', event => {
    if (help.open) return;
    const isTyping = event.target === element('search');
    if (event.key === 'Escape') {
        event.preventDefault();
        if (isTyping || element('search').value) {
            element('search').value = '';
            search();
            canvas.focus();
        } else zoom(0);
        return;
    }
    if (isTyping && event.key === 'Enter') { event.preventDefault(); next(event.shiftKey ? -1 : 1); }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.target.localName === 'select') return;
    const out = inverted ? 'ArrowDown' : 'ArrowUp', into = inverted ? 'ArrowUp' : 'ArrowDown';
    const actions = {
        '/': () => { element('search').focus(); element('search').select(); },
        '?': () => help.showModal(),
        i: turn,
        n: () => next(1),
        N: () => next(-1),
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
element('colour').addEventListener('change', event => { colouring = colourings[event.target.value]; legend(); });
element('turn').addEventListener('click', turn);
element('keys').addEventListener('click', () => help.showModal());
element('close').addEventListener('click', () => help.close());
view.addEventListener('scroll', () => { hideTip(); draw(); });
addEventListener('resize', () => {
    hideTip();
    const below = space() - height - scrolled; // stays as it is where the root is at the bottom
    fit();
    if (inverted) view.scrollTop = space() - height - below;
    draw();
});
dark.addEventListener('change', legend);

element('title').textContent = document.title;
element('title').title = document.title;
for (const each of Object.keys(colourings)) element('colour').append(make('option', each));
element('colour').value = data.colour;
if (data.order === 'time') canvas.setAttribute('aria-label', canvas.getAttribute('aria-label').replace('graph', 'chart'));
tell(0);
crumbs();
legend();
if (inverted) { view.scrollTop = view.scrollHeight; draw(); }
canvas.focus({ preventScroll: true });
