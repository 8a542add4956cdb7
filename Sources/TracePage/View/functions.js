// The functions of the stretch, with what their calls add up to.
addPane({
    key: 'functions', title: 'Functions', hint: 'What the calls of each function add up to', has: '',
    isFor: () => !isArticlePage() && (isGraphPage() || knows('report')),
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
            remember();
        });
    },
    async show() {
        if (isGraphPage()) return this.showGraph();
        const functions = await askFunctions(this, clippedOptions());
        if (!functions) return;
        this.rows = functions.map(row => ({
            ...row, waiting_ns: (row.blocked_ns ?? 0) + (row.runnable_ns ?? 0) + (row.suspended_ns ?? 0),
        }));
        this.build();
        this.grid.show(this.rows);
        this.tell();
    },
    /// Of a graph alone: what is zoomed to.
    showGraph() {
        if (!graph) return;
        const { rows, narrow } = rowsOfGraph();
        Object.assign(this, { rows, narrow });
        if (!this.grid) {
            this.grid = new Grid(this.body, {
                label: 'Functions', columns: columnsOfGraph(this), sort: 'self', isChosen: row => row.f === fn[selected],
                choose: row => selectFunction(row.f), changed: () => remember(),
            });
            this.restore();
        }
        this.grid.show(rows);
        this.tell();
    },
    /// Takes the filter and the order that the address tells.
    restore() {
        const { graph: state } = selection;
        if (this.grid && state) {
            this.grid.sort = this.grid.columns.some(each => each.key === state.order) ? state.order : 'self';
            this.grid.isRising = (this.grid.sort === 'name' || this.grid.sort === 'place') !== (state.rising === 1);
        }
        this.filter.value = state?.filter ?? '';
        if (this.grid) this.filter.classList.toggle('none', !this.grid.filterBy(this.filter.value, row => row.name));
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
        if (this.filter.value) this.grid.filterBy(this.filter.value, row => row.name);
    },
    label(row) {
        const node = make('span'), mark = make('i', undefined, 'tint');
        if (row.f !== undefined) {
            const { pair } = colourings[data.groups[colouring] ? colouring : 'module'];
            mark.style.background = pair({ fn: [row.f] }, 0)[0];
            // Without its middle, since names often differ at their ends.
            node.append(mark, middle(row.name, this.letters()));
            return node;
        }
        const known = book.ids.get(row.name), pair = known === undefined ? tints.pairNamed(row.name, row.module ?? 'no module', row.file) : tints.pair(known);
        mark.style.background = pair[0];
        node.append(mark, row.name);
        return node;
    },
    tell() {
        if (!this.grid) return;
        const told = counted(this.grid.shown.length, 'function');
        const narrow = this.narrow > 0 ? `, without ${tooNarrow(this.narrow)}` : '';
        this.scope.textContent = this.filter.classList.contains('none') ? 'no regular expression'
            : isGraphPage() ? `${told} in ${middle(graph.label(zoomed), 60)}${narrow}` : told;
    },
    /// How many letters of a name there is room for, at least so many that two names can be told apart.
    letters() { return Math.max(Math.floor((this.grid.heads.firstChild.clientWidth - 40) / letterWidth(main.context, '0')), 8); },
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
