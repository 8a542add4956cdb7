// How the page words numbers and names.
const element = id => document.getElementById(id);
const make = (tag, text, type) => { // also where the document is no HTML document
    const node = document.createElementNS(document.documentElement.namespaceURI, tag);
    if (text !== undefined) node.textContent = text;
    if (type !== undefined) node.className = type;
    return node;
};

const number = n => n.toLocaleString('en');
const counted = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;
const tooNarrow = n => `${counted(n, 'frame')} too narrow to show`;
const percent = (part, whole) => `${(whole > 0 ? 100 * part / whole : 0).toFixed(2)} %`;

/// A number of bytes in a decimal unit.
function size(bytes) {
    let value = bytes, unit = 'bytes';
    for (const larger of ['KB', 'MB', 'GB', 'TB']) if (value >= 1000) [value, unit] = [value / 1000, larger];
    return unit === 'bytes' ? `${bytes} bytes` : `${value.toFixed(1)} ${unit}`;
}

/// What frames are as wide as: a time, or what else the document counts.
function time(ns) {
    if (ns < 0) return `−${time(-ns)}`;
    return data.bytes ? size(ns) : data.faults ? counted(ns, 'fault') : duration(ns);
}

/// A time as every report of Fathom writes it.
function duration(ns) {
    if (ns < 1000) return `${Math.round(ns)} ns`;
    let scale = 1000;
    for (const unit of ['us', 'ms', 's']) {
        const hundredths = Math.floor((ns + scale / 200) / (scale / 100));
        if (hundredths < 10000) return `${(hundredths / 100).toFixed(2)} ${unit}`;
        const tenths = Math.floor((ns + scale / 20) / (scale / 10));
        if (tenths < 10000) return `${(tenths / 10).toFixed(1)} ${unit}`;
        scale *= 1000;
    }
    return `${Math.floor((ns + 5e8) / 1e9)} s`;
}

/// A change of a time, with its sign.
const signed = ns => ns > 0 ? `+${time(ns)}` : time(ns);

/// The time of day, in UTC, at a moment since the session's start.
function clock(ns, digits = 9) {
    const [seconds, rest] = session.began, moment = rest + ns;
    const day = new Date((seconds + Math.floor(moment / 1e9)) * 1000).toISOString().slice(11, 19);
    const part = String(Math.floor(moment % 1e9)).padStart(9, '0').slice(0, digits);
    return part ? `${day}.${part}` : day;
}

/// A text of at most so many letters. A longer text loses its middle.
function middle(text, most) {
    if (text.length <= most) return text;
    const letters = Array.from(text);
    if (letters.length <= most) return text;
    const head = Math.ceil((most - 1) / 2);
    return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`;
}

/// Puts a text into a node that has room for so many lines. A text that does not fit loses its middle.
function fill(node, text, lines) {
    const most = lines * parseFloat(getComputedStyle(node).lineHeight) + 1;
    node.textContent = text;
    if (node.offsetHeight <= most) return;
    let low = 1, high = Math.min(text.length, 2000);
    while (low < high) {
        const length = low + high + 1 >> 1;
        node.textContent = middle(text, length);
        if (node.offsetHeight <= most) low = length; else high = length - 1;
    }
    node.textContent = middle(text, low);
}
