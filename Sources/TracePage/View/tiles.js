// The timeline of a page that has all inside: tiles of several levels, see FrozenTile.swift. Each level is of the whole time, and finer
// than the one before.
class Tiles {
    constructor({ origin, columns, rows, levels }) {
        Object.assign(this, { origin, columns, rows, levels, known: new Map() });
    }

    /// The finest step, in ns: shorter calls are told together. Zero where each call is told.
    get finest() { return this.levels.at(-1).isExact ? 0 : this.levels.at(-1).step; }

    get end() { return this.origin + this.levels[0].span * this.levels[0].tiles.length; }

    /// The coarsest level that is fine enough.
    levelFor(step) { return this.levels.find(each => each.span / this.columns <= step) ?? this.levels.at(-1); }

    indexIn(level, moment) { return Math.min(Math.max(Math.floor((moment - this.origin) / level.span), 0), level.tiles.length - 1); }

    /// A tile: by track {first, begin, end, busy, fn, calls, waits}, where `first` has where each row begins.
    async tile(level, index) {
        const key = `${this.levels.indexOf(level)} ${index}`, { known } = this;
        const tile = known.get(key) ?? unpack(level.tiles[index]).then(bytes => readTile(bytes, this.columns, this.origin + index * level.span, level.unit));
        known.delete(key); // so that the last ones are those that were asked for last
        known.set(key, tile);
        if (known.size > 48) known.delete(known.keys().next().value);
        return tile;
    }

    /// A picture, as the server answers it.
    async picture({ from, to, width, tracks, rows: [firstRow, lastRow] }) {
        const level = this.levelFor((to - from) / width), low = this.indexIn(level, from), high = this.indexIn(level, Math.max(to - 1, from));
        const tiles = await Promise.all(Array.from({ length: high - low + 1 }, (_, at) => level.tiles[low + at] ? this.tile(level, low + at) : null));
        const begin = this.origin + low * level.span, found = new Map();
        const shot = { from: begin, to: this.origin + (high + 1) * level.span, width: this.columns * tiles.length, firstRow, lastRow };
        // Of a single tile there is nothing finer.
        const isAll = this.levels.length === 1 && level.tiles.length === 1 && firstRow === 0 && lastRow >= this.depth(tiles[0]) - 1;
        for (const track of tracks) found.set(track, { ...joinTiles(tiles.map(each => each?.get(track)), firstRow, lastRow, this.columns, begin, level.span), ...shot, track, isAll });
        return { from: shot.from, to: shot.to, known: Infinity, tracks: found };
    }

    depth(tile) { return Math.max(...[...tile?.values() ?? []].map(each => each.first.length - 1), 0); }

    /// The call of a row that is open at a moment: {fn, begin, end, self, path}, where `self` is not known unless all calls are told.
    /// It may go on through several tiles. Null where there is none, or several are told as one.
    async call(track, row, moment) {
        const level = this.levels.at(-1);
        let index = this.indexIn(level, moment), part = level.tiles[index] && (await this.tile(level, index)).get(track);
        const open = (depth, at) => {
            const last = part && depth + 1 < part.first.length ? part.first[depth + 1] : 0;
            for (let k = part?.first[depth] ?? 0; k < last; k++) if (part.begin[k] <= at && Math.max(part.end[k], part.begin[k] + 1) > at) return k;
            return -1;
        };
        const k = open(row, moment);
        if (k < 0 || part.calls[k] > 1) return null;
        const call = { fn: part.fn[k], begin: part.begin[k], end: part.end[k], self: null, path: [] };
        for (let depth = 0; depth < row; depth++) {
            const above = open(depth, moment);
            if (above >= 0) call.path.push(part.fn[above]);
        }
        // Where it goes on, later tiles know more of its end.
        const edge = () => this.origin + (index + 1) * level.span;
        for (; call.end >= edge() && index + 1 < level.tiles.length; index++) {
            part = level.tiles[index + 1] && (await this.tile(level, index + 1)).get(track);
            const next = part && row + 1 < part.first.length && part.first[row] < part.first[row + 1] ? part.first[row] : -1;
            if (next < 0 || part.begin[next] !== call.begin) break;
            call.end = part.end[next];
        }
        if (level.isExact) call.self = call.end - call.begin - await this.timeBelow(level, track, row + 1, call);
        return call;
    }

    /// What the calls of each function add up to within a stretch, by its number: {calls, total, self}.
    async sums(from, to) {
        const level = this.levels.at(-1), [low, high] = [from, to].map(each => this.indexIn(level, each)), found = new Map();
        const tiles = await Promise.all(Array.from({ length: high - low + 1 }, (_, at) => level.tiles[low + at] ? this.tile(level, low + at) : null));
        for (const track of new Set(tiles.flatMap(each => [...each?.keys() ?? []]))) {
            const pieces = tiles.map(each => each?.get(track));
            addUp(joinTiles(pieces, 0, Infinity, this.columns, this.origin + low * level.span, level.span), from, to, found);
        }
        return found;
    }

    /// How long calls of a row are open in a stretch, in ns.
    async timeBelow(level, track, row, { begin, end }) {
        let sum = 0, last = begin;
        for (let index = this.indexIn(level, begin); index <= this.indexIn(level, end - 1); index++) {
            const part = level.tiles[index] && (await this.tile(level, index)).get(track);
            if (!part || row + 1 >= part.first.length) continue;
            for (let k = part.first[row]; k < part.first[row + 1]; k++) {
                const from = Math.max(part.begin[k], last), to = Math.min(part.end[k], end);
                if (to > from) { sum += to - from; last = to; }
            }
        }
        return sum;
    }
}

/// Adds up what the calls of a lane did within a stretch. A call within one of the same function adds nothing to its total.
function addUp({ first, begin, length, fn, calls }, from, to, found) {
    const next = Array.from(first), open = [], inside = new Map(); // by function, how many calls are open
    for (;;) {
        const row = open.length, k = next[row], around = open.at(-1);
        if (row + 1 < first.length && k < first[row + 1] && (!around || begin[k] < around.end || begin[k] + length[k] <= around.end)) {
            next[row]++;
            const f = fn[k], end = begin[k] + length[k], within = Math.min(end, to) - Math.max(begin[k], from);
            const isPart = within > 0 || within === 0 && length[k] === 0, sum = isPart ? found.get(f) ?? { calls: 0, total: 0, self: 0 } : null;
            if (sum) {
                found.set(f, sum);
                sum.calls += calls[k];
                sum.self += within;
                if (!inside.get(f)) sum.total += within;
                if (around?.sum) around.sum.self -= within;
            }
            inside.set(f, (inside.get(f) ?? 0) + 1);
            open.push({ f, end, sum });
        } else if (around) inside.set(around.f, inside.get(open.pop().f) - 1);
        else return;
    }
}

/// What is packed in a page, as bytes.
async function unpack(text) {
    const packed = Uint8Array.from(atob(text), each => each.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readTile(bytes, columns, from, unit) {
    let at = 0;
    const take = () => {
        let value = 0, scale = 1;
        for (;;) {
            const byte = bytes[at++];
            value += (byte & 0x7f) * scale;
            if (byte < 0x80) return value;
            scale *= 128;
        }
    };
    const lanes = Array.from({ length: take() }, () => {
        const lane = { track: take(), first: new Uint32Array(take() + 1), waits: null };
        for (let row = 1; row < lane.first.length; row++) lane.first[row] = lane.first[row - 1] + take();
        lane.hasWaits = take() === 1;
        const count = lane.first.at(-1);
        for (const key of ['begin', 'end', 'busy']) lane[key] = new Float64Array(count);
        for (const key of ['fn', 'calls']) lane[key] = new Uint32Array(count);
        return lane;
    });
    // Columns of all lanes follow each other: first the gaps, which need the lengths to become moments.
    const each = action => { for (const lane of lanes) for (let k = 0; k < lane.begin.length; k++) action(lane, k); };
    each((lane, k) => { lane.begin[k] = take(); });
    each((lane, k) => { lane.end[k] = take(); });
    each((lane, k) => { lane.busy[k] = (lane.end[k] - take()) * unit; });
    each((lane, k) => { lane.fn[k] = take(); });
    each((lane, k) => { lane.calls[k] = take(); });
    for (const lane of lanes) {
        const { first, begin, end } = lane;
        for (let row = 0; row + 1 < first.length; row++) {
            let last = from / unit;
            for (let k = first[row]; k < first[row + 1]; k++) {
                const gap = begin[k];
                last += k > first[row] ? gap : gap % 2 === 0 ? gap / 2 : -(gap + 1) / 2; // the first may begin before the tile
                begin[k] = last * unit;
                last += end[k];
                end[k] = last * unit;
            }
        }
        if (!lane.hasWaits) continue;
        lane.waits = [bytes.subarray(at, at + columns), bytes.subarray(at + columns, at + 2 * columns)];
        at += 2 * columns;
    }
    return new Map(lanes.map(lane => [lane.track, lane]));
}

/// One part of a picture of a lane's pieces, in the order of time. What goes on from one into the next is one entry.
function joinTiles(pieces, firstRow, lastRow, columns, from, span) {
    const most = Math.max(...pieces.map(each => each ? each.first.length - 1 : 0)), limit = Math.min(lastRow + 1, most), rows = Math.max(limit - firstRow, 0);
    const room = pieces.reduce((sum, each) => sum + (each ? each.begin.length : 0), 0), first = new Uint32Array(rows + 1);
    const [begin, length, busy] = [0, 1, 2].map(() => new Float64Array(room)), [fn, calls] = [0, 1].map(() => new Uint32Array(room));
    let count = 0;
    for (let row = firstRow; row < firstRow + rows; row++) {
        const start = count;
        for (const [index, piece] of pieces.entries()) {
            if (!piece || row + 1 >= piece.first.length) continue;
            for (let k = piece.first[row]; k < piece.first[row + 1]; k++) {
                const last = count - 1, edge = from + index * span, before = last >= start ? begin[last] + length[last] : -Infinity;
                const isSame = last >= start && fn[last] === piece.fn[k] && piece.begin[k] < edge && before >= Math.min(piece.end[k], edge);
                if (!isSame) count++;
                const at = isSame ? last : count - 1;
                if (!isSame) [begin[at], length[at], busy[at], calls[at]] = [Math.max(piece.begin[k], before), 0, 0, 0];
                length[at] = Math.max(piece.end[k] - begin[at], length[at]);
                busy[at] = Math.max(piece.busy[k], busy[at]);
                fn[at] = piece.fn[k];
                calls[at] = Math.max(calls[at], piece.calls[k]);
            }
        }
        first[row - firstRow + 1] = count;
    }
    const [blocked, wanting] = [0, 1].map(() => new Uint8Array(pieces.length * columns));
    for (const [at, piece] of pieces.entries()) {
        if (!piece?.waits) continue;
        blocked.set(piece.waits[0], at * columns);
        wanting.set(piece.waits[1], at * columns);
    }
    const cut = array => array.subarray(0, count);
    return {
        rows, first, begin: cut(begin), length: cut(length), busy: cut(busy), fn: cut(fn), calls: cut(calls), blocked, wanting, isCoarse: false,
    };
}
