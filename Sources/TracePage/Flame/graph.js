/// Frames in pre-order, so those below frame i are i + 1 ..< end[i]. Times are in ns; `left` is where a frame begins, and `waits` the part
/// of `self` in which nothing ran.
class Graph {
    constructor(count) {
        this.count = count;
        this.rows = 1;
        for (const column of ['fn', 'row', 'parent', 'end']) this[column] = new Int32Array(count);
        for (const column of ['calls', 'left', 'total', 'self', 'waits']) this[column] = new Float64Array(count);
    }

    /// Fills in `parent`, `end` and `byRow`; all else must be there.
    link() {
        const { count, row, parent, end } = this, open = [];
        for (let i = 0; i < count; i++) {
            while (open.length > row[i]) end[open.pop()] = i;
            parent[i] = open.length ? open[open.length - 1] : -1;
            open.push(i);
        }
        for (const i of open) end[i] = count;
        this.byRow = new Rows(this);
        return this;
    }

    name(i) {
        const f = this.fn[i];
        return f >= 0 ? names[f] : f === summed ? tooNarrow(this.calls[i]) : 'all';
    }

    /// The name without the arguments of templates and generics.
    label(i) {
        const f = this.fn[i];
        return f >= 0 && data.labels[f] || this.name(i);
    }

    /// The frame's widest callee, or the frame itself.
    callee(i) {
        let best = i;
        for (let j = i + 1; j < this.end[i]; j = this.end[j]) if (best === i || this.total[j] > this.total[best]) best = j;
        return best;
    }

    /// The frame's neighbour below the same caller, or the frame itself.
    sibling(i, step) {
        const { parent, end } = this;
        if (parent[i] < 0) return i;
        let before = i;
        for (let j = parent[i] + 1; j < end[parent[i]]; j = end[j]) {
            if (step < 0 && j === i) return before;
            if (step > 0 && j > i) return j;
            before = j;
        }
        return i;
    }

    isInside(i, ancestor) { return i >= ancestor && i < this.end[ancestor]; }
}

/// Frames by row, and in a row from left to right, so that what is in view is found without looking at the rest.
class Rows {
    /// Those whose function has `chosen`, or all.
    constructor(graph, chosen) {
        const { count, row, fn, left, total } = graph;
        const isChosen = i => !chosen || fn[i] >= 0 && chosen[fn[i]];
        const starts = new Int32Array(graph.rows + 1);
        for (let i = 0; i < count; i++) if (isChosen(i)) starts[row[i] + 1]++;
        for (let r = 0; r < graph.rows; r++) starts[r + 1] += starts[r];
        const items = new Int32Array(starts[graph.rows]), next = starts.slice();
        for (let i = 0; i < count; i++) if (isChosen(i)) items[next[row[i]]++] = i;
        for (let r = 0; r < graph.rows; r++) {
            const part = items.subarray(starts[r], starts[r + 1]);
            // In a damaged recording, time may go back.
            if (part.some((i, k) => k > 0 && left[i] < left[part[k - 1]])) part.sort((a, b) => left[a] - left[b] || a - b);
        }
        const begins = new Float64Array(items.length); // what is looked through lies side by side
        for (let at = 0; at < items.length; at++) begins[at] = left[items[at]];
        Object.assign(this, { starts, items, begins, total });
    }

    /// The place in `items` of the first frame of a row that ends after a moment.
    first(r, moment) {
        const { starts, items, begins, total } = this, at = this.search(starts[r], starts[r + 1], moment);
        return at > starts[r] && begins[at - 1] + total[items[at - 1]] > moment ? at - 1 : at;
    }

    /// The first place from `at` on, in a row, of a frame that begins at a moment or later; what is near is found sooner.
    seek(r, at, moment) {
        const { starts, begins } = this, limit = starts[r + 1];
        let step = 1;
        while (at + step < limit && begins[at + step] < moment) step *= 2;
        return this.search(at + (step >> 1), Math.min(at + step + 1, limit), moment);
    }

    /// The first place in low ..< high of a frame that begins at a moment or later, or high.
    search(low, high, moment) {
        const { begins } = this;
        while (low < high) {
            const at = low + high >> 1;
            if (begins[at] < moment) low = at + 1; else high = at;
        }
        return low;
    }
}
