// Who allocates, and what was not freed when the recording ended.
addPane({
    key: 'memory', title: 'Memory', hint: 'What each function allocates, and what is never freed', isFor: () => session.memory,
    make(place) {
        this.parts = sides().map(side => {
            const part = make('div', undefined, 'asked');
            place.append(part);
            return { ...addPart(`memory-${side}`, part), side };
        });
        this.scope = make('p', undefined, 'dim');
        this.scope.setAttribute('role', 'status');
        place.append(this.scope);
    },
    async show() {
        const answers = await Promise.all(this.parts.map(part => ask(part, 'report', commonOptions(), part.side)));
        if (answers.some(each => !each)) return;
        const rows = new Map();
        for (const [at, { side }] of this.parts.entries()) {
            for (const row of this.rows(answers[at].functions)) {
                const both = rows.get(row.key) ?? { name: row.name, module: row.module, file: row.file };
                both[side] = row;
                rows.set(row.key, both);
            }
        }
        const most = row => Math.max(...sides().map(side => row[side]?.own_allocated_bytes ?? 0));
        const shown = [...rows.values()].filter(row => sides().some(side => row[side]?.allocations > 0)).sort((a, b) => most(b) - most(a));
        const sum = (side, key) => shown.reduce((all, row) => all + (row[side]?.[key] ?? 0), 0);
        this.scope.textContent = shown.length === 0 ? 'No call of this stretch allocates anything.' : sides().map(side =>
            `${session.compared ? `${side}: ` : ''}${size(sum(side, 'own_allocated_bytes'))} allocated, ${size(sum(side, 'own_live_bytes'))} `
            + 'not freed at the end').join(' · ');
        if (!this.grid) this.build(sum(shownSide, 'own_live_bytes') > 0);
        this.grid.show(shown);
    },
    /// A row for each function of a name and place, as two sessions may have them.
    rows(functions) {
        return functions.map(row => ({
            ...row, key: `${row.name}\n${row.file ?? row.module}`, freed_bytes: row.own_allocated_bytes - row.own_live_bytes,
        }));
    },
    build(hasLive) {
        const numbers = [
            ['calls', 'Calls', '', number, 88],
            ['allocations', 'Allocations', 'with those of what it called', number, 88],
            ['own_allocated_bytes', 'Allocated', 'by itself', size], ['allocated_bytes', 'with callees', 'by itself and by what it called', size],
            ['freed_bytes', 'Freed', 'of what it allocated itself', size],
            ['own_live_bytes', 'Not freed', 'at the end, of what it allocated itself', size], ['live_bytes', 'with callees', 'not freed at the end', size],
            ['live_blocks', 'Blocks', 'not freed at the end, with those of what it called', number, 72],
        ];
        const bytesColumn = (side, [key, title, hint, text, width = 102]) => ({
            key: `${side} ${key}`, title, hint, width, bar: text === size, value: row => row[side]?.[key] ?? 0,
            text: row => row[side] ? text(row[side][key]) : '',
        });
        const compared = ([key, title, hint, text]) => {
            const change = row => (row.after?.[key] ?? 0) - (row.before?.[key] ?? 0), show = value => `${value < 0 ? '−' : '+'}${text(Math.abs(value))}`;
            return [
                bytesColumn('before', [key, `${title} before`, hint, text, 132]), bytesColumn('after', [key, `${title} after`, hint, text, 126]),
                { key: `change ${key}`, title: 'Change', hint: 'after, less before', width: 92, value: change, text: row => changeCell(change(row), show) },
            ];
        };
        const shown = session.compared ? numbers.filter(([key]) => ['allocations', 'own_allocated_bytes', 'own_live_bytes'].includes(key)) : numbers;
        const sort = hasLive ? 'own_live_bytes' : 'own_allocated_bytes';
        this.grid = new Grid(this.body, {
            label: 'What functions allocate', sort: session.compared ? `change ${sort}` : `${shownSide} ${sort}`,
            columns: [
                textColumn('name', 'Function', row => functionLabel(row), { value: row => row.name, tell: row => row.name }),
                ...shown.flatMap(each => session.compared ? compared(each) : [bytesColumn(shownSide, each)]),
            ],
            isChosen: row => row.name === selection.name, choose: row => choose({ name: row.name, call: null }, true),
        });
    },
    whenShown() { this.grid?.draw(); },
});
