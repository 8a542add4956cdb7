// The selected function by itself: what leads to it above, what it leads to below.
const callersView = new Painter(element('callers'), {
    id: 'callers-canvas', isTurned: true, label: 'What leads to the selected function, as a flame graph',
});
const calleesView = new Painter(element('callees'), {
    id: 'callees-canvas', label: 'What the selected function leads to, as a flame graph',
});
let focus = null; // the function

loaders.push(() => { focus = null; });

function showSandwich() {
    const f = fn[selected];
    if (f >= 0 && f !== focus) {
        focus = f;
        const { callers, callees } = sandwich(f);
        callersView.show(callers);
        calleesView.show(callees);
        callersView.fit();
        callersView.view.scrollTop = callersView.view.scrollHeight;
        calleesView.view.scrollTop = 0;
    }
    element('hint').hidden = focus !== null;
    element('focus').hidden = focus === null;
    if (focus === null) return;
    const [numbers, title] = element('focus').children;
    numbers.textContent = words(facts(calleesView.graph, 0));
    fill(title, names[focus], 3);
    callersView.draw();
    calleesView.draw();
}

for (const each of [callersView, calleesView]) {
    each.canvas.addEventListener('pointermove', event => { if (each.graph) showTip(each, event); });
    each.canvas.addEventListener('pointerleave', () => { hideTip(); tell(selected); });
    each.canvas.addEventListener('click', event => {
        const { frame } = each.graph ? each.hit(event.offsetX, event.offsetY) : {};
        if (frame !== undefined && each.graph.fn[frame] >= 0) selectFunction(each.graph.fn[frame]);
    });
}
