// Where answers come from: `fathom view`, which is asked over the loopback, or what is frozen in the page. Only this knows which.

/// What could not be answered, as a sentence to show.
class Refusal extends Error {}

/// Which of two sessions is shown, where two are compared: it is in the address. Another one is another page.
const shownSide = new URLSearchParams(location.hash.slice(1)).get('side') === 'before' ? 'before' : 'after';

const live = {
    async get(path, parameters, signal, side = shownSide) {
        const query = new URLSearchParams();
        for (const [key, value] of Object.entries(parameters)) for (const each of [value].flat()) query.append(key, each);
        let answer;
        try {
            const place = side === 'before' ? `before/${path}` : path;
            answer = await fetch(query.size ? `${place}?${query}` : place, { signal });
        } catch (problem) {
            throw problem.name === 'AbortError' ? problem : new Refusal('fathom view has ended: start it again, and open what it shows');
        }
        if (answer.ok) return answer;
        const body = await answer.json().catch(() => ({}));
        throw Object.assign(new Refusal(body.error ?? `the answer was ${answer.status}`), { said: body.said ?? [] });
    },
    async json(path, parameters = {}, signal, side = shownSide) { return (await this.get(path, parameters, signal, side)).json(); },
    session() { return this.json('session'); },
    names(from) { return this.json('names', { from }); },
    /// Marks, counters and blocked times, for which all records are read; before that: {progress}.
    events() { return this.json('events'); },
    /// What threads waited for, for which all records are read; before that: {progress}.
    waits(question) { return this.json('waits', question); },
    call(track, row, at) { return this.json('call', { track, row, at }); },
    filter(words, from) { return this.json('filter', { o: words, from }); },
    async picture({ from, to, width, tracks, rows }, signal) {
        const asked = { from, to, width, tracks: tracks.join(), rows: rows.join('-') };
        return readPicture(await (await this.get('picture', asked, signal)).arrayBuffer(), width, rows);
    },
    /// The text of a source file that functions are told to be in.
    hasTexts: true,
    text(file) { return this.json('source', { file }); },
    ask(command, options, pane, signal, side) { return this.json(`ask/${command}`, { o: options, pane }, signal, side); },
};

const source = element('frozen') ? frozen(JSON.parse(element('frozen').textContent)) : live;

/// Whether a command can be asked, perhaps with an option: a page of `flame --time-order` tells which it was written with.
const knows = words => session.panes?.includes(words) ?? true;

/// Typed arrays on a picture's bytes, see PictureBytes.swift.
///
/// - `rows`: the first and the last row that were asked for. Empty ones at the end are left out.
function readPicture(buffer, width, [firstRow, lastRow]) {
    const [magic, version, count, known] = new Uint32Array(buffer, 0, 4), [from, to] = new Float64Array(buffer, 16, 2);
    if (magic !== 0x50544146 || version !== 1) throw new Refusal('this page is of another version of Fathom than what serves it');
    const tracks = new Map();
    let at = 32;
    const take = (Type, n) => { // what is next
        const part = new Type(buffer, at, n);
        at += part.byteLength + 7 & ~7;
        return part;
    };
    for (let i = 0; i < count; i++) {
        const [track, n, rows, flags] = take(Uint32Array, 4), first = take(Uint32Array, rows + 1);
        const part = { track, from, to, width, firstRow, lastRow, rows, isCoarse: (flags & 1) !== 0, first };
        part.begin = take(Float64Array, n);
        for (const [key, Type] of [['length', Float32Array], ['busy', Float32Array], ['fn', Uint32Array], ['calls', Uint32Array]]) {
            part[key] = take(Type, n);
        }
        part.blocked = take(Uint8Array, width);
        part.wanting = take(Uint8Array, width);
        tracks.set(track, part);
    }
    return { from, to, known, tracks };
}
