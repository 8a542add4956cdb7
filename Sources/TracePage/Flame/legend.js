/// Says what the colours stand for: of eight at most, as many as there is room for.
function legend() {
    theme = themeNow();
    const groups = [...waitLegend(), ...colourings[colouring].legend()], place = element('legend');
    const nodes = groups.slice(0, 8).map(([[fill, edge], text]) => {
        const item = make('span'), mark = make('i');
        mark.style.background = text === 'waiting' ? `repeating-linear-gradient(135deg, ${fill} 0 2px, ${edge} 2px 3px)` : fill;
        mark.style.borderColor = edge;
        item.title = text;
        item.append(mark, middle(colouring === 'file' ? text.slice(text.lastIndexOf('/') + 1) : text, 40));
        return item;
    });
    const show = () => {
        const rest = groups.length - nodes.length;
        place.replaceChildren(...nodes, ...rest > 0 ? [make('span', `and ${rest} more`)] : []);
    };
    for (show(); !isPrinting && nodes.length > 1 && place.scrollWidth > place.clientWidth; show()) nodes.pop();
}
