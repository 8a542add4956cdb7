// What is beside the graph: the table, the sandwich view, or nothing.
let panel = null, filling = 0;

/// What is open where nobody chose: the table, where there is room for it.
const usualPanel = () => innerWidth >= 1600 ? 'table' : null;

function setPanel(which) {
    panel = which;
    element('panel').hidden = which === null;
    for (const each of ['table', 'sandwich']) {
        element(`show-${each}`).setAttribute('aria-pressed', which === each);
        element(`${each}-pane`).hidden = which !== each;
    }
    main.draw();
    fillPanel();
    remember();
}

const togglePanel = which => setPanel(panel === which ? null : which);

function fillPanel() {
    clearTimeout(filling);
    filling = 0;
    if (panel === 'table') fillTable();
    if (panel === 'sandwich') showSandwich();
}

/// The selected frame is another one.
function selectionChanged() {
    if (panel === 'table') showLines();
    if (panel === 'sandwich') showSandwich();
}

/// Another part of the graph is shown: in a moment, when that has settled, the table is of it.
function viewChanged() {
    if (panel !== 'table') return;
    clearTimeout(filling);
    filling = setTimeout(fillPanel, 120);
}

for (const each of ['table', 'sandwich']) element(`show-${each}`).addEventListener('click', () => togglePanel(each));
