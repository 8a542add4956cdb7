// What threads waited for, and what led to the end of the selected call.
addPane({
    key: 'waits', title: 'Waits', hint: 'What threads waited for, and who ended that',
    isFor: () => session.content === 'calls' && session.splits && knows('waits'),
    make() {
        const waker = row => row.wakers[0], shareOf = each => percent(each.share, 1);
        this.scope = make('p', 'These are the waits of the whole time: fathom waits takes no stretch, and no filter but -t.'
            + (session.compared ? ` They are those ${shownSide}: waits are not compared.` : ''), 'dim');
        this.body.append(this.scope);
        this.grid = new Grid(this.body, {
            label: 'Waits', sort: 'total', isChosen: row => row.path.at(-1) === selection.name,
            columns: [
                textColumn('what', 'Waited for', row => `${row.kind === 'cpu' ? 'a CPU' : row.kind} ${row.object ?? row.file ?? ''}`, { width: 170 }),
                timeColumn('total', 'Total', row => row.total_ns, { bar: true }), numberColumn('calls', 'Times', row => row.calls),
                timeColumn('p99', 'p99', row => row.p99_ns), timeColumn('max', 'Longest', row => row.max_ns),
                textColumn('path', 'Where', row => endOfPath(row.path), { tell: row => row.path.join(' › ') }),
                textColumn('waker', 'Ended by', row => waker(row) ? `${threadName(waker(row).thread)}, ${waker(row).path.at(-1)} ${shareOf(waker(row))}` : '', {
                    value: row => waker(row)?.share ?? 0,
                    tell: row => row.wakers.map(each => `${threadName(each.thread)}: ${each.path.join(' › ')} ${shareOf(each)}`).join('\n'),
                }),
            ],
            choose: row => choose({ name: row.path.at(-1), call: null }, true),
        });
    },
    async show() {
        const { filters } = selection, at = filters.indexOf('-t');
        const answer = await ask(this, 'waits', at < 0 ? [] : filters.slice(at, at + 2));
        if (!answer) return;
        this.grid.show(answer.waits);
        this.scope.hidden = isWhole(stretch()) && filters.length === 0 && !session.compared;
    },
    whenShown() { this.grid.draw(); },
});

const threadName = tid => session.tracks.find(each => each.tid === tid)?.label ?? `thread ${tid}`;

addPane({
    key: 'chain', title: 'Chain', hint: 'What the selected call, or the range of its thread, took its time for, through all threads',
    isFor: () => session.content === 'calls' && session.splits && knows('chain'), of: () => selection.call && [selection.call.track, selection.call.begin],
    make(place) {
        this.title = make('h2');
        this.line = make('div', undefined, 'chainline');
        place.append(this.title, this.line);
        this.grid = new Grid(place, {
            label: 'Links of the chain', sort: null, isFixed: true,
            columns: [
                timeColumn('at', 'At', row => row.from_ns), timeColumn('took', 'Took', row => row.to_ns - row.from_ns, { bar: true }),
                timeColumn('ran', 'Ran', row => row.ran_ns), timeColumn('cpu', 'Wanted a CPU', row => row.cpu_wait_ns, { width: 104 }),
                timeColumn('waited', 'Other waits', row => row.other_waits_ns, { width: 96 }),
                textColumn('what', 'What', row => `${row.what} ${row.function ?? row.object ?? ''}`),
                textColumn('thread', 'Thread', row => isKnown(row.thread) ? threadName(row.thread) : '', { width: 130 }),
            ],
            choose: row => glideTo(row.from_ns - (row.to_ns - row.from_ns) * 0.3, row.to_ns + (row.to_ns - row.from_ns) * 0.3),
        });
    },
    async show() {
        const { call } = selection, of = JSON.stringify(this.of());
        this.title.textContent = call ? '' : 'Select a call on the timeline: this tells what it took its time for.'
            + (session.compared ? ` Chains are not compared: this is of ${session.compared[shownSide]}.` : '');
        this.line.hidden = this.grid.box.hidden = !call;
        timeline.arrows = [];
        if (!call) return settlePane(this, null);
        const { track: chosen } = laneOf(call.track);
        const thread = chosen.kind === 'task' ? `task ${chosen.tid}` : String(chosen.tid);
        const span = ['--from', `${Math.floor(call.begin)}ns`, '--to', `${Math.ceil(call.end)}ns`];
        const answer = await ask(this, 'chain', ['--thread', thread, ...span]);
        this.line.hidden = this.grid.box.hidden = !answer;
        // More may be known of the same call by now.
        if (!answer || JSON.stringify(this.of()) !== of) return;
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
