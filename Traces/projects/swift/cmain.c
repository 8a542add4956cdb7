#include "squares.h"

#include <stdio.h>

// Linked by the C compiler, with Swift in a library.
int main(void) {
    int sum = 0;
    for (int i = 1; i <= 3; i++) sum += sum_squares(i);
    printf("%d %d\n", sum, noted());
}
