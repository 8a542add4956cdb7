// The functions that pictures have named so far, and the colours that they have in every pane.
const book = { names: [], modules: [], files: [], lines: [], ids: new Map(), asked: 0, whenGrown: () => {} };

/// Asks for the names of functions that the book does not have yet.
async function readUpTo(known) {
    if (known <= book.asked) return;
    const from = book.names.length;
    book.asked = known;
    const more = await source.names(from);
    if (book.names.length !== from) return;
    for (const [i, each] of more.names.entries()) {
        if (!book.ids.has(each)) book.ids.set(each, from + i);
        book.names.push(each);
        book.modules.push(more.modules[i] ?? 'no module');
        book.files.push(more.files[i] ?? null);
        book.lines.push(more.lines[i]);
    }
    book.whenGrown();
}

const lastPart = path => path.slice(path.lastIndexOf('/') + 1);
const placeOf = id => book.files[id] ? `${book.files[id]}:${book.lines[id]}` : '';

/// Without the arguments of templates and generics, as far as their brackets have partners.
const foldedNames = new Map();
function foldedName(text) {
    let short = foldedNames.get(text);
    if (short === undefined) {
        short = text;
        if (/<.*>/.test(text) && !text.includes('operator')) {
            let inner = text;
            for (let before; inner !== before;) [before, inner] = [inner, inner.replace(/<[^<>…]+>/g, '…')];
            short = inner.replace(/…+/g, '<…>');
        }
        foldedNames.set(text, short);
    }
    return short;
}

/// The colours of functions by what they belong to. Groups are numbered as they are met, so that a colour stays the same while one
/// looks at another stretch.
const tints = {
    of: { module: 'by module', kind: 'by language', file: 'by file', namespace: 'by namespace', function: 'by function', self: 'by own time' },
    by: null, numbers: {}, pairs: {},
    group(name, module, file) {
        switch (this.by) {
        case 'module': return lastPart(module);
        case 'kind': return languageOf(name, file);
        case 'file': return file ? lastPart(file) : 'no source';
        case 'namespace': return /^[^(<]*?([\w~]+)(?:::|\.)/.exec(name)?.[1] ?? 'no namespace';
        default: return name;
        }
    },
    number(group) {
        const known = this.numbers[this.by] ??= new Map();
        if (!known.has(group)) known.set(group, known.size);
        return known.get(group);
    },
    /// The pair of a function of the book.
    pair(id) {
        const pairs = this.pairs[`${this.by} ${theme}`] ??= [];
        return pairs[id] ??= id < book.names.length ? this.pairNamed(book.names[id], book.modules[id], book.files[id]) : viewPalette().plain;
    },
    pairNamed(name, module, file) {
        const { groups } = viewPalette();
        return groups[this.number(this.group(name, module, file)) % groups.length][shadeOf(name)];
    },
    /// Groups by what they tell most about: modules where there are several, or else files, or else functions.
    choose(modules = book.modules, files = book.files) {
        const several = (keys, least) => {
            const counts = new Map();
            for (const each of keys) counts.set(each, (counts.get(each) ?? 0) + 1);
            return counts.size >= least && Math.max(...counts.values()) < 0.6 * keys.length;
        };
        this.by = several(modules, 3) ? 'module' : several(files, 4) ? 'file' : 'function';
    },
    legend() {
        const { groups } = viewPalette();
        return this.by === 'self' ? byOwnTime.legend() : this.by === 'function' ? [] : [...this.numbers[this.by] ?? []].map(([text, at]) => [groups[at % groups.length][2], text]);
    },
};

/// The language of a function, as in FlameGroups.swift: by its source file's ending, or by what its name tells.
function languageOf(name, file) {
    const ending = /\.(\w+)$/.exec(file ?? '')?.[1];
    if (['cc', 'cpp', 'cxx', 'C', 'hpp', 'hh', 'tcc', 'ipp'].includes(ending)) return 'C++';
    return { c: 'C', swift: 'Swift', rs: 'Rust' }[ending] ?? (name.includes('::') ? 'C++' : file ? 'C' : 'no source');
}

const viewColours = JSON.parse(element('palette').textContent);
const viewPalette = () => viewColours[theme];

/// A function's shade, as in FlamePalette.swift: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
const utf8 = new TextEncoder();
function shadeOf(name) {
    let hash = 0x811c9dc5;
    for (const byte of utf8.encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return (hash >>> 16) % 5;
}

/// The flame graph has the colours of the timeline.
loaders.push(() => {
    if (isGraphPage()) return;
    data.palette = viewColours;
    const { module, file } = data.groups, pairs = {};
    if (!tints.by && !theStage()) { // there are no pictures, which would name functions
        tints.choose(module.of.map(group => module.names[group]), file.of.map(group => file.names[group]));
        chooseTints();
    }
    const pairOfName = f => (pairs[`${tints.by} ${theme}`] ??= [])[f] ??= book.ids.has(names[f])
        ? tints.pair(book.ids.get(names[f]))
        : tints.pairNamed(names[f], module.names[module.of[f]], placeIn(f) ? file.names[file.of[f]] : null);
    colourings = { session: {
        pair: (each, i) => tints.by === 'self' ? byOwnTime.pair(each, i) : pairOfName(each.fn[i]), legend: () => tints.legend(),
    } };
    colourings.module = colourings.session;
    if (data.changes) colourings.change = byChange;
    colouring = data.changes ? 'change' : 'session';
});
