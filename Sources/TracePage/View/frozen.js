// Answers of a page that has all inside: {session, names, events, timeline, answers}. Documents are packed, or as they are; `timeline` is
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
        async call(track, row, moment) {
            const call = await tiles?.call(track, row, moment), { names: all } = await names();
            if (!call) throw new Refusal('this page was saved without this call');
            return {
                name: all[call.fn], begin: call.begin, end: call.end, total: call.end - call.begin, self: call.self, state: 'complete',
                arguments: [], path: call.path.map(each => all[each]),
            };
        },
        async picture(question) {
            if (!tiles) throw new Refusal('this page was saved without calls');
            return tiles.picture(question);
        },
        async ask(command, options) {
            const key = [command, ...options].join(' ');
            if (!Object.hasOwn(content.answers, key)) {
                throw new Refusal(options.some(each => /^-/.test(each) && !ownOptions.has(each))
                    ? 'a saved page answers for the whole time and without filters; fathom view answers for any'
                    : 'this page was saved without this answer; fathom view has it');
            }
            const answer = await document(key, content.answers[key]);
            if (answer.error) throw Object.assign(new Refusal(answer.error), { said: answer.said });
            return answer;
        },
    };
};

/// Options that panes give of themselves, without a stretch or a filter.
const ownOptions = new Set(['--sort', '--limit', '--watch', '--relative-depth', '--thread', ...['cpu', 'blocked', 'runnable'].map(each => `--time=${each}`)]);
