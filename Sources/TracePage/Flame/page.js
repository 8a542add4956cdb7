// The rest of the page, and its beginning.
function setColouring(key) {
    colouring = element('colour').value = key;
    repaint();
    remember();
}

/// Draws all anew, for instance in another theme.
function repaint() {
    legend();
    main.draw();
    fillPanel();
}

function begin() {
    element('title').textContent = element('title').title = document.title;
    element('sum').textContent = summary();
    if (tellsWall) element('sum').title = 'total: the sum over all threads; wall time: from the first call to the end of the last';
    for (const key of Object.keys(colourings)) {
        const option = make('option', colouringNames[key]);
        option.value = key;
        element('colour').append(option);
    }
    document.documentElement.classList.add('is-chart');
    main.drawn = () => { drawRuler(); drawBands(); };
    tell(0);
    main.draw();
    recall();
    tellTurned();
    if (main.isTurned && !location.hash) { view.scrollTop = view.scrollHeight; main.draw(); }
    canvas.focus({ preventScroll: true });
}

function summary() {
    const sum = `total ${time(everything())}${bands.length ? ` in ${counted(bands.length, 'thread')}` : ''}`;
    return !tellsWall ? sum : `${sum} · wall time ${time(wall)}`;
}

/// On paper there is all of the graph, in light colours.
function setPrinting(isNow) {
    isPrinting = isNow;
    document.documentElement.classList.toggle('is-printing', isNow);
    const rows = Math.floor(tallest / rowHeight);
    const cut = isNow && graph.rows > rows ? `, the first ${number(rows)} of ${number(graph.rows)} rows` : '';
    element('sum').textContent = summary() + cut;
    repaint();
}

element('search').addEventListener('input', () => { search(); remember(); });
element('colour').addEventListener('change', event => setColouring(event.target.value));
element('turn').addEventListener('click', turn);
element('clock').addEventListener('click', toggleClock);
element('keys').addEventListener('click', () => help.showModal());
element('close').addEventListener('click', () => help.close());
view.addEventListener('scroll', hideTip);
new ResizeObserver(() => {
    if (isPrinting) return;
    hideTip();
    const below = main.spaceHeight - main.height - main.scrolled; // stays as it is where the root is at the bottom
    main.fit();
    if (main.isTurned) view.scrollTop = main.spaceHeight - main.height - below;
    main.draw();
    legend();
    if (panel === 'sandwich') showSandwich();
    if (panel === 'table') showLines();
}).observe(view);
dark.addEventListener('change', repaint);
addEventListener('popstate', recall);
addEventListener('beforeprint', () => setPrinting(true));
addEventListener('afterprint', () => setPrinting(false));

load(JSON.parse(element('data').textContent));
begin();
