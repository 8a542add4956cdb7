// Mouse and touch. A click zooms; a drag moves what is shown; with Shift, or on the ruler, it chooses a range of time; the wheel
// zooms a chart about the pointer. On a touch screen, the first tap tells about a frame and the second zooms.
const fingers = new Map(); // by pointer: where each is, {x, y}
let drag = null; // what the first one began: {x, y, shown, scrolled, isRange, hasMoved}
let pinch = null; // what two began: {distance, moment, span}
const slack = 5; // px that a click may move

const rangeMoment = x => main.momentAt(Math.min(Math.max(x, 0), main.width));

function press(event) {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (fingers.size === 2) return beginPinch();
    drag = {
        x: event.offsetX, y: event.offsetY, shown: main.shown, scrolled: view.scrollTop,
        isRange: isChart && event.shiftKey, hasMoved: false,
    };
}

function beginPinch() {
    const [a, b] = [...fingers.values()];
    pinch = { distance: Math.max(Math.abs(a.x - b.x), 10), moment: main.momentAt((a.x + b.x) / 2), span: main.shown.span };
    drag = null;
    hideTip();
}

function follow(event) {
    if (!fingers.has(event.pointerId)) {
        if (event.pointerType === 'mouse') showTip(main, event);
        return;
    }
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (pinch && fingers.size === 2) {
        const [a, b] = [...fingers.values()], middle = (a.x + b.x) / 2;
        const span = pinch.span * pinch.distance / Math.max(Math.abs(a.x - b.x), 10);
        return showSpan({ start: pinch.moment - middle * span / main.width, span });
    }
    if (!drag) return;
    const x = event.offsetX - drag.x, y = event.offsetY - drag.y;
    drag.hasMoved ||= Math.hypot(x, y) > slack;
    if (!drag.hasMoved) return;
    hideTip();
    if (drag.isRange) return setRange(rangeMoment(drag.x), rangeMoment(event.offsetX));
    canvas.style.cursor = 'grabbing';
    showSpan({ start: drag.shown.start - x * drag.shown.span / main.width, span: drag.shown.span });
    if (event.pointerType === 'mouse' || isChart) view.scrollTop = drag.scrolled - y;
}

function release(event) {
    const wasDrag = drag;
    fingers.delete(event.pointerId);
    if (pinch && fingers.size < 2) {
        pinch = null;
        remember(true);
    }
    if (fingers.size === 0) drag = null;
    if (!wasDrag || event.type === 'pointercancel') return;
    if (wasDrag.hasMoved) return wasDrag.isRange ? undefined : remember(true);
    canvas.focus({ preventScroll: true });
    const { frame, run } = main.hit(event.offsetX, event.offsetY);
    if (run) return showSpan({ start: run.start, span: run.end - run.start }, true);
    if (frame === undefined) return;
    if (event.pointerType === 'mouse' || frame === selected && !element('tip').hidden) {
        zoom(frame);
        if (fn[frame] <= firstBand) toggleLane();
        return;
    }
    select(frame);
    showTip(main, event);
}

canvas.addEventListener('pointerdown', press);
canvas.addEventListener('pointermove', follow);
canvas.addEventListener('pointerup', release);
canvas.addEventListener('pointercancel', release);
canvas.addEventListener('pointerleave', event => {
    if (event.pointerType !== 'mouse' || fingers.size > 0) return;
    hideTip();
    tell(selected);
});
canvas.addEventListener('wheel', event => {
    const lines = event.deltaMode === 1 ? 16 : 1; // px
    const across = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * lines;
    const isZoom = event.ctrlKey || isChart && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY);
    if (!isZoom && across === 0) return;
    event.preventDefault();
    if (isZoom) scaleAbout(event.offsetX, Math.exp(event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)));
    else pan(across / main.width);
}, { passive: false });
