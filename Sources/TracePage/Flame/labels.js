// Text in frames: as much of a name as there is room for, by the letters' own widths.
const font = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace';
const letterWidths = new Map(); // px
const known = new Map(); // by text: its letters and where each ends, or null for plain text
const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter() : null;

function letterWidth(context, letter) {
    let width = letterWidths.get(letter);
    if (width === undefined) letterWidths.set(letter, width = context.measureText(letter).width);
    return width;
}

/// Of a text with other letters than those of ASCII, which are all as wide.
function measured(context, text) {
    let found = known.get(text);
    if (found !== undefined) return found;
    if (/^[\x20-\x7e]*$/.test(text)) found = null;
    else {
        const letters = segmenter ? Array.from(segmenter.segment(text), each => each.segment) : Array.from(text);
        let at = 0;
        found = { letters, ends: letters.map(letter => at += letterWidth(context, letter)) };
    }
    known.set(text, found);
    return found;
}

/// The beginning of a text that fits, with a mark where more follows; nothing where that would tell too little.
function fitted(context, text, room) {
    const plain = letterWidth(context, '0'), least = 3; // letters
    const found = measured(context, text), width = found ? found.ends.at(-1) : text.length * plain;
    if (width <= room) return text;
    const left = room - plain;
    if (left < (least - 1) * plain) return '';
    if (!found) return `${text.slice(0, Math.floor(left / plain))}…`;
    const cut = found.ends.findIndex(end => end > left);
    return `${found.letters.slice(0, cut).join('')}…`;
}
