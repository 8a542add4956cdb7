/// Draws a graph into a part of the page that scrolls: only what can be seen of it.
class Painter {
    /// - `id`: of the canvas; `label`: what it says to who cannot see it; `isTurned`: the root is at the bottom.
    constructor(view, { id, label, isTurned = false }) {
        this.view = view;
        this.isTurned = isTurned;
        this.canvas = make('canvas');
        this.canvas.id = id;
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute('role', 'application');
        this.canvas.setAttribute('aria-label', label);
        this.context = this.canvas.getContext('2d');
        this.space = make('div', undefined, 'space');
        this.outlines = { hover: make('div', undefined, 'outline hover'), chosen: make('div', undefined, 'outline chosen') };
        this.space.append(this.canvas, ...Object.values(this.outlines));
        view.append(this.space);
        view.addEventListener('scroll', () => this.request());
        this.width = this.height = this.scrolled = 0; // px; the last as of the last drawing
        this.pending = 0; // the animation frame that is to draw, or 0
        this.marked = null; // the frames that a search has found, by row
        this.outer = 0; // callers of this frame are pale
    }

    show(graph) {
        this.graph = graph;
        this.shown = { start: 0, span: Math.max(graph.total[0], 1) }; // ns
        this.outer = 0;
        this.mark(matches);
    }

    mark(matches) { this.marked = matches && this.graph ? new Rows(this.graph, matches) : null; }

    get spaceHeight() { return Math.max(this.graph.rows * rowHeight, this.height); }
    rowTop(r) { return (this.isTurned ? this.spaceHeight - (r + 1) * rowHeight : r * rowHeight) - this.scrolled; }
    rowAt(y) { return Math.floor((this.isTurned ? this.spaceHeight - y - this.scrolled : y + this.scrolled) / rowHeight); }
    momentAt(x) { return this.shown.start + x * this.shown.span / this.width; }

    /// Where a frame is in the view, in px, cut off at its edges; a width of 0 is out of view.
    placeOf(i) {
        const { left, total, row } = this.graph, scale = this.width / this.shown.span;
        const x = Math.max((left[i] - this.shown.start) * scale, 0);
        const far = Math.min((left[i] + total[i] - this.shown.start) * scale, this.width);
        return { x, y: this.rowTop(row[i]), width: Math.max(far - x, 0), height: rowHeight };
    }

    /// Fits the canvas to the view. Setting its size clears it, so only when that changed.
    fit() {
        const { view, canvas, context } = this;
        this.width = view.clientWidth;
        this.height = isPrinting ? Math.min(this.graph.rows * rowHeight, tallest) : view.clientHeight;
        const ratio = this.ratio = Math.min(devicePixelRatio || 1, tallest / Math.max(this.height, 1));
        const size = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
        if (canvas.width !== size[0] || canvas.height !== size[1]) {
            [canvas.width, canvas.height] = size;
            canvas.style.width = `${this.width}px`;
            canvas.style.height = `${this.height}px`;
        }
        this.space.style.height = `${this.spaceHeight}px`;
        this.scrolled = isPrinting ? 0 : view.scrollTop;
        theme = themeNow();
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = font;
        context.textBaseline = 'middle';
    }

    /// Draws before the next picture, once.
    request() { this.pending ||= requestAnimationFrame(() => this.draw()); }

    draw() {
        cancelAnimationFrame(this.pending);
        this.pending = 0;
        if (!this.graph || this.view.clientWidth === 0) return;
        this.fit();
        if (this === main) waitColumns = undefined;
        this.context.clearRect(0, 0, this.width, this.height);
        const edges = [this.rowAt(0), this.rowAt(this.height)];
        const first = Math.max(Math.min(...edges), 0), last = Math.min(Math.max(...edges), this.graph.rows - 1);
        if (first <= last) {
            this.drawRows(this.graph.byRow, first, last, this.marked ? faint : 1);
            if (this.marked) this.drawRows(this.marked, first, last, 1);
        }
        this.context.globalAlpha = 1;
        this.outline('chosen', this.chosen);
        this.drawn?.();
    }

    /// Draws rows: wide frames one by one, and what is narrower than a pixel as a picture of a pixel's height, which is
    /// stretched to the row's. That is one drawing a row, however many frames there are.
    drawRows(rows, first, last, alpha) {
        const columns = this.canvas.width, { context } = this;
        this.strips ??= make('canvas');
        Object.assign(this.strips, { width: columns, height: last - first + 1 });
        const image = this.strips.getContext('2d').createImageData(columns, last - first + 1);
        const pixels = new Uint32Array(image.data.buffer), painted = [];
        for (let r = first; r <= last; r++) {
            if (this.drawRow(rows, r, pixels.subarray((r - first) * columns, (r - first + 1) * columns))) painted.push(r);
        }
        this.strips.getContext('2d').putImageData(image, 0, 0);
        context.globalAlpha = alpha;
        context.imageSmoothingEnabled = false;
        for (const r of painted) {
            context.drawImage(this.strips, 0, r - first, columns, 1, 0, this.rowTop(r), this.width, rowHeight - border);
        }
    }

    /// Draws a row's wide frames, and notes others in a line of pixels; of those that share one, one is seen. Returns whether
    /// there are any.
    drawRow(rows, r, pixels) {
        const { starts, items, begins } = rows, { total } = this.graph, columns = pixels.length;
        const { start } = this.shown, scale = this.width / this.shown.span, fine = columns / this.shown.span;
        const y = this.rowTop(r), limit = starts[r + 1], isMarking = rows === this.marked;
        this.waiting = this === main ? waitingNow() : undefined; // by column of the view
        let hasNarrow = false;
        for (let at = rows.first(r, start); at < limit;) {
            const i = items[at], from = begins[at] - start;
            if (from >= this.shown.span) break;
            if (total[i] * fine >= 1) {
                if (!isMarking) this.drawFrame(i, from * scale, total[i] * scale, y);
                at++;
                continue;
            }
            const column = Math.max(Math.floor(from * fine), 0);
            const isWaiting = this.waiting?.[Math.floor(column / this.ratio)];
            pixels[column] = bytes(isMarking ? palette().matched : isWaiting ? palette().waiting : pairOf(this.graph, i));
            hasNarrow = true;
            let beyond = rows.seek(r, at, start + (column + 1) / fine);
            // The last that begins in the column may reach far beyond it.
            if (beyond - 1 > at && total[items[beyond - 1]] * fine >= 1) beyond--;
            at = Math.max(beyond, at + 1);
        }
        return hasNarrow;
    }

    drawFrame(i, from, width, y) {
        const { context, graph } = this, x = Math.max(from, 0), seen = Math.min(from + width, this.width) - x;
        const isMatch = matches !== null && graph.fn[i] >= 0 && matches[graph.fn[i]];
        const isPale = matches !== null && !isMatch, isOuter = i < this.outer && graph.isInside(this.outer, i);
        const pair = isMatch ? palette().matched : pairOf(graph, i);
        context.globalAlpha = isPale ? faint : isOuter ? 0.6 : 1;
        if (width > 3 && !isPale && !isOuter) { // what is pale would show the border through
            context.fillStyle = pair[1];
            context.fillRect(x, y, seen, rowHeight);
        }
        context.fillStyle = pair[0];
        context.fillRect(x, y, width > 3 ? seen - border : seen, rowHeight - border);
        if (this.waiting && !isMatch) hatch(context, this.waiting, x, width > 3 ? seen - border : seen, y);
        if (seen < 24) return;
        const label = fitted(context, graph.label(i), seen - 9);
        if (!label) return;
        context.globalAlpha = isPale || isOuter ? 0.85 : 1;
        context.fillStyle = palette().ink;
        context.fillText(label, x + 4, y + rowHeight / 2);
    }

    /// Puts a frame's outline where the frame is, or hides it.
    outline(kind, i) {
        const node = this.outlines[kind], place = i === null || i === undefined ? { width: 0 } : this.placeOf(i);
        node.hidden = place.width === 0;
        if (node.hidden) return;
        node.style.transform = `translate(${place.x}px, ${place.y + this.scrolled}px)`;
        node.style.width = `${Math.max(place.width, 3)}px`;
        node.style.height = `${place.height}px`;
    }

    /// What is at a point of the view: a `frame`, a `run` of several in one column of pixels, or nothing.
    hit(x, y) {
        const { graph, ratio } = this, r = this.rowAt(y), moment = this.momentAt(x);
        if (r < 0 || r >= graph.rows) return {};
        const rows = graph.byRow, { items, starts } = rows, { left, total } = graph;
        const pixel = this.shown.span / (this.width * ratio); // ns
        const at = rows.first(r, moment), i = items[at];
        const holds = at < starts[r + 1] && left[i] <= moment && left[i] + total[i] > moment;
        if (holds && total[i] >= pixel) return { frame: i };
        const column = this.shown.start + Math.floor(x * ratio) * pixel;
        const from = rows.first(r, column), until = rows.search(from, starts[r + 1], column + pixel);
        if (until - from === 1) return { frame: items[from] };
        if (until === from) return {};
        const run = { count: 0, total: 0, start: left[items[from]], end: 0 };
        for (const each of items.subarray(from, until)) {
            const isSum = graph.fn[each] === summed;
            run.count += isSum ? graph.calls[each] : 1;
            run.total += isSum ? graph.self[each] : total[each];
            run.end = Math.max(run.end, left[each] + total[each]);
        }
        return { run };
    }
}

const rowHeight = matchMedia('(pointer: coarse)').matches ? 26 : 20, border = 1; // px
const faint = 0.32; // what a search has not found
const tallest = 32000; // px: no browser draws more than 2^15 - 1
