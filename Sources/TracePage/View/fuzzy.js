// Finding by a few letters.

/// How well a text matches what was typed, its letters in their order, or 0 where it does not: better are letters side by side, at
/// the beginning of words, and in short texts.
function likeness(typed, text) {
    const wanted = typed.toLowerCase(), lower = text.toLowerCase();
    if (!wanted) return 1;
    const whole = lower.indexOf(wanted);
    if (whole >= 0) return 4 - whole / (whole + 40) - text.length / (text.length + 400) + (startsWord(text, whole) ? 1 : 0);
    let sum = 0, at = -1;
    for (const letter of wanted) {
        if (letter === ' ') continue;
        const next = lower.indexOf(letter, at + 1);
        if (next < 0) return 0;
        sum += next === at + 1 ? 1 : startsWord(text, next) ? 0.8 : 0.2;
        at = next;
    }
    return sum / wanted.length / (1 + text.length / 400);
}

const startsWord = (text, at) => at === 0 || /[^A-Za-z0-9][A-Za-z0-9]$|[a-z][A-Z]$/.test(text.slice(at - 1, at + 1));

/// The best of what matches, the best first.
const bestOf = (items, typed, textOf, most) => items.map((each, at) => [likeness(typed, textOf(each)), at, each])
    .filter(([worth]) => worth > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, most).map(([, , each]) => each);

/// A time as options take it (10us, 1.5ms, 2s, 100ns), in ns; null for anything else. A number alone is of seconds.
function timeFrom(text) {
    const found = /^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)?$/.exec(text.trim());
    const scales = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
    return found ? Number(found[1]) * scales[found[2] ?? 's'] : null;
}

/// Words as a shell parts them, with '…' and "…" around what holds spaces.
const wordsOf = text => [...text.matchAll(/'([^']*)'?|"([^"]*)"?|(\S+)/g)].map(each => each[1] ?? each[2] ?? each[3]);

/// What options of the command line ask for: {filters, from, to}, or {error}, a sentence.
function optionsFrom(text) {
    const given = wordsOf(text), found = { filters: [], from: null, to: null };
    const long = {
        '--filter': '-F', '--notrace': '-N', '--caller-filter': '-C', '--hide': '-H', '--source': '-L', '--min-size': '-Z',
        '--trigger': '-T', '--min-cost': '-t', '--max-depth': '-D', '--range': '-r',
    };
    for (let i = 0; i < given.length; i++) {
        let [word, value] = /^--[a-z-]+=/.test(given[i]) ? given[i].split(/=(.*)/s) : [given[i], undefined];
        word = long[word] ?? word;
        const isKnown = ['-F', '-N', '-C', '-H', '-L', '-Z', '-T', '-t', '-D', '-r', '--from', '--to', '--thread', '--process'].includes(word);
        if (!isKnown) return { error: word.startsWith('-') ? `there is no option ${word} here` : `${word} is no option` };
        value ??= given[++i];
        if (value === undefined) return { error: `${word} needs a value` };
        if (word === '-r') {
            const [from, to] = value.split('~'), begin = from ? timeFrom(from) : session.begin;
            const end = to ? to[0] === '+' ? begin + timeFrom(to.slice(1)) : timeFrom(to) : session.end;
            if (to === undefined || begin === null || end === null) return { error: `${value} is no range such as 10ms~20ms` };
            [found.from, found.to] = [begin, end];
        } else if (word === '--from' || word === '--to') {
            const moment = timeFrom(value);
            if (moment === null) return { error: `${value} is no time such as 1.5ms` };
            found[word.slice(2)] = moment;
        } else if (word === '-t' && timeFrom(value) === null) {
            return { error: `${value} is no time such as 1.5ms` };
        } else if (word === '-D' && !/^\d+$/.test(value)) {
            return { error: `${value} is no depth such as 3` };
        } else found.filters.push(word, value);
    }
    if (found.from !== null && found.to !== null && found.from >= found.to) return { error: 'the range ends before it begins' };
    return found;
}
