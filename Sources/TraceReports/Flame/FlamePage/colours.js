// Colours. Each colouring gives the fill of a frame and its legend, pairs of a colour and what it means; the first
// group has `data.palette`'s first row, and a function's shade tells it from its neighbours.
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = 'light'; // as of the last drawing: asking costs too much for every frame
const plain = { light: '#dcdce2', dark: '#3a3c43' }; // of the root and of what is too narrow
const matched = { light: '#e05bd0', dark: '#a8328f' };
const ink = { light: '#17171a', dark: '#f4f4f6' };

function grouping(groups, groupOf) {
    return {
        fill: i => data.palette[theme][groupOf[fn[i]]][data.shades[fn[i]]],
        legend: () => groups.map((text, group) => [data.palette[theme][group][2], text]),
    };
}

const colourings = {
    module: grouping(modules, data.module),
    kind: grouping(data.kinds, data.kind),
};
if (data.changes) {
    colourings.change = {
        fill: i => data.changes.palette[theme][change(i).step + data.changes.steps],
        legend: () => ['much faster', 'no change', 'much slower or new'].map(
            (text, at) => [data.changes.palette[theme][at * data.changes.steps], text]),
    };
}
let colouring = colourings[data.colour];

const fillOf = i => fn[i] < 0 ? plain[theme] : colouring.fill(i);
