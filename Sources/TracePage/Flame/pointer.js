// Mouse and touch. A click zooms; a drag moves what is shown; the wheel with Ctrl zooms about the pointer. On a touch screen, the first
// tap tells about a frame and the second zooms.
const fingers = new Map(); // by pointer: where each is, {x, y}
let drag = null; // what the first one began: {x, y, shown, scrolled, hasMoved}
let pinch = null; // what two began: {distance, moment, span}
const slack = 5; // px that a click may move
/// Whether a movement has begun that is a step when it ends.
const isMovedByHand = () => Boolean(pinch || drag?.hasMoved);

function press(event) {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (fingers.size === 2) return beginPinch();
    drag = { x: event.offsetX, y: event.offsetY, shown: main.shown, scrolled: view.scrollTop, hasMoved: false };
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
    canvas.style.cursor = 'grabbing';
    showSpan({ start: drag.shown.start - x * drag.shown.span / main.width, span: drag.shown.span });
    if (event.pointerType === 'mouse') view.scrollTop = drag.scrolled - y;
}

function release(event) {
    const wasDrag = drag;
    fingers.delete(event.pointerId);
    if (pinch && fingers.size < 2) {
        pinch = null;
        remember(true);
    }
    if (fingers.size === 0) drag = null;
    if (!wasDrag) return;
    if (wasDrag.hasMoved) return remember(event.type !== 'pointercancel');
    if (event.type === 'pointercancel') return;
    canvas.focus({ preventScroll: true });
    const { frame, run } = main.hit(event.offsetX, event.offsetY);
    if (run) return showSpan({ start: run.start, span: run.end - run.start }, true);
    if (frame === undefined) return;
    if (event.pointerType === 'mouse' || frame === selected && !element('tip').hidden) {
        return zoom(frame);
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
    if (!event.ctrlKey && across === 0) return;
    event.preventDefault();
    if (event.ctrlKey) scaleAbout(event.offsetX, Math.exp(event.deltaY * lines * 0.01));
    else pan(across / main.width);
}, { passive: false });
