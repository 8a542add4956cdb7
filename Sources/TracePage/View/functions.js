// The functions of the stretch, with what their calls add up to.
addPane({
    key: 'functions', title: 'Functions', hint: 'What the calls of each function add up to', has: '',
    make(place) {
        const bar = make('div', undefined, 'bar'), filter = make('input'), scope = make('span', undefined, 'scope');
        filter.type = 'search';
        filter.placeholder = 'Filter: name or /regex/i';
        filter.setAttribute('aria-label', 'Filter functions');
        filter.autocomplete = 'off';
        filter.spellcheck = false;
        scope.setAttribute('role', 'status');
        bar.append(filter, scope);
        place.append(bar);
        Object.assign(this, { filter, scope });
        filter.addEventListener('input', () => {
            filter.classList.toggle('none', !this.grid?.filterBy(filter.value, row => row.name));
            this.tell();
        });
    },
    async show() {
        const functions = await askFunctions(this, commonOptions());
        if (!functions) return;
        this.rows = functions.map(row => ({
            ...row, waiting_ns: (row.blocked_ns ?? 0) + (row.runnable_ns ?? 0) + (row.suspended_ns ?? 0),
        }));
        this.build();
        this.grid.show(this.rows);
        this.tell();
    },
    /// Columns are those that the answer has numbers for.
    build() {
        const has = key => this.rows.some(row => isKnown(row[key])), known = ['total_ns', 'p50_ns', 'blocked_ns', 'calls'].filter(has).join();
        if (this.grid && this.has === known) return;
        this.grid?.box.remove();
        this.has = known;
        const told = (key, title, hint, bar = false) => timeColumn(key, title, row => row[key], { hint, bar });
        const place = row => row.file ? `${row.file}:${row.line}` : '';
        const columns = [
            textColumn('name', 'Function', row => functionLabel(row), { value: row => row.name, tell: row => row.name }),
            ...session.compared ? columnsOfChange('calls', 'calls', 'Calls', false)
                : [numberColumn('calls', session.content === 'samples' ? 'Samples' : 'Calls', row => row.calls, { width: 88 })],
        ];
        if (session.compared && has('total_ns')) {
            columns.push(...columnsOfChange('total_ns', 'total', 'Total'), ...columnsOfChange('self_ns', 'self', 'Self'));
        } else if (has('total_ns')) {
            columns.push(told('total_ns', 'Total', 'with what it called', true), told('self_ns', 'Self', 'without what it called', true));
        }
        if (has('blocked_ns') || this.rows.some(row => row.waiting_ns > 0)) {
            columns.push(told('waiting_ns', 'Waiting', 'of total: blocked, wanting a CPU, or suspended', true));
        }
        if (has('p50_ns')) {
            columns.push(told('p50_ns', 'p50', 'half of the calls took at most this'), told('p99_ns', 'p99', '99 % of the calls took at most this'));
        }
        columns.push(textColumn('place', 'Place', row => lastPart(place(row)), { width: 170, value: place, tell: row => place(row) || row.module }));
        this.grid = new Grid(this.body, {
            label: 'Functions', columns, sort: session.compared ? null : has('self_ns') ? 'self_ns' : 'calls', isChosen: row => row.name === selection.name,
            choose: row => choose({ name: row.name, call: null }, true),
            open: row => { choose({ name: row.name, call: null }, true); if (paneOf('durations')) showPane('durations', true); },
        });
        if (session.compared) widen(this.grid);
        if (this.filter.value) this.grid.filterBy(this.filter.value, row => row.name);
    },
    tell() { if (this.grid) this.scope.textContent = counted(this.grid.shown.length, 'function'); },
    whenShown() { this.grid?.draw(); },
});

/// The mark of a function's colour.
function tintOf({ name, module, file }) {
    const mark = make('i', undefined, 'tint'), known = book.ids.get(name);
    mark.style.background = (known === undefined ? tints.pairNamed(name, module ?? 'no module', file) : tints.pair(known))[0];
    return mark;
}

function functionLabel(row) {
    const node = make('span');
    node.append(tintOf(row), row.name);
    return node;
}
