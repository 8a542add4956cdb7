// What Swift wrote into the page: it is there without a script, and becomes a pane with one.
const isArticlePage = () => session?.content === 'article';

addPane({
    key: 'article', title: element('article')?.dataset.title ?? '', hint: 'As it was written', isFor: () => element('article') !== null,
    make(place) {
        place.append(element('article'));
        element('article').tabIndex = 0; // so that it can be scrolled by keys
    },
    async show() {},
});
