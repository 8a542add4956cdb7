// What filters leave out is pale on the timeline, where every call keeps its place. Patterns are matched by the server, as for every other
// pane; what follows from them for each call is found out here.
const sieve = { key: '', version: 0, marks: [], asked: -1, tells: null };
const marksOf = { only: 1, without: 2, leadingTo: 4, hidden: 8 };

/// Asks what the filters say of the functions that are known now.
async function refreshSieve() {
    const key = selection.filters.join('\n');
    if (key !== sieve.key) Object.assign(sieve, { key, version: sieve.version + 1, marks: [], asked: -1, tells: null });
    if (!key || sieve.asked >= book.names.length) return redraw(true);
    const from = sieve.marks.length;
    sieve.asked = book.names.length;
    try {
        const told = await source.filter(selection.filters, from);
        if (sieve.key !== key || sieve.marks.length !== from) return;
        sieve.marks.push(...told.marks);
        sieve.tells = told;
        sieve.version++;
    } catch {
        return; // what is wrong with the filter is said in the panes; here, nothing is left out
    }
    redraw(true);
}

/// Which entries of a picture are left out, as a byte each; null where no filter is chosen.
function paleEntries(part) {
    // What triggers say depends on more than is known here.
    if (!sieve.tells || sieve.tells.hasLimits) return null;
    if (part.sieved !== sieve.version) [part.sieved, part.pale] = [sieve.version, sifted(part)];
    return part.pale;
}

function sifted({ first, rows, begin, length, busy, calls, fn }) {
    const { minCost, maxDepth, hasOnly, leads } = sieve.tells, count = begin.length;
    const pale = new Uint8Array(count), inside = new Uint8Array(count), depth = new Uint16Array(count), above = new Int32Array(count).fill(-1);
    const without = 2;
    for (let row = 0; row < rows; row++) {
        let parent = row > 0 ? first[row - 1] : -1;
        for (let k = first[row]; k < first[row + 1]; k++) {
            if (row > 0) {
                while (parent + 1 < first[row] && begin[parent + 1] <= begin[k]) parent++;
                if (parent < first[row] && begin[parent] <= begin[k] && begin[parent] + length[parent] >= begin[k]) above[k] = parent;
            }
            const marks = sieve.marks[fn[k]] ?? 0, up = above[k];
            const state = up < 0 ? (hasOnly ? 0 : 1) : inside[up];
            inside[k] = state === without || marks & marksOf.without ? without : state || marks & marksOf.only ? 1 : 0;
            depth[k] = up < 0 ? 0 : depth[up] + (pale[up] & 2 ? 0 : 1);
            // Neither what is outside nor what is hidden makes a level.
            if (inside[k] !== 1 || marks & marksOf.hidden) pale[k] = 3;
            else if (depth[k] > maxDepth || (calls[k] > 1 ? busy[k] / calls[k] : length[k]) < minCost) pale[k] = 1;
        }
    }
    if (!leads) return pale;
    const leading = new Uint8Array(count);
    for (let k = count - 1; k >= 0; k--) {
        if (inside[k] === 1 && (sieve.marks[fn[k]] ?? 0) & marksOf.leadingTo) leading[k] = 1;
        if (leading[k] && above[k] >= 0) leading[above[k]] = 1;
        if (!leading[k]) pale[k] |= 1;
    }
    return pale;
}
