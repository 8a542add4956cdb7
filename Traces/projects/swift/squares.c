#include "squares.h"

int square(int value);

static int notes;

void note(void) { notes++; }

int noted(void) { return notes; }

int sum_squares(int count) {
    int sum = 0;
    for (int i = 1; i <= count; i++) sum += square(i);
    return sum;
}
