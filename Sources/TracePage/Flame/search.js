/// Tells whether a name is looked for: it holds the text, or matches /a regular expression/, which may end in i for letters of
/// either case. Null for a wrong expression.
function matcher(text) {
    const pattern = /^\/(.+)\/([iu]*)$/.exec(text);
    if (!pattern) {
        const lower = text.toLowerCase();
        return name => name.toLowerCase().includes(lower);
    }
    try {
        const expression = new RegExp(pattern[1], pattern[2]);
        return name => expression.test(name);
    } catch { return null; }
}

/// Which functions a search finds, and their time: a match within a match adds none.
///
/// `least` is exact but for matches inside sums of narrow frames, with which it is at most `most`.
function find(text) {
    const test = matcher(text);
    if (!test) return { error: true };
    const { count, fn, end, total, self } = graph, matches = names.map(test);
    const functions = matches.reduce((sum, isMatch) => sum + isMatch, 0);
    let least = 0, unsure = 0;
    for (let i = 1; i < count;) {
        if (fn[i] === summed) unsure += self[i];
        const isMatch = matches[fn[i]];
        if (isMatch) least += total[i];
        i = isMatch ? end[i] : i + 1;
    }
    return { matches, functions, least, most: least + unsure };
}

let order = null; // the search's frames, the widest first; made when first asked for
let matches = null; // by function, or null without a search

/// What all shares of time are of.
const everything = () => graph.total[0];

loaders.push(() => { matches = order = null; });

function search() {
    const text = element('search').value, found = text === '' ? null : find(text);
    matches = found?.matches ?? null;
    order = null;
    main.mark(matches);
    callersView.mark(matches);
    calleesView.mark(matches);
    const least = found && percent(found.least, everything()), most = found && percent(found.most, everything());
    element('matched').textContent =
        !found ? '' : found.error ? 'no regular expression' : found.functions === 0
            ? (found.most > 0 ? 'no match wide enough to show' : 'no match')
        : `${least === most ? least : `${least.slice(0, -2)}–${most}`} in ${counted(found.functions, 'function')}`;
    element('search').classList.toggle('none', found !== null && !(found.functions > 0));
    main.draw();
}

/// Selects the search's next frame, by width, or the one before.
function next(step) {
    if (!matches) return;
    order ??= main.marked.items.slice().sort((a, b) => total[b] - total[a] || a - b);
    if (order.length === 0) return;
    const at = order.indexOf(selected), i = order[at < 0 ? (step > 0 ? 0 : order.length - 1)
        : (at + step + order.length) % order.length];
    if (!graph.isInside(i, zoomed) || main.placeOf(i).width === 0) zoom(0);
    select(i);
    element('matched').textContent = `${number(order.indexOf(i) + 1)} of ${number(order.length)}`;
}
