// What frames add up to.

/// Calls, total and self time of every function, by its number, over the frames first ..< limit. A call within one of the same function
/// adds nothing to its total.
function sums({ first, limit }) {
    const { fn, end, calls, total, self, waits } = graph, size = names.length;
    const found = {
        calls: new Float64Array(size), total: new Float64Array(size), self: new Float64Array(size), waits: new Float64Array(size),
        before: new Float64Array(size), narrow: 0,
    };
    const inside = new Int32Array(size), open = []; // by function, how many calls are open; and which those are
    for (let i = first; i < limit; i++) {
        while (open.length && end[open[open.length - 1]] <= i) inside[fn[open.pop()]]--;
        const f = fn[i];
        if (f === summed) found.narrow += calls[i];
        if (f < 0) continue;
        found.calls[f] += calls[i];
        if (inside[f] === 0) found.total[f] += total[i];
        found.self[f] += self[i];
        found.waits[f] += waits[i];
        if (data.changes) found.before[f] += change(i).self;
        inside[f]++;
        open.push(i);
    }
    return found;
}

/// What frame i was before, in a differential flame graph.
function change(i) {
    const [calls, total, self, step] = data.changes.frames.slice(4 * (i - 1), 4 * i);
    return { calls, total, self, step };
}

/// Paths from one function on, merged.
class Paths {
    constructor(f) {
        for (const column of ['fn', 'calls', 'total', 'self', 'waits', 'callees']) this[column] = [];
        this.known = new Map();
        this.add(f);
    }

    add(f) {
        this.callees.push([]);
        this.calls.push(0);
        this.total.push(0);
        this.self.push(0);
        this.waits.push(0);
        return this.fn.push(f) - 1;
    }

    /// The path that goes on from another by a function, with these sums added.
    step(path, f, calls, total, self, waits) {
        const key = path * (names.length - whole) + f - whole;
        let next = this.known.get(key);
        if (next === undefined) {
            this.known.set(key, next = this.add(f));
            this.callees[path].push(next);
        }
        this.sum(next, calls, total, self, waits);
        return next;
    }

    sum(path, calls, total, self, waits) {
        this.calls[path] += calls;
        this.total[path] += total;
        this.self[path] += self;
        this.waits[path] += waits;
    }

    /// The paths as frames, the longest first.
    graph() {
        const result = new Graph(this.fn.length), open = [[0, 0, 0]];
        for (let i = 0; open.length; i++) {
            const [path, depth, start] = open.pop();
            for (const column of ['fn', 'calls', 'total', 'self', 'waits']) result[column][i] = this[column][path];
            result.row[i] = depth;
            result.left[i] = start;
            result.rows = Math.max(result.rows, depth + 1);
            const below = this.callees[path].sort((a, b) => this.total[b] - this.total[a]);
            let at = start + below.reduce((sum, each) => sum + this.total[each], 0);
            for (const each of below.reverse()) open.push([each, depth + 1, at -= this.total[each]]);
        }
        return result.link();
    }
}

/// All calls of a function: what led to them, and what they led to. A call within another of the function is below that one;
/// the function itself has the calls and own time of both.
function sandwich(f) {
    const { count, fn, row, parent, end, calls, total, self, waits } = graph;
    const callers = new Paths(f), callees = new Paths(f), path = [];
    for (let i = 1; i < count;) {
        if (fn[i] !== f) { i++; continue; }
        callers.sum(0, calls[i], total[i], self[i], waits[i]);
        for (let at = 0, j = parent[i]; j > 0; j = parent[j]) at = callers.step(at, fn[j], calls[i], total[i], 0, 0);
        callees.sum(0, calls[i], total[i], self[i], waits[i]);
        path[0] = 0;
        for (let j = i + 1; j < end[i]; j++) {
            const depth = row[j] - row[i];
            path[depth] = callees.step(path[depth - 1], fn[j], calls[j], total[j], self[j], waits[j]);
            if (fn[j] === f) for (const paths of [callers, callees]) paths.sum(0, calls[j], 0, self[j], waits[j]);
        }
        i = end[i];
    }
    return { callers: callers.graph(), callees: callees.graph() };
}
