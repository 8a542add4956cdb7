// Colours are pairs of a fill and its border. Each colouring gives the pair of a frame and its legend: colours and what they
// mean. A function's shade tells it from others of its group.
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = 'light'; // as of the last drawing: asking costs too much for every frame
let isPrinting = false; // on paper, which is light
const palette = () => data.palette[theme];
const themeNow = () => dark.matches && !isPrinting ? 'dark' : 'light';

function grouping({ names: groups, of }) {
    const known = {}; // by theme: pairs by function
    const pairs = () => known[theme] ??= of.map(
        (group, f) => palette().groups[group % palette().groups.length][data.shades[f]]);
    return {
        pair: (graph, i) => pairs()[graph.fn[i]],
        legend: () => groups.map((text, group) => [palette().groups[group % palette().groups.length][2], text]),
    };
}

const byOwnTime = {
    pair(graph, i) {
        const steps = data.ownTimeSteps, own = graph.self[i] - graph.waits[i]; // waiting is not hot
        let step = 0;
        while (step < steps.length && own >= steps[step]) step++;
        return palette().self[step];
    },
    legend: () => [[palette().self[0], 'little own time'], [palette().self.at(-1), 'most own time']],
};
const byChange = {
    // What is merged has no verdict of its own.
    pair: (each, i) => each === graph ? palette().change[data.changes.frames[4 * i - 1] + (palette().change.length >> 1)]
        : colourings.module.pair(each, i),
    legend: () => ['faster', 'no change', 'slower or new'].map(
        (text, at) => [palette().change[at * (palette().change.length >> 1)], text]),
};
const colouringNames = {
    module: 'by module', kind: 'by language', file: 'by file', namespace: 'by namespace', self: 'by own time', change: 'by change',
};
let colourings = {}, colouring = null; // and a key of it

loaders.push(() => {
    colourings = {};
    for (const [each, groups] of Object.entries(data.groups)) colourings[each] = grouping(groups);
    colourings.self = byOwnTime;
    if (data.changes) colourings.change = byChange;
    if (!Object.hasOwn(colourings, colouring)) colouring = data.colour;
});

const pairOf = (graph, i) => graph.fn[i] < 0 ? palette().plain : graph.fn[i] === data.suspended ? palette().waiting : colourings[colouring].pair(graph, i);

/// A pair's fill as a picture has it: the bytes red, green, blue and opaque, the first one lowest.
const bytes = pair => pair[2] ??= [5, 3, 1].reduce((sum, at) => sum << 8 | parseInt(pair[0].slice(at, at + 2), 16), 0xff) >>> 0;
