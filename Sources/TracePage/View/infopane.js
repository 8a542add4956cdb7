// What is known of the recording as a whole.
addPane({
    key: 'info', title: 'Info', hint: 'How it was recorded, and what it holds', of: () => 'all',
    make(place) { 
        this.list = make('dl', undefined, 'facts');
        this.list.tabIndex = 0; // so that it can be scrolled by keys
        place.append(this.list);
    },
    async show() {
        const answer = await ask(this, 'info', []);
        if (!answer) return;
        const facts = [
            ['session', answer.session], ['command', answer.command?.join(' ')], ['directory', answer.directory], ['host', [answer.host, answer.kernel].filter(each => each).join(', ')],
            ['cpu', answer.cpu], ['recorded by', answer.fathom && `fathom ${answer.fathom}`],
            ['start', answer.start_realtime_ns && `${new Date(answer.start_realtime_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19)} UTC`],
            ['duration', answer.duration_ns === undefined ? null : duration(answer.duration_ns)], ['calls', number(answer.calls ?? 0)],
            ['log', answer.log_bytes === undefined ? null : size(answer.log_bytes)], ['lost calls', answer.lost_calls ? number(answer.lost_calls) : null],
            ['options', answer.options && Object.entries(answer.options).filter(([, value]) => value !== null && value !== false).map(pair => pair.join('=')).join(' ')],
            ['damage', answer.damage?.length ? answer.damage.map(each => each.message ?? each).join(', ') : null],
        ];
        const nodes = facts.filter(([, value]) => value).flatMap(([word, value]) => [make('dt', word), make('dd', value)]);
        for (const process of answer.processes ?? []) {
            nodes.push(make('dt', `process ${process.pid}`), make('dd', `${(process.command ?? []).join(' ')} · ${process.end}${process.exit_status ? ` ${process.exit_status}` : ''}`));
            for (const thread of process.threads) nodes.push(make('dt', ''), make('dd', `${thread.name} ${thread.tid}: ${counted(thread.calls, 'call')}, ${size(thread.bytes)}${thread.lost_calls ? `, ${number(thread.lost_calls)} lost` : ''}`));
        }
        this.list.replaceChildren(...nodes);
    },
});
