// Answers of a page that has all inside: {session, names, events, waits, timeline, answers}. Documents are packed, or as they are; `timeline` is
// {origin, columns, levels}, see tiles.js; `answers` has what each command answered of the whole time, by its name and options.
const frozen = content => {
    const tiles = content.timeline && new Tiles(content.timeline), documents = new Map();
    const document = (key, packed) => {
        if (!documents.has(key)) {
            documents.set(key, typeof packed === 'string' ? unpack(packed).then(bytes => JSON.parse(new TextDecoder().decode(bytes))) : Promise.resolve(packed));
        }
        return documents.get(key);
    };
    const names = () => document('names', content.names);
    return {
        tiles, isFrozen: true,
        session() { return document('session', content.session); },
        async names(from) {
            const { names: all, modules, files, lines } = await names();
            return { from, names: all.slice(from), modules: modules.slice(from), files: files.slice(from), lines: lines.slice(from) };
        },
        async events() { return await document('events', content.events) ?? { tracks: [] }; },
        waits() { return document('waits', content.waits); },
        async call(track, row, moment) {
            const call = await tiles?.call(track, row, moment), { names: all } = await names();
            if (!call) throw new Refusal('this page was saved without this call');
            return {
                name: all[call.fn], begin: call.begin, end: call.end, total: call.end - call.begin, self: call.self, state: 'complete',
                arguments: [], path: call.path.map(each => all[each]),
            };
        },
        async filter() { throw new Refusal('a saved page matches no patterns'); },
        async picture(question) {
            if (!tiles) throw new Refusal('this page was saved without calls');
            return tiles.picture(question);
        },
        async ask(command, options) {
            // A pane asks of a stretch and with filters by its last options.
            const common = commonOptions(), isPart = common.length > 0 && command !== 'chain';
            let own = isPart && options.slice(-common.length).join() === common.join() ? options.slice(0, -common.length) : options;
            if (command === 'waits') own = [];
            own = own.filter(word => word !== '--clip');
            // Of the calls of a bar, the page has those among the slowest of all.
            if (command === 'tree' && own[0] === '-t') own = own.slice(2).map((word, at, all) => all[at - 1] === '--limit' ? '100' : word);
            if (command === 'report' && own.length === 0 && isPart && selection.filters.length === 0 && tiles && !tiles.finest && !tiles.rows) {
                return { said: [], answer: { functions: await functionsIn(...stretch()) } };
            }
            const key = [command, ...own].join(' ');
            if (!Object.hasOwn(content.answers, key)) throw new Refusal(whyNot(command));
            const answer = await document(key, content.answers[key]);
            if (answer.error) throw Object.assign(new Refusal(answer.error), { said: answer.said });
            return isPart ? { ...answer, said: [...answer.said, 'a saved page answers for the whole time and without filters; fathom view answers for any'] } : answer;
        },
    };

    /// What `report` answers of a stretch, of pages that have each call.
    async function functionsIn(from, to) {
        const found = await tiles.sums(from, to), { names: all, modules, files, lines } = await names();
        return [...found].map(([f, { calls, total, self }]) => ({
            name: all[f], module: modules[f], file: files[f], line: lines[f], calls, total_ns: total, self_ns: self,
        }));
    }

    function whyNot(command) {
        const known = Object.keys(content.answers).filter(each => each.startsWith('tail ')).map(each => each.slice('tail '.length));
        if (command === 'tail' && known.length) return `this page was saved with the durations of these functions alone: ${known.join(', ')}`;
        if (command === 'chain') return 'this page was saved with the chains of the longest outermost calls alone';
        return 'this page was saved without this answer; fathom view has it';
    }
};
