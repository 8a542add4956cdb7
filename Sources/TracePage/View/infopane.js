// What is known of the recording as a whole.
addPane({
    key: 'info', title: 'Info', hint: 'How it was recorded, and what it holds', of: () => 'all', isFor: () => !isGraphPage() && !isArticlePage() && knows('info'),
    make(place) {
        const both = make('div', undefined, 'body columns');
        this.parts = sides().map(side => {
            const part = make('div'), list = make('dl', undefined, 'facts');
            list.tabIndex = 0; // so that it can be scrolled by keys
            if (session.compared) part.append(make('h2', side));
            part.append(list);
            both.append(part);
            return { ...addPart(`info-${side}`, part), side, list };
        });
        place.append(both);
    },
    async show() {
        await Promise.all(this.parts.map(async part => {
            const answer = await ask(part, 'info', [], part.side);
            if (answer) this.tell(answer, part.list);
        }));
    },
    tell(answer, list) {
        const start = answer.start_realtime_ns && new Date(answer.start_realtime_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19);
        const options = Object.entries(answer.options ?? {}).filter(([, value]) => isKnown(value) && value !== false);
        const facts = [
            ['session', answer.session], ['command', answer.command?.join(' ')], ['directory', answer.directory],
            ['host', joined(answer.host, answer.kernel)], ['cpu', answer.cpu], ['recorded by', answer.fathom && `fathom ${answer.fathom}`],
            ['start', start && `${start} UTC`], ['duration', isKnown(answer.duration_ns) && duration(answer.duration_ns)],
            ['calls', number(answer.calls ?? 0)], ['log', isKnown(answer.log_bytes) && size(answer.log_bytes)],
            ['lost calls', answer.lost_calls && number(answer.lost_calls)], ['options', options.map(pair => pair.join('=')).join(' ')],
            ['damage', answer.damage?.map(each => each.message ?? each).join(', ')],
        ];
        const nodes = facts.filter(([, value]) => value).flatMap(([word, value]) => [make('dt', word), make('dd', value)]);
        for (const process of answer.processes ?? []) {
            const end = process.exit_status ? `${process.end} ${process.exit_status}` : process.end;
            nodes.push(make('dt', `process ${process.pid}`), make('dd', joined((process.command ?? []).join(' '), end)));
            for (const { name, tid, calls, bytes, lost_calls: lost } of process.threads) {
                const told = joined(counted(calls, 'call'), size(bytes), lost && `${number(lost)} lost`);
                nodes.push(make('dt', ''), make('dd', `${name} ${tid}: ${told}`));
            }
        }
        list.replaceChildren(...nodes);
    },
});
