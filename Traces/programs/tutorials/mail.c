// Sorts COUNT letters, 1000 unless said otherwise, into boxes, and counts those of each box. Some letters are returned,
// and not all of what was allocated for them is freed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct letter {
    char *address, *text;
    int box;
};

static char *copy(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }

static struct letter *receive(int number) {
    char address[64], text[256];
    snprintf(address, sizeof address, "%d Long Street, Box %d", number % 90 + 1, number % 7);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct letter *letter = malloc(sizeof *letter);
    *letter = (struct letter){copy(address), copy(text), number % 7};
    return letter;
}

static void dispose(struct letter *letter) {
    free(letter->address);
    free(letter->text);
    free(letter);
}

static void send_back(struct letter *letter) {
    free(letter->address);
    free(letter);
}

static int deliver(struct letter *letter) {
    int box = letter->box;
    if (box == 6) {
        send_back(letter);
        return -1;
    }
    dispose(letter);
    return box;
}

int main(int count, char **arguments) {
    int letters = count > 1 ? atoi(arguments[1]) : 1000, delivered = 0;
    for (int number = 0; number < letters; number++) delivered += deliver(receive(number)) >= 0;
    printf("%d of %d letters delivered\n", delivered, letters);
    return 0;
}
