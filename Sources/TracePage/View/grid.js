/// A table of any number of rows: only those in view are there. It can be sorted by its heads and walked through by arrows.
class Grid {
    /// - `columns`: {key, title, hint, value(row), text(row), isText, width in px, bar: whether a bar tells its part of the greatest}.
    /// - `choose(row)` is called for a click or Enter, `open(row)` for a double click or Alt with Enter; `isChosen(row)` tells which stands out.
    constructor(place, { label, columns, sort, choose: chooseRow, open = () => {}, isChosen = () => false, isFixed = false, changed = () => {} }) {
        Object.assign(this, { columns, rows: [], shown: [], sort, isRising: false, test: null, chooseRow, open, isChosen, isFixed, changed });
        this.tall = matchMedia('(pointer: coarse)').matches ? 34 : 24;
        this.box = make('div', undefined, 'grid');
        this.table = make('table');
        this.table.setAttribute('aria-label', label);
        this.heads = make('tr');
        this.body = make('tbody');
        const head = make('thead');
        head.append(this.heads);
        this.table.append(head, this.body);
        this.box.append(this.table);
        place.append(this.box);
        this.makeHeads();
        this.box.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => { this.fit(); this.draw(); }).observe(this.box);
        this.body.addEventListener('click', event => this.act(event, row => this.chooseRow(row)));
        this.body.addEventListener('dblclick', event => this.act(event, row => this.open(row)));
        this.body.addEventListener('keydown', event => this.key(event));
    }

    makeHeads() {
        this.heads.replaceChildren(...this.columns.map(column => {
            const head = make('th'), button = make('button', column.title);
            head.scope = 'col';
            head.title = column.hint ?? '';
            head.dataset.key = column.key;
            head.className = `${column.key} ${column.isText ? 'text' : ''}`;
            if (column.width) head.style.width = `${column.width}px`;
            button.onclick = () => {
                this.isRising = this.sort === column.key ? !this.isRising : column.isText === true;
                this.sort = column.key;
                this.arrange();
                this.changed();
            };
            head.append(this.isFixed ? column.title : button);
            return head;
        }));
    }

    /// Where columns have no room, the table is as wide as it has to be, and is scrolled beside its first column.
    ///
    /// - `room`: px for what has no width of its own.
    fit(room = this.room) {
        this.room = room;
        const shown = this.columns.filter((each, at) => getComputedStyle(this.heads.children[at]).display !== 'none');
        const free = shown.filter(each => !each.width), text = Math.min(180, 0.4 * innerWidth);
        const width = shown.reduce((sum, each) => sum + (each.width ?? 0), room ?? text * free.length);
        const isBroad = this.box.clientWidth > 0 && this.box.clientWidth <= width;
        this.table.style.width = isBroad ? `${width}px` : '';
        this.box.classList.toggle('broad', isBroad);
    }

    show(rows) {
        this.rows = rows;
        this.arrange();
    }

    filterBy(text, textOf) {
        this.test = text ? matcher(text) : null;
        this.textOf = textOf;
        this.arrange();
        return this.test !== null || !text;
    }

    arrange() {
        const { columns, rows, test } = this, column = columns.find(each => each.key === this.sort), sign = this.isRising ? 1 : -1;
        this.shown = test ? rows.filter(row => test(this.textOf(row))) : rows.slice();
        if (column) {
            this.shown.sort((a, b) => {
                const [x, y] = [column.value(a), column.value(b)];
                return sign * (x < y ? -1 : x > y ? 1 : 0);
            });
        }
        for (const head of this.heads.children) {
            if (head.dataset.key === this.sort && !this.isFixed) head.setAttribute('aria-sort', this.isRising ? 'ascending' : 'descending');
            else head.removeAttribute('aria-sort');
        }
        const greatest = each => rows.reduce((most, row) => Math.max(most, each.value(row)), 0);
        this.greatest = new Map(columns.filter(each => each.bar).map(each => [each, greatest(each)]));
        this.draw();
    }

    /// Puts the rows in view into the table, and room in place of the others.
    draw() {
        const { box, body, shown, tall, columns } = this, first = Math.max(Math.floor(box.scrollTop / tall) - 8, 0);
        const last = Math.min(first + Math.ceil(box.clientHeight / tall) + 16, shown.length);
        const room = count => {
            const line = make('tr');
            line.setAttribute('aria-hidden', true);
            line.style.height = `${Math.max(count, 0) * tall}px`;
            return line;
        };
        const focus = body.contains(document.activeElement) ? document.activeElement.dataset.at : null;
        this.table.setAttribute('aria-rowcount', shown.length + 1);
        const lines = shown.slice(first, last).map((row, i) => {
            const line = make('tr');
            line.tabIndex = first + i === 0 || this.isChosen(row) ? 0 : -1;
            line.dataset.at = first + i;
            line.style.height = `${tall}px`;
            line.setAttribute('aria-rowindex', first + i + 2);
            line.setAttribute('aria-selected', this.isChosen(row));
            for (const [at, column] of columns.entries()) {
                const text = column.text(row), cell = make(at === 0 ? 'th' : 'td', undefined, `${column.key} ${column.isText ? 'text' : ''}`);
                if (at === 0) cell.scope = 'row';
                if (text instanceof Node) cell.append(text); else cell.textContent = text;
                cell.title = column.tell?.(row) ?? (column.isText ? cell.textContent : '');
                if (column.bar) cell.style.backgroundSize = `${100 * (column.value(row) ?? 0) / (this.greatest.get(column) || 1)}% 100%`;
                line.append(cell);
            }
            return line;
        });
        body.replaceChildren(room(first), ...lines, room(shown.length - last));
        if (focus !== null) this.lineAt(focus)?.focus({ preventScroll: true });
    }

    lineAt(at) { return this.body.querySelector(`[data-at="${at}"]`); }

    act(event, action) {
        const line = event.target.closest('tr[data-at]');
        if (line && !event.target.closest('button')) action(this.shown[line.dataset.at]);
    }

    key(event) {
        const line = event.target.closest('tr[data-at]'), at = Number(line?.dataset.at);
        if (!line) return;
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
        if (by) {
            const next = Math.min(Math.max(at + by, 0), this.shown.length - 1), { box, tall } = this;
            const y = next * tall, head = this.heads.offsetHeight;
            if (y < box.scrollTop) box.scrollTop = y;
            if (y + tall + head > box.scrollTop + box.clientHeight) box.scrollTop = y + tall + head - box.clientHeight;
            this.draw();
            this.lineAt(next)?.focus({ preventScroll: true });
        } else if (event.key === 'Enter') (event.altKey ? this.open : this.chooseRow)(this.shown[at]);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}

const isKnown = value => value !== null && value !== undefined;
const joined = (...parts) => parts.filter(each => each).join(' · ');

// Columns of a table, given how a row's time, number or text is found.
const timeColumn = (key, title, of, more = {}) => ({
    key, title, width: 88, value: row => of(row) ?? -1, text: row => isKnown(of(row)) ? duration(of(row)) : '', ...more,
});
const numberColumn = (key, title, of, more = {}) => ({
    key, title, width: 72, value: row => of(row) ?? -1, text: row => isKnown(of(row)) ? number(of(row)) : '', ...more,
});
const textColumn = (key, title, text, more = {}) => ({ key, title, isText: true, value: text, text, ...more });
