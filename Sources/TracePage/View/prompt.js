// The command line of the page: options as the terminal takes them, times, and, by some of their letters, functions, lanes and commands.
const prompting = { choices: [], at: 0 };

function openPrompt() {
    const dialog = element('prompt');
    if (!dialog.open) dialog.showModal();
    element('prompt-text').value = '';
    offer();
    element('prompt-text').focus();
}

/// What a text may mean: [{kind, title, keys, action}], the likeliest first.
function choicesFor(text) {
    const typed = text.trim();
    if (typed.startsWith('-')) return optionChoices(typed);
    const found = callChoices(typed), moment = timeFrom(typed), range = typed.split('~');
    if (range.length === 2 && range.some(each => timeFrom(each) !== null)) {
        const asked = optionsFrom(`-r ${typed}`);
        const title = `From ${duration(asked.from)} to ${duration(asked.to)}`;
        if (!asked.error) found.push({ kind: 'time', title, action: () => goTo(asked) });
    } else if (moment !== null && theStage() && moment <= session.end) {
        found.push({ kind: 'time', title: `Go to ${duration(moment)}`, action: () => glideTo(...aroundCall(moment, moment)) });
    }
    const commandsFound = bestOf(commandsNow(), typed, each => each.title, typed ? 6 : 60).map(each => ({ kind: 'command', ...each }));
    const functionsFound = typed ? bestOf(functionNames(), typed, each => each, 12).map(each => ({
        kind: 'function', title: each, action: () => choose({ name: each, call: null }, true),
        more: () => choose({ filters: [...selection.filters, '-F', exactly(each)] }, true),
    })) : [];
    const lanesFound = typed ? bestOf(lanes.all, typed, laneTitle, 6).map(lane => ({
        kind: 'lane', title: laneTitle(lane), action: () => goToLane(lane),
    })) : [];
    const marksFound = typed ? bestOf(lanes.all.flatMap(lane => lane.marks), typed, each => each[1], 4).map(each => ({
        kind: 'mark', title: `${each[1]}, at ${duration(each[0])}`, action: () => glideTo(...aroundCall(each[0], each[0])),
    })) : [];
    return [...found, ...typed ? [...functionsFound, ...lanesFound, ...marksFound, ...commandsFound] : commandsFound];
}

/// Calls with some arguments: `id=7` of the selected function, or `request(id==7)`.
function callChoices(typed) {
    const [, name = selection.name, inside = typed] = /^(.+?)\((.*?)\)?$/.exec(typed) ?? [], wanted = comparisonFrom(inside);
    if (!wanted || !paneOf('durations') || source.isFrozen) return [];
    if (!name) return [{ kind: 'error', title: `Of which function? Select it, or type FUNCTION(${inside})` }];
    return [{
        kind: 'call', title: `Calls of ${name} with ${wanted}`, action: () => {
            const pane = paneOf('durations');
            choose({ name, call: null }, true);
            showPane('durations', true);
            [pane.listed, pane.wanted.value, pane.wanted.hidden, pane.isToSelect] = [name, inside, false, true];
            pane.listCalls(null);
        },
    }];
}

const functionNames = () => [...new Set([...book.names, ...names])];

/// Options: what they ask for, and names that the last one may mean.
function optionChoices(typed) {
    const asked = optionsFrom(typed), last = wordsOf(typed), option = last.at(-2);
    const choices = [];
    if (['-F', '-N', '-C', '-H'].includes(option) && !/\s$/.test(typed)) {
        const before = typed.slice(0, typed.length - last.at(-1).length);
        for (const each of bestOf(functionNames(), last.at(-1), name => name, 8)) {
            choices.push({ kind: 'option', title: `${before}${each}`, action: () => applyOptions(optionsFrom(`${before}'${exactly(each)}'`)) });
        }
    }
    if (asked.error) return choices.length ? choices : [{ kind: 'error', title: asked.error }];
    return [{ kind: 'option', title: typed, hint: filterWords[asked.filters.at(-2)], action: () => applyOptions(asked) }, ...choices];
}

const filterWords = {
    '-F': 'only these functions and what they call', '-N': 'not these functions, nor what they call',
    '-C': 'only call paths that lead to these functions', '-H': 'not these functions, but what they call',
    '-t': 'not calls shorter than this', '-D': 'not calls deeper than this', '-L': 'only functions of these files',
};

function applyOptions(asked) {
    if (asked.filters.length) choose({ filters: [...selection.filters, ...asked.filters] }, true);
    if (asked.from !== null || asked.to !== null) goTo(asked);
}

function goTo({ from, to }) {
    const stretchAsked = [from ?? session.begin, to ?? session.end];
    choose({ range: stretchAsked }, true);
    if (theStage()) glideTo(...stretchAsked);
}

function goToLane(lane) {
    choose({ hidden: selection.hidden.filter(each => each !== lane.index) }, true);
    if (!lane.isOpen) foldLane(lane, usualRows(lane));
    const item = lanes.items.find(each => each.lane === lane);
    if (item) element('lanes').scrollTop = item.top;
    redraw();
}

/// Draws what there is to choose from.
function offer() {
    prompting.choices = choicesFor(element('prompt-text').value);
    prompting.at = 0;
    const nodes = prompting.choices.map((choice, at) => {
        const line = make('li');
        line.id = `choice-${at}`;
        line.setAttribute('role', 'option');
        line.append(make('small', choice.kind), make('span', choice.title), ...choice.hint ? [make('em', choice.hint)] : []);
        for (const key of choice.keys ?? []) line.append(make('kbd', key));
        line.title = choice.title;
        line.onclick = () => take(choice);
        return line;
    });
    element('choices').replaceChildren(...nodes);
    point(0);
}

function point(at) {
    const nodes = element('choices').children;
    nodes[prompting.at]?.setAttribute('aria-selected', false);
    prompting.at = Math.min(Math.max(at, 0), nodes.length - 1);
    nodes[prompting.at]?.setAttribute('aria-selected', true);
    nodes[prompting.at]?.scrollIntoView({ block: 'nearest' });
    element('prompt-text').setAttribute('aria-activedescendant', `choice-${prompting.at}`);
}

function take(choice, isMore) {
    if (!choice?.action) return;
    element('prompt').close();
    (isMore && choice.more ? choice.more : choice.action)();
}

function listenToPrompt() {
    const text = element('prompt-text');
    text.addEventListener('input', offer);
    text.addEventListener('keydown', event => {
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
        if (by) { event.preventDefault(); point(prompting.at + by); }
        if (event.key === 'Enter') { event.preventDefault(); take(prompting.choices[prompting.at], event.shiftKey); }
        if (event.key === 'Tab' && prompting.choices[prompting.at]) {
            event.preventDefault();
            text.value = prompting.choices[prompting.at].title;
            offer();
        }
    });
    element('prompt').addEventListener('click', event => { if (event.target === element('prompt')) element('prompt').close(); });
}
