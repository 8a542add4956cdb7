// How long the calls of the selected function took in two sessions: a histogram of each, and what is in the middle and at the end.
addPane({
    key: 'durations', title: 'Durations', hint: 'How long the calls of a function took before, and after',
    isFor: () => session.content === 'calls' && session.compared !== undefined, of: () => selection.name,
    make(place) {
        this.title = make('h2');
        place.append(this.title);
        const both = make('div', undefined, 'columns both');
        this.parts = sides().map(side => {
            const part = make('div'), caption = make('h3', `${side}: ${session.compared[side]}`), bars = make('div', undefined, 'bars');
            bars.setAttribute('role', 'group');
            bars.setAttribute('aria-label', `Calls ${side}, by how long they took`);
            part.append(caption, bars);
            both.append(part);
            return { ...addPart(`durations-${side}`, part), side, bars };
        });
        place.append(both);
        const of = side => row => row[side];
        this.ranks = new Grid(place, {
            label: 'How long calls took', sort: null, isFixed: true,
            columns: [
                textColumn('name', 'Calls', row => row.name),
                { ...timeColumn('before', 'Before', of('before')), text: row => row.show(row.before) },
                { ...timeColumn('after', 'After', of('after')), text: row => row.show(row.after) },
                { ...timeColumn('change', 'Change', row => row.after - row.before),
                    text: row => isKnown(row.before) && isKnown(row.after) ? changeCell(row.after - row.before, row.show === number ? signedNumber : signedDuration) : '' },
            ],
            choose: () => {},
        });
    },
    async show() {
        const { name } = selection;
        this.title.textContent = name ?? 'Select a function: on the timeline, in the flame graph or in the table.';
        for (const { bars } of this.parts) bars.hidden = !name;
        this.ranks.box.hidden = !name;
        if (!name) return settlePane(this, null);
        const answers = await Promise.all(this.parts.map(part => ask(part, 'tail', [exactly(name), ...commonOptions()], part.side)));
        if (selection.name !== name) return;
        const [before, after] = answers;
        for (const [at, { bars }] of this.parts.entries()) {
            bars.hidden = !answers[at];
            if (answers[at]) drawBars(bars, answers[at].histogram);
        }
        const rank = (answer, percent) => answer?.percentiles.find(each => each.percent === percent)?.duration_ns;
        const rows = [['p50', 50], ['p90', 90], ['p99', 99], ['longest', 100]].map(([word, percent]) => (
            { name: word, before: rank(before, percent), after: rank(after, percent), show: ns => isKnown(ns) ? duration(ns) : '' }));
        const sum = answer => answer?.histogram.reduce((all, each) => all + each.calls, 0);
        this.ranks.show([{ name: 'number of calls', before: sum(before), after: sum(after), show: number }, ...rows]);
    },
    whenShown() { this.ranks.draw(); },
});
