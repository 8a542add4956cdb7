// Counts the words of a file, as in `words FILE TIMES`, reading it so many times, and prints those
// that come most often.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word {
    char *text;
    int count;
    struct word *before, *after;
};

static struct word *new_word(const char *text) {
    struct word *word = calloc(1, sizeof *word);
    word->text = strdup(text);
    word->count = 1;
    return word;
}

static struct word *add(struct word *tree, const char *text) {
    if (!tree) return new_word(text);
    int order = strcmp(text, tree->text);
    if (order == 0) tree->count++;
    if (order < 0) tree->before = add(tree->before, text);
    if (order > 0) tree->after = add(tree->after, text);
    return tree;
}

static int next_word(FILE *file, char *text, int size) {
    int length = 0, letter;
    while ((letter = fgetc(file)) != EOF && !isalpha(letter)) continue;
    for (; letter != EOF && isalpha(letter) && length < size - 1; letter = fgetc(file)) text[length++] = (char)letter;
    text[length] = 0;
    return length > 0;
}

static struct word *count_words(FILE *file, struct word *tree) {
    char text[64];
    rewind(file);
    while (next_word(file, text, sizeof text)) tree = add(tree, text);
    return tree;
}

static void print_frequent(const struct word *tree, int least) {
    if (!tree) return;
    print_frequent(tree->before, least);
    if (tree->count >= least) printf("%5d %s\n", tree->count, tree->text);
    print_frequent(tree->after, least);
}

int main(int count, char **arguments) {
    if (count < 3) return fputs("usage: words FILE TIMES\n", stderr), 2;
    FILE *file = fopen(arguments[1], "r");
    if (!file) return perror(arguments[1]), 1;
    int times = atoi(arguments[2]);
    struct word *tree = NULL;
    for (int i = 0; i < times; i++) tree = count_words(file, tree);
    print_frequent(tree, 14 * times);
    return 0;
}
