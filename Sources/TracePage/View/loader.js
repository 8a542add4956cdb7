// Unpacks the script of a page that has all inside, and runs it: the page's policy knows the hashes of both.
(async () => {
    const make = tag => document.createElementNS(document.documentElement.namespaceURI, tag);
    if (typeof DecompressionStream === 'undefined') {
        const told = make('p');
        told.textContent = 'This page needs a web browser that is no older than 2023.';
        return document.body.prepend(told);
    }
    const packed = Uint8Array.from(atob(document.getElementById('packed').textContent), each => each.charCodeAt(0));
    const script = make('script');
    script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
    document.body.append(script);
})();
