// The colours of the timeline: of the page, of functions, and of what waits.
const inkCache = {};
const inks = () => inkCache[theme] ??= Object.fromEntries(
    ['back', 'text', 'dim', 'line', 'edge', 'bar', 'focus', 'running', 'blocked', 'runnable', 'hit'].map(
        key => [key, getComputedStyle(document.documentElement).getPropertyValue(`--${key}`).trim()]));

/// Red, green, blue and opaque as a picture has them, the first byte lowest.
function bitsOf(css) {
    const long = css.length === 4 ? css.replace(/[^#]/g, '$&$&') : css;
    return [5, 3, 1].reduce((sum, at) => sum << 8 | parseInt(long.slice(at, at + 2), 16), 0xff) >>> 0;
}

/// Between two colours of pixels: part 0 is the first.
function mixed(a, b, part) {
    const share = part * 256 | 0, rest = 256 - share;
    const odd = ((a >>> 8 & 0xff) * rest + (b >>> 8 & 0xff) * share) & 0xff00;
    const even = ((a & 0xff00ff) * rest + (b & 0xff00ff) * share >>> 8) & 0xff00ff;
    return (0xff000000 | odd | even) >>> 0;
}

// The colours of functions, as of the theme, the colouring and the search.
const shades = { key: '', pairs: [], bits: [], hits: null };

function refreshShades() {
    const key = [theme, tints.by, selection.search, book.names.length].join();
    if (shades.key === key) return;
    const test = selection.search ? matcher(selection.search) : null, paper = bitsOf(inks().back);
    shades.hits = test && Uint8Array.from(book.names, each => test(each));
    shades.pairs = book.names.map((_, id) => shades.hits?.[id] ? viewPalette().matched : tints.pair(id));
    shades.bits = shades.pairs.map((pair, id) => shades.hits && !shades.hits[id] ? mixed(paper, bitsOf(pair[0]), faint) : bitsOf(pair[0]));
    Object.assign(shades, { key, paper, plain: viewPalette().plain, isSearch: shades.hits !== null });
}

/// The step of own time's colours of each entry of a picture, as far as it ran: by the square root, or one long call would leave all
/// others pale.
function ownSteps(part) {
    if (part.own) return part.own;
    const { first, begin, length, from, to, width, blocked, wanting } = part, steps = viewPalette().self.length - 1;
    const step = (to - from) / width, sums = new Float64Array(width + 2); // ns: how long the lane had waited, by column
    for (let at = 0; at <= width; at++) sums[at + 1] = sums[at] + (at < width ? (blocked[at] + wanting[at]) / 255 * step : 0);
    const waited = moment => {
        const at = Math.min(Math.max((moment - from) / step, 0), width), low = Math.floor(at);
        return sums[low] + (at - low) * (sums[low + 1] - sums[low]);
    };
    const ran = Float64Array.from(part.busy, (busy, k) => Math.max(busy - waited(begin[k] + length[k]) + waited(begin[k]), 0)), own = ran.slice();
    for (let row = 1; row + 1 < first.length; row++) {
        for (let k = first[row], above = first[row - 1]; k < first[row + 1]; k++) {
            while (above < first[row] && begin[above] + length[above] <= begin[k]) above++;
            if (above < first[row] && begin[above] <= begin[k]) own[above] -= ran[k];
        }
    }
    const most = own.reduce((a, b) => Math.max(a, b), 0);
    return part.own = Uint8Array.from(own, each => each > 0 ? Math.min(1 + Math.floor(Math.sqrt(each / most) * steps), steps) : 0);
}

/// The first entry of a row that ends after a moment.
function entryAfter(part, low, high, moment) {
    const limit = high;
    while (low < high) {
        const at = low + high >> 1;
        if (part.begin[at] + part.length[at] <= moment) low = at + 1; else high = at;
    }
    return Math.min(low, limit);
}

/// Entries of a row, as [first, limit].
function entriesOf(part, row) {
    const at = row - part.firstRow;
    return at < 0 || at >= part.rows ? [0, 0] : [part.first[at], part.first[at + 1]];
}

/// What a lane did in each column of a picture: 0 where it ran, 1 where it was blocked, 2 where it wanted a CPU, most of the time.
function statesIn(part, shot) {
    const columns = new Uint8Array(Math.ceil(shot.width) + 1), fine = part.width / (part.to - part.from);
    const step = (shot.to - shot.from) / shot.width * fine, begin = (shot.from - part.from) * fine;
    let any = false;
    for (let x = 0; x < columns.length; x++) {
        const at = Math.floor(begin + (x + 0.5) * step);
        if (at < 0 || at >= part.width || part.blocked[at] + part.wanting[at] < 128) continue;
        columns[x] = part.wanting[at] > part.blocked[at] ? 2 : 1;
        any = true;
    }
    return any ? columns : null;
}

const stripes = {}; // by theme: patterns of what is blocked and of what wants a CPU

const stripesOf = context => stripes[theme] ??= [viewPalette().waiting, [viewPalette().waiting[0], inks().runnable]]
    .map(colours => stripedBy(context, colours));

/// Fills those columns of a rectangle in which a lane waited: hatched where nothing deeper is drawn, plain above, and in low rows.
function hatchStates(context, { columns, deepest }, row, x, y, width, height) {
    const isLow = height < 8, ground = viewPalette().waiting[0];
    const [waiting, wanting] = isLow ? [inks().blocked, inks().runnable] : stripesOf(context);
    for (let at = Math.floor(x), stop; at < x + width; at = stop) {
        const isLeaf = deepest[at] <= row;
        for (stop = at + 1; stop < x + width && columns[stop] === columns[at] && deepest[stop] <= row === isLeaf;) stop++;
        if (!columns[at]) continue;
        const from = Math.max(at, x);
        context.fillStyle = !isLeaf ? ground : columns[at] === 1 ? waiting : wanting;
        context.fillRect(from, y, Math.min(stop, x + width) - from, height);
    }
}

/// The deepest row, by column, in which a call is drawn.
function deepestIn(lane, part, shot, limit) {
    const deepest = new Int32Array(Math.ceil(shot.width) + 1).fill(-1), scale = shot.width / (shot.to - shot.from);
    for (let r = firstRow(lane); r < limit; r++) {
        const [low, high] = entriesOf(part, r);
        for (let k = entryAfter(part, low, high, shot.from); k < high; k++) {
            const from = (part.begin[k] - shot.from) * scale, wide = part.length[k] * scale;
            if (from >= shot.width) break;
            if (wide * shot.ratio >= 3) deepest.fill(r, Math.max(Math.round(from), 0), Math.max(Math.round(from + wide), 0));
        }
    }
    return deepest;
}
