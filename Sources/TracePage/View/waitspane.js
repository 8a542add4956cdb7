// What threads waited for, and what led to the end of the selected call.
addPane({
    key: 'waits', title: 'Waits', hint: 'What threads waited for, and who ended that', isFor: () => session.content === 'calls' && session.splits,
    make() {
        const waker = row => row.wakers[0];
        this.scope = make('p', 'These are the waits of the whole time: fathom waits takes no stretch, and no filter but -t.', 'dim');
        this.body.append(this.scope);
        this.grid = new Grid(this.body, {
            label: 'Waits', sort: 'total', isChosen: row => row.path.at(-1) === selection.name,
            columns: [
                { key: 'what', title: 'Waited for', width: 170, isText: true, value: row => row.kind, text: row => [row.kind === 'cpu' ? 'a CPU' : row.kind, row.object ?? row.file].filter(each => each).join(' ') },
                { key: 'total', title: 'Total', width: 88, bar: true, value: row => row.total_ns, text: row => duration(row.total_ns) },
                { key: 'calls', title: 'Times', width: 70, value: row => row.calls, text: row => number(row.calls) },
                { key: 'p99', title: 'p99', width: 84, value: row => row.p99_ns, text: row => duration(row.p99_ns) },
                { key: 'max', title: 'Longest', width: 84, value: row => row.max_ns, text: row => duration(row.max_ns) },
                { key: 'path', title: 'Where', isText: true, value: row => row.path.join(), text: row => endOfPath(row.path), tell: row => row.path.join(' › ') },
                {
                    key: 'waker', title: 'Ended by', isText: true, value: row => waker(row)?.share ?? 0,
                    text: row => waker(row) ? `${threadName(waker(row).thread)}, ${waker(row).path.at(-1)} ${percent(waker(row).share, 1)}` : '',
                    tell: row => row.wakers.map(each => `${threadName(each.thread)}: ${each.path.join(' › ')} ${percent(each.share, 1)}`).join('\n'),
                },
            ],
            choose: row => choose({ name: row.path.at(-1), call: null }, true),
        });
    },
    async show() {
        const { filters } = selection, at = filters.indexOf('-t');
        const answer = await ask(this, 'waits', at < 0 ? [] : filters.slice(at, at + 2));
        if (!answer) return;
        this.grid.show(answer.waits);
        this.scope.hidden = isWhole(stretch()) && filters.length === 0;
    },
    whenShown() { this.grid.draw(); },
});

const threadName = tid => session.tracks.find(each => each.tid === tid)?.label ?? `thread ${tid}`;

addPane({
    key: 'chain', title: 'Chain', hint: 'What the selected call, or the range of its thread, took its time for, through all threads',
    isFor: () => session.content === 'calls' && session.splits, of: () => selection.call && [selection.call.track, selection.call.begin],
    make(place) {
        this.title = make('h2');
        this.line = make('div', undefined, 'chainline');
        place.append(this.title, this.line);
        this.grid = new Grid(place, {
            label: 'Links of the chain', sort: null, isFixed: true,
            columns: [
                { key: 'at', title: 'At', width: 96, isText: true, value: row => row.from_ns, text: row => duration(row.from_ns) },
                { key: 'took', title: 'Took', width: 88, bar: true, value: row => row.to_ns - row.from_ns, text: row => duration(row.to_ns - row.from_ns) },
                { key: 'ran', title: 'Ran', width: 88, value: row => row.ran_ns, text: row => duration(row.ran_ns) },
                { key: 'cpu', title: 'Wanted a CPU', width: 104, value: row => row.cpu_wait_ns, text: row => duration(row.cpu_wait_ns) },
                { key: 'waited', title: 'Other waits', width: 96, value: row => row.other_waits_ns, text: row => duration(row.other_waits_ns) },
                { key: 'what', title: 'What', isText: true, value: row => row.what, text: row => [row.what, row.function ?? row.object].filter(each => each).join(' ') },
                { key: 'thread', title: 'Thread', width: 130, isText: true, value: row => row.thread, text: row => row.thread === undefined || row.thread === null ? '' : threadName(row.thread) },
            ],
            choose: row => glideTo(row.from_ns - (row.to_ns - row.from_ns) * 0.3, row.to_ns + (row.to_ns - row.from_ns) * 0.3),
        });
    },
    async show() {
        const { call } = selection;
        this.title.textContent = call ? '' : 'Select a call on the timeline: this tells what it took its time for.';
        this.line.hidden = this.grid.box.hidden = !call;
        timeline.arrows = [];
        if (!call) return settlePane(this, null);
        const { track: chosen } = laneOf(call.track);
        const answer = await ask(this, 'chain', ['--thread', chosen.kind === 'task' ? `task ${chosen.tid}` : String(chosen.tid), '--from', `${Math.floor(call.begin)}ns`, '--to', `${Math.ceil(call.end)}ns`]);
        this.line.hidden = this.grid.box.hidden = !answer;
        if (!answer || selection.call !== call) return;
        this.title.textContent = `${selection.name ?? 'The call'} of ${chosen.label}: ${duration(answer.to_ns - answer.from_ns)}`;
        const whole = answer.to_ns - answer.from_ns;
        this.line.replaceChildren(...answer.links.map(each => {
            const part = make('span', undefined, each.what === 'ran' ? 'ran' : each.cpu_wait_ns > each.ran_ns ? 'wanted' : 'waited');
            part.style.left = `${100 * (each.from_ns - answer.from_ns) / whole}%`;
            part.style.width = `${100 * (each.to_ns - each.from_ns) / whole}%`;
            part.title = `${each.what} ${each.function ?? ''}: ${duration(each.to_ns - each.from_ns)}`;
            return part;
        }));
        this.grid.show(answer.links);
        const track = tid => session.tracks.findIndex(each => each.tid === tid);
        timeline.arrows = answer.links.slice(1).map((each, at) => [answer.links[at], each]).filter(([a, b]) => a.thread !== b.thread)
            .map(([a, b]) => [{ track: track(a.thread), at: a.to_ns }, { track: track(b.thread), at: b.from_ns }])
            .filter(ends => ends.every(each => each.track >= 0));
        redraw();
    },
    whenShown() { this.grid.draw(); },
});
