// How long the calls of the selected function took: a histogram, the calls of a bar, and what the slowest do longer than typical ones.
addPane({
    key: 'durations', title: 'Durations', hint: 'How long the calls of a function take, and why the slowest are slow',
    isFor: () => session.content === 'calls' && !session.compared && knows('tail'), of: () => selection.name,
    make(place) {
        place.classList.add('columns');
        const [left, right] = [make('div'), make('div')];
        this.title = make('h2');
        this.bars = make('div', undefined, 'bars');
        this.bars.setAttribute('role', 'group');
        this.bars.setAttribute('aria-label', 'Calls by how long they took: a bar lists them');
        this.ranks = make('p', undefined, 'dim');
        this.caption = make('h3');
        this.wanted = make('input');
        Object.assign(this.wanted, { type: 'search', className: 'wanted', placeholder: 'With arguments, such as id == 7', hidden: true });
        this.wanted.setAttribute('aria-label', 'Calls with these arguments');
        this.wanted.addEventListener('change', () => { this.isToSelect = true; this.listCalls(null); });
        this.list = make('div', undefined, 'list');
        this.ofCalls = addPart('durations-calls', this.list);
        left.append(this.title, this.bars, this.ranks, this.caption, this.wanted, this.list);
        place.append(left, right);
        this.calls = new Grid(this.list, {
            label: 'Calls, the slowest first', sort: null, isFixed: true, isChosen: row => selection.call?.begin === row.begin,
            columns: [
                timeColumn('total', 'Total', row => row.total), timeColumn('at', 'At', row => row.begin),
                textColumn('where', 'Thread and arguments', row => joined(row.label, row.values)),
            ],
            choose: row => this.select(row), open: row => zoomToCall(row),
        });
        this.slow = make('h3');
        right.append(this.slow);
        this.paths = new Grid(right, {
            label: 'What the slowest calls do longer', sort: 'difference', isChosen: row => row.path.at(-1) === selection.name,
            columns: [
                timeColumn('difference', 'Longer by', row => row.difference_ns, {
                    width: 104,
                    bar: true, hint: 'own time a call, slowest less typical', text: row => signedDuration(row.difference_ns),
                }),
                timeColumn('slow', 'Slowest', row => row.slow_ns, { hint: 'own time a call' }),
                timeColumn('typical', 'Typical', row => row.typical_ns, { hint: 'own time a call' }),
                textColumn('path', 'Path', row => endOfPath(row.path), { tell: row => row.path.join(' › ') }),
            ],
            choose: row => choose({ name: row.path.at(-1), call: null }, true),
        });
    },
    async show() {
        const { name } = selection;
        this.title.textContent = name ?? 'Select a function: on the timeline, in the flame graph or in the table.';
        if (!name) return;
        const answer = await ask(this, 'tail', [exactly(name), ...commonOptions()]);
        if (selection.name !== name) return;
        for (const each of [this.bars, this.ranks, this.paths.box, this.slow]) each.hidden = !answer;
        if (answer) this.draw(answer);
        if (this.listed !== name) this.wanted.value = '';
        this.listed = name;
        await this.listCalls(null);
    },
    draw(answer) {
        const { histogram, percentiles, slow, typical } = answer;
        drawBars(this.bars, histogram, each => this.listCalls(each));
        const rank = percent => percentiles.find(each => each.percent === percent)?.duration_ns;
        this.ranks.textContent = [['p50', 50], ['p90', 90], ['p99', 99], ['longest', 100]].filter(([, each]) => rank(each) !== undefined)
            .map(([word, each]) => `${word} ${duration(rank(each))}`).join(' · ');
        const slowest = slow.calls === 1 ? 'slowest call' : counted(slow.calls, 'slowest call');
        this.slow.textContent = `The ${slowest} (from ${duration(slow.from_ns)}) beside ${counted(typical.calls, 'typical one')} `
            + `(mean ${duration(typical.mean_ns)})`;
        this.paths.show(answer.paths);
    },
    /// Lists the longest calls of a bar, or of all, or those with the arguments that are wanted, and shows them on the timeline.
    async listCalls(bar) {
        const { name } = selection, wanted = bar ? null : comparisonFrom(this.wanted.value);
        // Of a bar in the middle, more of the longest are asked for, as longer ones are among them.
        const limit = bar ? '2000' : '100';
        // Calls with some arguments are looked for at all times, unless a range is chosen.
        const where = wanted && !selection.range ? selection.filters : commonOptions();
        const options = ['--watch', exactly(name), '--relative-depth', '0', '--sort', 'time', '--limit', limit, ...where];
        if (wanted) options.unshift('--when', `${exactly(name)}(${wanted})`);
        if (bar) options.unshift('-t', `${Math.floor(bar.from_ns)}ns`);
        const answer = await ask(this.ofCalls, 'tree', options);
        if (!answer || selection.name !== name) return;
        const found = [];
        const walk = (call, depth, track) => {
            if (call.watched && call.total_ns !== undefined) {
                found.push({
                    track, row: wanted ? null : depth, begin: call.start_ns, end: call.start_ns + call.total_ns, total: call.total_ns,
                    values: valuesText(call.args, call.returned), label: track < 0 ? '' : session.tracks[track].label,
                });
            }
            for (const each of call.children ?? []) walk(each, depth + 1, track);
        };
        for (const process of answer.processes) {
            for (const thread of process.threads) {
                const track = trackOf(process, thread);
                for (const root of thread.roots) walk(root, 0, track);
            }
        }
        const inBar = found.filter(each => !bar || each.total >= bar.from_ns && each.total < bar.to_ns).sort((a, b) => b.total - a.total);
        if (!wanted) this.wanted.hidden = source.isFrozen || !found.some(each => each.values);
        this.caption.textContent = wanted ? `${counted(found.length, found.length < 100 ? 'call' : 'longest call')} with ${wanted}` : !bar ? 'The slowest calls'
            : `${counted(bar.calls, 'call')} of ${duration(bar.from_ns)} to ${duration(bar.to_ns)}, `
                + (inBar.length < bar.calls ? `${number(inBar.length)} of which are listed` : 'the slowest first');
        this.calls.show(inBar);
        timeline.found = bar ? inBar : null;
        redraw();
        if (!wanted || !this.isToSelect) return;
        this.isToSelect = false;
        if (inBar.length > 0) await this.select(inBar[0]);
    },
    /// In which row a call is that was found without its callers.
    async rowOf({ track, begin }) {
        const options = ['--from', `${begin}ns`, '--to', `${begin + 1}ns`, '--watch', exactly(selection.name), '--relative-depth', '0'];
        const answer = await ask(this.ofCalls, 'tree', options);
        const find = (call, depth) => call.watched && call.start_ns === begin ? depth
            : (call.children ?? []).reduce((found, each) => found ?? find(each, depth + 1), null);
        for (const process of answer?.processes ?? []) {
            for (const thread of process.threads) {
                if (trackOf(process, thread) !== track) continue;
                const found = thread.roots.reduce((found, each) => found ?? find(each, 0), null);
                if (found !== null) return found;
            }
        }
        return null;
    },
    async select(row) {
        if (row.track < 0) return;
        row.row ??= await this.rowOf(row);
        if (row.row === null) return;
        const { track, row: depth, begin, end } = row;
        choose({ call: { track, row: depth, begin, end, exact: selection.name } }, true);
        revealCall(selection.call);
        const isSeen = end > selection.from && begin < selection.to && end - begin > 8 * nsPerPx();
        if (!isSeen) glideTo(begin - (end - begin) * 2, end + (end - begin) * 2);
        this.calls.draw();
    },
    whenShown() { this.calls.draw(); this.paths.draw(); },
});

/// Draws the bars of a histogram. What each is of can be chosen, if `choose` is there.
function drawBars(place, histogram, chooseBar) {
    const most = Math.max(...histogram.map(each => each.calls), 1);
    place.replaceChildren(...histogram.map(each => {
        const bar = make('button'), fill = make('i');
        const text = `${duration(each.from_ns)} – ${duration(each.to_ns)}: ${counted(each.calls, 'call')}`;
        fill.style.height = `calc((100% - 30px) * ${each.calls ? Math.max(each.calls / most, 0.02) : 0})`; // beside its words
        bar.append(make('span', each.calls ? number(each.calls) : ''), fill, make('small', duration(each.from_ns).replace(/\.0+ /, ' ')));
        bar.title = text;
        bar.setAttribute('aria-label', text);
        bar.disabled = each.calls === 0 || !chooseBar;
        bar.onclick = () => {
            for (const other of place.children) other.setAttribute('aria-pressed', other === bar);
            chooseBar(each);
        };
        return bar;
    }));
}

const endOfPath = path => path.length > 3 ? `… › ${path.slice(-3).join(' › ')}` : path.join(' › ');
const signedDuration = ns => ns < 0 ? `−${duration(-ns)}` : `+${duration(ns)}`;

/// What `--when` takes, from what people type: `id=7` is `id==7`, and what is no number and not in quotes is a text. Null where it
/// compares nothing.
function comparisonFrom(typed) {
    const parts = /^\s*([\w.*>-]+?)\s*(==|=|!=|<=|>=|<|>)\s*(.+?)\s*$/.exec(typed);
    if (!parts) return null;
    const [, argument, how, value] = parts;
    return `${argument}${how === '=' ? '==' : how}${/^(-?[\d.]+(e-?\d+)?|0x[\da-f]+|".*"|true|false|nil)$/i.test(value) ? value : JSON.stringify(value)}`;
}

/// A name as options take it: nothing in it stands for other letters.
const exactly = name => /[*?[\]\\/]/.test(name) ? `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/` : name;
