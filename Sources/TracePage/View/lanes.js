// The lanes of the timeline: one a thread or task, below headings of processes where there are several. This decides which are shown,
// in which order, how tall each is and what is at which height.
const lanes = { all: [], items: [], height: 0, filter: '' };
const laneParts = { row: 18, thin: 4, folded: 3, most: 8, mark: 16, state: 5, counter: 30, gap: 7, heading: 26 }; // px, and folded rows

function makeLanes() {
    const before = lanes.all;
    lanes.all = session.tracks.map((told, index) => {
        const was = before[index], track = { ...told, blocked: told.blocked ?? was?.track.blocked };
        return {
            index, track, process: track.process, top: 0, height: 0, rows: 0, isOpen: false, ran: timeRan(track),
            marks: was?.marks ?? [], counters: was?.counters ?? [], trunk: was?.trunk ?? 0,
            depth: Math.max(track.depth, was?.depth ?? 1), // at least; pictures tell of deeper calls
        };
    });
}

const timeRan = track => Math.max(track.end - track.begin - (track.blocked ?? 0), 0);

/// What is known of marks, counters and blocked times once all records have been read. Asks again until that is so.
async function loadEvents() {
    let events;
    try {
        events = await source.events();
    } catch {
        return; // the lanes are there without
    }
    if (!events.tracks) return setTimeout(loadEvents, 300);
    for (const [index, { marks, counters, blocked }] of events.tracks.entries()) {
        const lane = lanes.all[index];
        if (!lane) continue;
        lane.marks = marks ?? [];
        lane.counters = (counters ?? []).map(counter => ({ ...counter, ...extremes(counter.points) }));
        lane.track.blocked = blocked ?? lane.track.blocked;
        lane.ran = timeRan(lane.track);
    }
    layOut();
}

/// Notes how deep a picture shows a lane to be. Returns whether that is deeper than what was known.
function deepen(lane, part) {
    let rows = part.rows;
    while (rows > 0 && part.first[rows - 1] === part.first[rows]) rows--;
    // Below the last row that was asked for there may be more.
    const depth = part.firstRow + rows, isDeeper = rows > 0 && depth + (depth > part.lastRow ? 1 : 0) > lane.depth;
    if (isDeeper) lane.depth = depth + (depth > part.lastRow ? 1 : 0);
    return isDeeper;
}

function extremes(points) {
    const values = points.map(each => each[1]);
    return { least: values.reduce((a, b) => Math.min(a, b), 0), most: values.reduce((a, b) => Math.max(a, b), 0) };
}

/// What sorts lanes: the greater, the higher. Where nobody knows when threads waited, calls tell who was active.
const activity = lane => session.splits ? lane.ran : lane.track.calls;

function ordered() {
    const { sort, order, pinned } = selection, byName = new Intl.Collator('en', { numeric: true }).compare;
    const places = new Map(order.map((track, at) => [track, at]));
    const compare = {
        activity: (a, b) => activity(b) - activity(a), name: (a, b) => byName(a.track.label, b.track.label),
        time: (a, b) => a.track.begin - b.track.begin,
        order: (a, b) => (places.get(a.index) ?? Infinity) - (places.get(b.index) ?? Infinity) || activity(b) - activity(a),
    }[sort];
    const isPinned = lane => pinned.includes(lane.index) ? 0 : 1;
    return lanes.all.filter(lane => !selection.hidden.includes(lane.index) && likeness(lanes.filter, laneTitle(lane)) > 0)
        .sort((a, b) => isPinned(a) - isPinned(b) || compare(a, b) || a.index - b.index);
}

const processOf = lane => session.processes[lane.process];
const laneTitle = lane => session.processes.length > 1 ? `${processOf(lane).name} ${lane.track.label}` : lane.track.label;

/// A lane's title where the heading of its process stands above it.
const shortTitle = ({ index, track }) => session.processes.length > 1 && track.kind === 'thread' && !selection.pinned.includes(index)
    ? `${track.name} ${track.tid}` : track.label;

/// Gives each lane its height and place, for a view of so many px.
function layLanes(room) {
    const shown = ordered(), { folds } = selection, several = session.processes.length > 1;
    // Those that nobody has folded or opened are opened as far as there is room, the first ones first; a lane that waited all the
    // time tells little.
    let left = room - shown.reduce((sum, lane) => sum + laneHeight(lane, 0) + laneParts.gap, 0);
    const most = Math.max(Math.floor(room / laneParts.row / Math.min(Math.max(shown.length, 1), 3)), 6);
    for (const lane of shown) {
        const given = folds[lane.index], asked = given ?? Math.min(lane.depth, lane.trunk + most);
        const needed = laneHeight(lane, asked) - laneHeight(lane, 0);
        const isOpened = given === undefined && (needed <= left || lane === shown[0]) && (lane === shown[0] || lane.ran > 0);
        lane.rows = given !== undefined ? Math.min(given, lane.depth) : isOpened ? asked : 0;
        lane.isOpen = lane.rows > 0;
        if (isOpened) left -= needed;
    }
    lanes.items = [];
    let top = 0, process = null;
    const isApart = lane => several && !selection.pinned.includes(lane.index);
    const inOrder = several && selection.sort !== 'order' ? byProcess(shown) : shown;
    for (const lane of inOrder) {
        if (isApart(lane) && lane.process !== process) {
            process = lane.process;
            lanes.items.push({ heading: session.processes[process], process, top, height: laneParts.heading });
            top += laneParts.heading;
        }
        lane.top = top;
        lane.height = laneHeight(lane, lane.rows) + laneParts.gap;
        lanes.items.push({ lane, top, height: lane.height });
        top += lane.height;
    }
    lanes.height = top;
}

/// Lanes of a process stand together, the process of the first one first; pinned ones are above all.
function byProcess(shown) {
    const isPinned = lane => selection.pinned.includes(lane.index), groups = new Map();
    for (const lane of shown) {
        const key = isPinned(lane) ? -1 : lane.process;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(lane);
    }
    return [...groups.values()].flat();
}

const hasState = () => session.splits;
const laneHead = lane => (hasState() ? laneParts.state : 0) + (lane.marks.length ? laneParts.mark : 0);

// Rows: [firstRow, rowLimit) are shown, each with its place below rowsTop(lane) and its height. Of a lane's trunk, the rows that one
// call fills, only thin lines are there, so that one sees at once what branches off.
const firstRow = lane => lane.isOpen ? 0 : Math.min(lane.trunk, lane.depth - 1);
const rowLimit = lane => lane.isOpen ? lane.rows : Math.min(lane.depth, lane.trunk + (lane.most ?? laneParts.most));
const rowTall = (lane, row) => !lane.isOpen ? laneParts.folded : row < lane.trunk ? laneParts.thin : laneParts.row;
const openHeight = (lane, rows) => Math.min(rows, lane.trunk) * laneParts.thin + Math.max(rows - lane.trunk, 0) * laneParts.row;
const rowPlace = (lane, row) => lane.isOpen ? openHeight(lane, row) : (row - firstRow(lane)) * laneParts.folded;

/// The row at a height below rowsTop(lane).
function rowAtHeight(lane, y) {
    if (!lane.isOpen) return firstRow(lane) + Math.floor(y / laneParts.folded);
    const below = y - lane.trunk * laneParts.thin;
    return below < 0 ? Math.floor(y / laneParts.thin) : lane.trunk + Math.floor(below / laneParts.row);
}

/// Finds the trunk of a lane in a picture of the whole time. Returns whether it is another one than before.
function findTrunk(lane, part) {
    if (part.from > session.begin || part.to < session.end) return false;
    const long = 0.9 * (lane.track.end - lane.track.begin);
    let row = part.firstRow;
    if (row > lane.trunk) return false;
    for (; row < part.firstRow + part.rows; row++) {
        const [low, high] = entriesOf(part, row);
        let isFilled = false;
        for (let k = low; k < high && !isFilled; k++) isFilled = part.calls[k] <= 1 && part.length[k] >= long;
        if (!isFilled) break;
    }
    const trunk = row >= 4 ? row - 1 : 0, isNew = trunk !== lane.trunk;
    lane.trunk = trunk;
    return isNew;
}

function laneHeight(lane, rows) {
    if (rows === 0) {
        const branches = lane.depth - Math.min(lane.trunk, lane.depth - 1);
        return Math.max((hasState() ? laneParts.state : 0) + Math.min(branches, laneParts.most) * laneParts.folded, 22);
    }
    return Math.max(laneHead(lane) + openHeight(lane, rows) + lane.counters.length * laneParts.counter, 22);
}

/// Where the rows of a lane begin, below its top.
const rowsTop = lane => lane.isOpen ? laneHead(lane) : hasState() ? laneParts.state : 0;

/// The item at a height, by halves.
function itemAt(y) {
    let low = 0, high = lanes.items.length;
    while (low < high) {
        const at = low + high >> 1;
        if (lanes.items[at].top + lanes.items[at].height <= y) low = at + 1; else high = at;
    }
    return lanes.items[low];
}

/// Lanes that can be seen between two heights.
const lanesIn = (top, bottom) => lanes.items
    .filter(item => item.lane && item.top < bottom && item.top + item.height > top).map(item => item.lane);

// What the reader does with lanes.
function foldLane(lane, rows) { choose({ folds: { ...selection.folds, [lane.index]: rows } }, true); }
const toggleFold = lane => foldLane(lane, lane.isOpen ? 0 : usualRows(lane));
const toggleRows = lane => foldLane(lane, lane.rows === lane.depth ? usualRows(lane) : lane.depth);
const usualRows = lane => Math.min(lane.depth, lane.trunk + 16);
const hideLane = lane => choose({ hidden: [...selection.hidden, lane.index] }, true);
const togglePin = lane => choose({
    pinned: selection.pinned.includes(lane.index) ? selection.pinned.filter(each => each !== lane.index) : [...selection.pinned, lane.index],
}, true);

/// Puts a lane before another one, or last.
function placeLane(lane, before) {
    const order = lanes.items.filter(item => item.lane && item.lane !== lane).map(item => item.lane.index);
    order.splice(before ? order.indexOf(before.index) : order.length, 0, lane.index);
    choose({ order, sort: 'order' }, true);
}

/// Moves a lane by so many places.
function shiftLane(lane, by) {
    const shown = lanes.items.filter(item => item.lane).map(item => item.lane), at = shown.indexOf(lane) + by;
    if (at < 0 || at >= shown.length) return;
    placeLane(lane, by < 0 ? shown[at] : shown[at + 1]);
}
