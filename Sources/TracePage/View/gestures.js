// Mouse and touch on the timeline. A drag moves, with Shift or on the ruler it chooses a range, whose edges can be dragged; the wheel
// zooms about the pointer; a click selects, a double or middle click zooms to a call.
const touches = new Map(); // by pointer: where each is, {x, y}
let gesture = null; // {kind: 'move' | 'range' | 'edge' | 'pinch', …}
const clickSlack = 4; // px

const edgeNear = x => selection.range?.findIndex(each => Math.abs(xOf(each) - x) < 6) ?? -1;

function pressStage(event) {
    if (event.button === 1) event.preventDefault(); // no scrolling by the middle button
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { offsetX: x, offsetY: y } = event, edge = edgeNear(x), isRuler = event.currentTarget !== stage;
    touches.set(event.pointerId, { x, y });
    cancelAnimationFrame(glide);
    if (touches.size === 2) {
        const [a, b] = [...touches.values()];
        const apart = Math.max(Math.abs(a.x - b.x), 10), span = selection.to - selection.from;
        gesture = { kind: 'pinch', apart, moment: momentAtX((a.x + b.x) / 2), span };
        return;
    }
    const kind = edge >= 0 ? 'edge' : event.shiftKey || isRuler ? 'range' : 'move';
    const { from, to } = selection, scrolled = element('lanes').scrollTop;
    gesture = { kind, x, y, edge, hasMoved: false, from, to, scrolled, begun: momentAtX(x) };
}

function followStage(event) {
    const { offsetX: x, offsetY: y } = event, isRuler = event.currentTarget !== stage;
    if (!touches.has(event.pointerId)) {
        if (event.pointerType !== 'mouse') return;
        timeline.pointer = { x, y };
        event.currentTarget.style.cursor = edgeNear(x) >= 0 ? 'ew-resize' : isRuler ? 'col-resize' : 'default';
        return isRuler ? redraw() : tellPointed(event);
    }
    touches.set(event.pointerId, { x, y });
    if (!gesture) return;
    if (gesture.kind === 'pinch') {
        const [a, b] = [...touches.values()], middle = (a.x + b.x) / 2, span = gesture.span * gesture.apart / Math.max(Math.abs(a.x - b.x), 10);
        startMoving();
        const from = gesture.moment - middle / timeline.width * span;
        return show(from, from + span);
    }
    gesture.hasMoved ||= Math.hypot(x - gesture.x, y - gesture.y) > clickSlack;
    if (!gesture.hasMoved) return;
    element('tip').hidden = true;
    if (gesture.kind === 'range') return chooseRange(gesture.begun, momentAtX(x));
    if (gesture.kind === 'edge') {
        const range = [...selection.range];
        range[gesture.edge] = Math.min(Math.max(momentAtX(x), session.begin), session.end);
        if (range[0] > range[1]) { range.reverse(); gesture.edge = 1 - gesture.edge; }
        return choose({ range });
    }
    stage.style.cursor = 'grabbing';
    startMoving();
    const by = (x - gesture.x) / timeline.width * (gesture.to - gesture.from);
    show(gesture.from - by, gesture.to - by);
    element('lanes').scrollTop = gesture.scrolled - (y - gesture.y);
    redraw();
}

function releaseStage(event) {
    const was = gesture;
    touches.delete(event.pointerId);
    stage.style.cursor = '';
    if (touches.size === 0 || was?.kind === 'pinch') gesture = null;
    if (!was || event.type === 'pointercancel' || was.kind === 'pinch') return;
    if (was.hasMoved) return writeAddress('replaceState');
    stage.focus({ preventScroll: true });
    if (was.kind === 'range' || was.kind === 'edge') return choose({ range: null }, true);
    const hit = pointAt(event);
    if (hit.part) chooseEntry(hit);
    else if (hit.mark) glideTo(...aroundCall(hit.mark[0], hit.mark[0]));
    else choose({ call: null, name: null }, true);
    if (event.pointerType !== 'mouse') tellHit(hit, event);
}

/// What is at a place, with the wait that it is in.
function pointAt({ offsetX, offsetY }) {
    const hit = hitAt(offsetX, offsetY), wait = hit.mark || hit.counter ? null : waitAt(hit.lane, momentAtX(offsetX));
    wakes.shown = wait && { lane: hit.lane, wait };
    return { ...hit, wait };
}

/// Tells what the pointer is at, once a frame.
let pointing = 0, lastPointed = null;
function tellPointed(event) {
    lastPointed = { offsetX: event.offsetX, offsetY: event.offsetY, clientX: event.clientX, clientY: event.clientY };
    pointing ||= requestAnimationFrame(() => {
        pointing = 0;
        if (!timeline.pointer) return;
        askForWaits();
        const hit = pointAt(lastPointed);
        timeline.hover = hit.part ? hit : null;
        tellHit(hit, lastPointed);
        stage.style.cursor = edgeNear(lastPointed.offsetX) >= 0 ? 'ew-resize' : hit.part || hit.mark ? 'pointer' : 'default';
        redraw();
    });
}

function leaveStage(event) {
    if (event.pointerType !== 'mouse') return;
    timeline.pointer = timeline.hover = wakes.shown = null;
    element('tip').hidden = true;
    redraw();
}

function turnWheel(event) {
    const lines = event.deltaMode === 1 ? 16 : 1; // px
    const across = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * lines;
    event.preventDefault();
    if (event.altKey) { element('lanes').scrollTop += event.deltaY * lines; return; }
    cancelAnimationFrame(glide);
    startMoving();
    element('tip').hidden = true;
    if (event.ctrlKey || !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) {
        zoomAbout(event.offsetX, Math.exp(event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)));
    } else shift(across / timeline.width);
}

function listenToStage() {
    for (const each of [stage, element('ruler')]) {
        each.addEventListener('pointerdown', pressStage);
        each.addEventListener('pointermove', followStage);
        each.addEventListener('pointerup', releaseStage);
        each.addEventListener('pointercancel', releaseStage);
        each.addEventListener('pointerleave', leaveStage);
        each.addEventListener('wheel', turnWheel, { passive: false });
    }
    stage.addEventListener('dblclick', event => {
        const hit = hitAt(event.offsetX, event.offsetY);
        if (hit.part) zoomToCall({ begin: hit.part.begin[hit.k], end: hit.part.begin[hit.k] + hit.part.length[hit.k] });
    });
    stage.addEventListener('auxclick', event => {
        const hit = hitAt(event.offsetX, event.offsetY);
        if (event.button === 1 && hit.part) zoomToCall({ begin: hit.part.begin[hit.k], end: hit.part.begin[hit.k] + hit.part.length[hit.k] });
    });
    element('lanes').addEventListener('scroll', () => redraw());
    for (const kind of ['focus', 'blur']) stage.addEventListener(kind, () => redraw());
}

// W, A, S and D move as long as they are held.
const held = new Set();
let holding = 0;

function hold(key) {
    if (held.has(key)) return;
    held.add(key);
    cancelAnimationFrame(holding);
    cancelAnimationFrame(glide);
    let before = performance.now() - 30, speed = 0.6;
    const step = now => {
        const passed = Math.min(now - before, 50) / 1000;
        before = now;
        speed = Math.min(speed + passed * 1.5, 2.4);
        startMoving();
        const x = timeline.pointer?.x ?? timeline.width / 2, zoom = (held.has('s') ? 1 : 0) - (held.has('w') ? 1 : 0);
        const along = (held.has('d') ? 1 : 0) - (held.has('a') ? 1 : 0);
        if (zoom) zoomAbout(x, Math.exp(zoom * passed * 2 * speed));
        if (along) shift(along * passed * speed);
        holding = held.size > 0 ? requestAnimationFrame(step) : 0;
    };
    step(performance.now());
}

const letGo = key => held.delete(key);
