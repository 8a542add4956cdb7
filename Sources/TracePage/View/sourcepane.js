// A source file, with what the calls of its functions add up to where they are defined, and what is called at each line.
const sourceTexts = new Map(); // by session and file: a promise of {lines, held, changed}
const keptTexts = 4;

function sourceText(file) {
    const key = `${shownSide} ${file}`;
    let text = sourceTexts.get(key);
    if (!text) {
        text = source.text(file).then(({ text, held, changed, problem }) => {
            if (problem) throw new Refusal(problem);
            const lines = text.split(/\r?\n/);
            if (lines.at(-1) === '') lines.pop(); // behind the last line's end
            return { lines, held, changed };
        });
        text.catch(() => sourceTexts.delete(key));
        sourceTexts.set(key, text);
        if (sourceTexts.size > keptTexts) sourceTexts.delete(sourceTexts.keys().next().value);
    }
    return text;
}

addPane({
    key: 'source', title: 'Source', hint: 'Calls and time at each line of a source file', isFor: () => Boolean(source.hasTexts),
    of: () => [selection.name, selection.file], file: null, line: null,
    make(place) {
        const bar = make('div', undefined, 'bar'), choice = make('select'), filter = make('input');
        choice.setAttribute('aria-label', 'Source file, those with most self time first');
        choice.onchange = () => choose({ file: choice.value }, true);
        filter.type = 'search';
        filter.placeholder = 'Lines with: text or /regex/i';
        filter.setAttribute('aria-label', 'Show only lines with this text');
        filter.autocomplete = 'off';
        filter.spellcheck = false;
        filter.addEventListener('input', () => {
            filter.classList.toggle('none', !this.grid?.filterBy(filter.value, row => row.text));
            if (!filter.value) this.reveal();
        });
        this.told = make('span', undefined, 'scope');
        this.told.setAttribute('role', 'status');
        bar.append(choice, filter, this.told);
        this.list = make('div', undefined, 'list');
        this.ofLines = sides().map(side => {
            const part = make('div');
            this.list.append(part);
            return { ...addPart(`source-lines-${side}`, part), side };
        });
        place.append(bar, this.list);
        // What there are columns of: those that are there stay.
        this.known = new Set(session.content === 'calls' ? ['made'] : []);
        Object.assign(this, { choice, filter });
    },
    async show() {
        const functions = await askFunctions(this, clippedOptions());
        if (!functions) return;
        this.functions = functions.filter(row => row.file && row.line > 0);
        this.calls = this.calls?.stretch === String(commonOptions()) ? this.calls : null;
        this.chooseFile();
        await this.showFile();
        if (session.content !== 'calls') return;
        const stretch = String(commonOptions()), byLine = ['--by', 'line', ...clippedOptions()];
        const answers = await Promise.all(this.ofLines.map(part => ask(part, 'report', byLine, part.side)));
        if (answers.includes(null) || stretch !== String(commonOptions())) return;
        this.calls = { stretch, lines: answers.map(answer => answer.lines) };
        await this.showFile();
    },
    /// The file that was chosen, or that of the selected function; else that with most own time.
    chooseFile() {
        const own = new Map(), { name } = selection, id = book.ids.get(name);
        for (const row of this.functions) own.set(row.file, (own.get(row.file) ?? 0) + (row.self_ns ?? row.calls));
        const files = [...own.keys()].sort((a, b) => own.get(b) - own.get(a));
        const known = this.functions.filter(row => row.name === name).sort((a, b) => (b.total_ns ?? b.calls) - (a.total_ns ?? a.calls))[0];
        const place = known ?? (book.files[id] ? { file: book.files[id], line: book.lines[id] } : null);
        const file = selection.file ?? place?.file ?? this.file ?? files[0] ?? null;
        if (file && !own.has(file)) files.push(file);
        const isSeveral = new Set(files.map(lastPart)).size < files.length;
        this.choice.replaceChildren(...files.map(each => {
            const choice = make('option', isSeveral ? middle(each, 60) : lastPart(each));
            choice.value = choice.title = each;
            return choice;
        }));
        this.choice.value = file;
        this.choice.title = file ?? '';
        this.choice.hidden = files.length === 0;
        const isOther = file !== this.file;
        this.file = file;
        if (place?.file === file && (isOther || this.ofName !== name)) this.line = place.line;
        else if (isOther) this.line = null;
        this.isToReveal = isOther || this.ofName !== name;
        this.ofName = name;
    },
    async showFile() {
        const { file } = this;
        if (!file) {
            this.told.textContent = 'No function of this stretch has a known place in a source file.';
            this.grid?.show([]);
            return;
        }
        let text = null, problem = null;
        try {
            text = await sourceText(file);
        } catch (found) {
            problem = found;
        }
        if (file !== this.file) return;
        this.told.textContent = problem ? `Only lines that are known of are shown: ${problem.message}.`
            : text.changed ? 'Changed since it was recorded: lines may have moved.'
                : text.held ? 'as it was recorded' : '';
        this.told.classList.toggle('warning', problem !== null || text.changed);
        this.showRows(this.rows(text));
    },
    /// A row for each line, or of a text that is not there for those that something is known of.
    rows(text) {
        const rows = text?.lines.map((each, at) => ({ number: at + 1, text: each, functions: [] })) ?? [], others = new Map();
        const rowAt = line => {
            if (rows[line - 1] && text) return rows[line - 1];
            if (!others.has(line)) others.set(line, { number: line, text: '', functions: [] });
            return others.get(line);
        };
        const add = (row, key, value) => { if (isKnown(value)) row[key] = (row[key] ?? 0) + value; };
        for (const each of this.functions) {
            if (each.file !== this.file) continue;
            const row = rowAt(each.line);
            row.functions.push(each);
            for (const key of ['calls', 'total_ns', 'self_ns', 'calls_change', 'total_change', 'self_change']) add(row, key, each[key]);
        }
        // Of two sessions, the one after comes last.
        for (const [at, lines] of (this.calls?.lines ?? []).entries()) {
            const isBefore = session.compared && at === 0;
            for (const each of lines) {
                if (each.file !== this.file || !each.line) continue;
                const row = rowAt(each.line);
                add(row, 'made', isBefore ? 0 : each.calls);
                add(row, 'spent_ns', isBefore ? 0 : each.total_ns);
                if (!session.compared) continue;
                add(row, 'made_change', isBefore ? -each.calls : each.calls);
                add(row, 'spent_change', isBefore ? -each.total_ns : each.total_ns);
            }
        }
        const further = [...others.values()].sort((a, b) => a.number - b.number);
        for (const row of further) row.text = row.functions.map(each => each.name).join(', ');
        return rows.concat(further);
    },
    showRows(rows) {
        const size = this.known.size;
        for (const key of ['total_ns', 'calls_change']) if (rows.some(row => isKnown(row[key]))) this.known.add(key);
        if (!this.grid || this.known.size > size) this.build(key => this.known.has(key));
        // Lines longer than the pane can be scrolled to.
        const longest = Math.min(rows.reduce((most, row) => Math.max(most, row.text.length), 0), 200);
        this.grid.fit(longest * 7.3 + 40);
        this.grid.show(rows);
        if (this.isToReveal) this.reveal();
        this.isToReveal = false;
    },
    build(has) {
        this.grid?.box.remove();
        const time = (key, title, hint, bar = true) => timeColumn(key, title, row => row[key], { hint, bar });
        const change = (key, show) => ({
            ...timeColumn(key, 'Change', row => row[key], { hint: 'after, less before' }), text: row => changeCell(row[key], show),
        });
        const isCompared = has('calls_change');
        const columns = [
            { key: 'line', title: 'Line', width: 66, value: row => row.number, text: row => this.label(row) },
            numberColumn('calls', 'Calls', row => row.calls, { width: 88, hint: 'of the functions that are defined here' }),
            ...isCompared ? [change('calls_change', signedNumber)] : [],
            ...has('total_ns') ? [time('total_ns', 'Total', 'of the functions that are defined here, with what they called')] : [],
            ...isCompared && has('total_ns') ? [change('total_change', signedDuration)] : [],
            ...has('total_ns') ? [time('self_ns', 'Self', 'of the functions that are defined here, without what they called')] : [],
            ...isCompared && has('total_ns') ? [change('self_change', signedDuration)] : [],
            ...has('made') ? [
                numberColumn('made', 'Made', row => row.made, { width: 88, hint: 'calls that are made at this line' }),
                ...isCompared ? [change('made_change', signedNumber)] : [],
                time('spent_ns', 'In them', 'time of the calls that are made at this line'),
                ...isCompared ? [change('spent_change', signedDuration)] : [],
            ] : [],
            textColumn('text', 'Text', row => row.text, { tell: row => row.functions.map(each => each.name).join('\n') }),
        ];
        this.grid = new Grid(this.list, {
            label: 'Lines of the source file', sort: null, isFixed: true, columns, isChosen: row => row.number === this.line,
            choose: row => this.select(row),
        });
        if (this.grid.tall < 30) this.grid.tall = 19;
        if (this.filter.value) this.grid.filterBy(this.filter.value, row => row.text);
    },
    label(row) {
        const node = make('span');
        if (row.functions.length) node.append(tintOf(row.functions[0]));
        node.append(String(row.number));
        return node;
    },
    /// Selects the function that is defined at a line; of several, the next one each time.
    select(row) {
        this.line = row.number;
        const at = row.functions.findIndex(each => each.name === selection.name), next = row.functions[(at + 1) % row.functions.length];
        if (next) {
            this.ofName = next.name;
            this.isChoosing = true; // the file stays: others may have that function, too
            choose({ name: next.name, call: null, file: this.file }, true);
            this.isChoosing = false;
        }
        this.grid.draw();
    },
    reveal() {
        const at = this.grid?.shown.findIndex(row => row.number === this.line) ?? -1;
        if (at < 0) return;
        const { box, tall } = this.grid, y = at * tall;
        if (y < box.scrollTop || y + 2 * tall > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(y - box.clientHeight / 3, 0);
        this.grid.draw();
    },
    whenShown() { this.grid?.draw(); },
});

// Another function leads to its own file.
selectionListeners.push(changed => {
    const isOwn = isRestoring || paneOf('source')?.isChoosing;
    if (changed.has('name') && !changed.has('file') && selection.file && !isOwn) choose({ file: null });
});
