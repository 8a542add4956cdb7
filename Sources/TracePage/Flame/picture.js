// Opened by itself in a browser, the picture becomes the page that it holds; inside another page it stays a picture.
{
    const picture = document.currentScript.parentNode;
    const open = () => {
        const text = picture.querySelector('#page').textContent;
        const page = new DOMParser().parseFromString(text, 'text/html');
        const code = page.querySelector('script:not([type])');
        code.remove(); // what a parser made does not run
        document.replaceChild(document.adoptNode(page.documentElement), picture);
        const script = document.createElementNS(document.documentElement.namespaceURI, 'script');
        script.textContent = code.textContent;
        document.body.append(script);
    };
    if (picture === document.documentElement) addEventListener('DOMContentLoaded', open);
}
