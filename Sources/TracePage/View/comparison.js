// Two sessions: which of them is shown, and how one differs from the other.
const sides = () => session.compared ? ['before', 'after'] : [shownSide];

/// Lets one choose which session the timeline shows, and all that tells of one alone.
function makeSides() {
    const { compared } = session, choice = element('side');
    choice.hidden = !compared;
    if (!compared) return;
    for (const side of ['after', 'before']) {
        const option = make('option', `${side}: ${middle(compared[side], 24)}`);
        option.value = side;
        option.title = compared[side];
        choice.append(option);
    }
    choice.value = shownSide;
    choice.onchange = () => showSide(choice.value);
    element('title').textContent = `${compared.before} → ${compared.after}`;
    document.title = `${element('title').textContent} · fathom`;
}

/// Shows one of the sessions. That is another page: its threads and calls are others, while stretch, filters and function stay.
function showSide(side) {
    const parts = new URLSearchParams(addressOf({
        ...selection, call: null, marks: [], order: [], folds: {}, hidden: [], pinned: [],
    }).slice(1));
    parts.delete('side');
    if (side === 'before') parts.set('side', side);
    history.pushState(null, '', `#${parts}`);
    location.reload();
}

// What diff tells of, by its name in answers, and what it is called in rows: `calls` after, `calls_before` and `calls_change`.
const changing = { calls: 'calls', total_ns: 'total', self_ns: 'self' };

/// A row of diff as one of what is after, with what was before.
function rowOfChange(each) {
    const row = { ...each };
    for (const [key, word] of Object.entries(changing)) {
        row[key] = each[key]?.after;
        row[`${word}_before`] = each[key]?.before;
        row[`${word}_change`] = each[key]?.change;
    }
    return row;
}

/// The functions of the stretch, with what their calls add up to, and with changes where two sessions are compared; null for no answer.
async function askFunctions(pane, options) {
    if (!session.compared) return (await ask(pane, 'report', options))?.functions ?? null;
    return (await ask(pane, 'diff', ['--all', '--limit', '0', ...options]))?.functions.map(rowOfChange) ?? null;
}

const mostPaths = 3000;

/// The call paths of both sessions in the form of a tree of calls; null for no answer.
async function askPaths(pane, options) {
    const answer = await ask(pane, 'diff', ['--by', 'path', '--all', '--sort', 'total', '--limit', String(mostPaths), ...options]);
    if (!answer) return null;
    const all = { children: [], below: new Map() };
    for (const each of answer.paths) {
        let call = all;
        for (const name of each.path) {
            if (!call.below.has(name)) {
                const callee = { name, children: [], below: new Map() };
                call.below.set(name, callee);
                call.children.push(callee);
            }
            call = call.below.get(name);
        }
        Object.assign(call, rowOfChange(each));
    }
    const sort = call => {
        call.children.sort((a, b) => Math.max(b.total_ns ?? 0, b.total_before ?? 0) - Math.max(a.total_ns ?? 0, a.total_before ?? 0));
        call.children.forEach(sort);
    };
    sort(all);
    const isAll = answer.paths.length < mostPaths, name = isAll ? 'All call paths' : `The ${number(mostPaths)} call paths that have changed most`;
    return { processes: [{ pid: 0, threads: [{ name, roots: all.children }] }] };
}

const signedNumber = n => n < 0 ? `−${number(-n)}` : `+${number(n)}`;

/// More is one colour and less another, and the sign tells it, too.
function changeCell(value, text) {
    return value ? make('span', text(value), value > 0 ? 'more' : 'less') : isKnown(value) ? '=' : '';
}

/// The columns of a number that is known of both sessions.
///
/// - `word`: what it is called in rows, see `changing`.
function columnsOfChange(key, word, title, isTime = true) {
    const column = isTime ? timeColumn : numberColumn, show = isTime ? signedDuration : signedNumber;
    return [
        column(`${word}_before`, `${title} before`, row => row[`${word}_before`], { width: 98 }),
        column(key, `${title} after`, row => row[key], { width: 98 }),
        { ...column(`${word}_change`, 'Change', row => row[`${word}_change`], { hint: 'after, less before' }), value: row => row[`${word}_change`] ?? 0,
            text: row => changeCell(row[`${word}_change`], show) },
    ];
}
