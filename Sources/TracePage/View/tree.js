// Single calls in the order in which they nest: the longest of the stretch, each where it is called.
const treeLimit = 200; // calls

/// The lane of a thread or task that an answer tells of, or -1.
const trackOf = (process, { tid, task }) => session.tracks.findIndex(each => each.tid === (task ?? tid)
    && (each.kind === 'task') === (task !== undefined) && session.processes[each.process].pid === process.pid);

/// The columns of a number of a path that is known of both sessions.
const columnsOfTree = (...what) => columnsOfChange(...what).map(({ value, text, ...column }) => ({
    ...column, value: row => value(row.call), text: row => text(row.call),
}));

addPane({
    key: 'tree', title: 'Tree', hint: 'The longest calls, each below its caller', isFor: () => session.content === 'calls' && knows('tree'), open: new Map(),
    make() {
        this.grid = new Grid(this.body, {
            label: 'Calls', sort: null, isFixed: true, isChosen: row => row.isChosen(),
            columns: session.compared ? [
                textColumn('name', 'Path', row => this.label(row), { tell: row => row.call.name ?? row.title }),
                ...columnsOfTree('total_ns', 'total', 'Total'), ...columnsOfTree('self_ns', 'self', 'Self'),
                ...columnsOfTree('calls', 'calls', 'Calls', false),
            ] : [
                textColumn('name', 'Call', row => this.label(row), { tell: row => row.call.name ?? row.title }),
                timeColumn('total', 'Total', row => row.call.total_ns, { bar: true }), timeColumn('self', 'Self', row => row.call.self_ns),
                numberColumn('calls', 'Calls', row => row.call.calls), timeColumn('start', 'At', row => row.call.start_ns),
            ],
            choose: row => this.select(row),
            open: ({ call }) => { if (call.total_ns && !session.compared) zoomToCall({ begin: call.start_ns, end: call.start_ns + call.total_ns }); },
        });
        this.grid.body.addEventListener('keydown', event => {
            const row = this.grid.shown[event.target.closest('tr')?.dataset.at];
            if (!row || !['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
            event.preventDefault();
            event.stopPropagation();
            if (row.below > 0 && row.isOpen !== (event.key === 'ArrowRight')) this.toggle(row);
        }, true);
    },
    async show() {
        const answer = session.compared ? await askPaths(this, commonOptions())
            : await ask(this, 'tree', ['--sort', 'time', '--limit', String(treeLimit), ...commonOptions()]);
        if (!answer) return;
        this.answer = answer;
        this.list();
    },
    /// The rows of what is open.
    list() {
        const rows = [];
        // What nobody has opened or folded is open near the root, and as far as one path has most of the time.
        const add = (call, depth, track, key, isTrunk) => {
            const below = (call.children ?? []).filter(each => each.name !== undefined), isOpen = this.open.get(key) ?? (depth < 3 || isTrunk);
            rows.push({
                call, depth, track, key, below: below.length, isOpen, at: rows.length,
                isChosen: () => session.compared ? call.name === selection.name : selection.call?.track === track && selection.call.row === depth
                    && Math.abs(selection.call.begin - call.start_ns) < 1,
            });
            const isMost = each => isTrunk && each.total_ns >= 0.5 * call.total_ns;
            if (isOpen) below.forEach((each, at) => add(each, depth + 1, track, `${key}.${at}`, isMost(each)));
        };
        for (const process of this.answer.processes) {
            for (const thread of process.threads) {
                if (thread.roots.length === 0) continue;
                const track = trackOf(process, thread);
                rows.push({ title: `${thread.name} ${thread.tid ?? ''}`, call: {}, depth: 0, below: 0, at: rows.length, isChosen: () => false });
                thread.roots.forEach((each, at) => add(each, 0, track, `${process.pid}.${thread.tid}.${at}`, true));
            }
        }
        this.grid.show(rows);
    },
    toggle(row) {
        this.open.set(row.key, !row.isOpen);
        this.list();
    },
    label(row) {
        const node = make('span', undefined, 'branch'), button = make('button', undefined, 'twist');
        if (row.title) { node.append(make('b', row.title)); return node; }
        node.style.paddingLeft = `${Math.min(row.depth, 40) * 14}px`;
        button.tabIndex = -1;
        button.setAttribute('aria-label', row.isOpen ? 'Fold' : 'Open');
        button.setAttribute('aria-expanded', row.isOpen);
        button.style.visibility = row.below ? '' : 'hidden';
        button.onclick = () => this.toggle(row);
        node.append(button, row.call.name, make('small', ` ${valuesText(row.call.args, row.call.returned)}`));
        return node;
    },
    select({ call, depth, track }) {
        if (call.name && session.compared) choose({ name: call.name, call: null }, true);
        if (!call.name || track < 0) return;
        const chosen = { track, row: depth, begin: call.start_ns, end: call.start_ns + call.total_ns, exact: call.name };
        choose({ call: call.calls > 1 ? null : chosen, name: call.name }, true);
        revealCall(chosen);
        if (chosen.end < selection.from || chosen.begin > selection.to) glideTo(...aroundCall(chosen.begin, chosen.end));
    },
    whenShown() { this.grid.draw(); },
});
