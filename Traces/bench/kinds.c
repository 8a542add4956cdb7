// kinds ROUNDS: twenty-two functions of different kinds, from a few nanoseconds to milliseconds a call: leaves and
// callers, bound by arithmetic, memory, branches or the C library, called in loops, by each other and by callback. None
// is recursive: then one call within another would be in the truth.
//
// Built with one of them instrumented, it tells what that one takes when nothing else is traced.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 256, NODES = 4096, SIDE = 16, LENGTH = 200, TEXT = 4096, WORDS = 128 };

struct node {
    struct node *left, *right;
    uint32_t key;
};

static uint32_t state = 1, table[2 * KEYS], chain[NODES];
static struct node nodes[KEYS];
static double left[SIDE][LENGTH], right[LENGTH][SIDE], product[SIDE][SIDE];
static char text[TEXT], copy[TEXT], words[WORDS][32];
static const char *position;

static uint32_t draw(void) {
    for (int i = 0; i < 8; i++) state = state * 1664525 + 1013904223;
    return state >> 4;
}

static uint32_t mix(uint32_t x) {
    for (int i = 0; i < 96; i++) x = (x ^ x >> 15) * 0x2c1b3c6d;
    return x;
}

static uint32_t checksum(const char *bytes, int size) {
    uint32_t sum = 0;
    for (int i = 0; i < size; i++) sum = sum << 5 ^ sum >> 27 ^ (uint8_t)bytes[i];
    return sum;
}

static int collatz(uint32_t n) {
    int steps = 0;
    for (; n != 1 && steps < 200; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

static uint32_t chase(uint32_t from, int steps) {
    while (steps-- > 0) from = chain[from];
    return from;
}

static uint32_t *probe(uint32_t key) {
    uint32_t slot = mix(key) % (2 * KEYS);
    while (table[slot] && table[slot] != key) slot = (slot + 1) % (2 * KEYS);
    return &table[slot];
}

static uint32_t dictionary(void) {
    uint32_t found = 0;
    memset(table, 0, sizeof table);
    for (int i = 0; i < KEYS; i++) *probe(draw() | 1) |= 1;
    for (int i = 0; i < KEYS; i++) found += *probe(draw() | 1) != 0;
    return found;
}

static int insert(struct node **tree, struct node *added) {
    int depth = 0;
    for (; *tree; depth++) tree = added->key < (*tree)->key ? &(*tree)->left : &(*tree)->right;
    *tree = added;
    return depth;
}

static int forest(void) {
    struct node *tree = NULL;
    int depth = 0;
    for (int i = 0; i < KEYS; i++) {
        nodes[i] = (struct node){NULL, NULL, draw()};
        depth += insert(&tree, &nodes[i]);
    }
    return depth;
}

static double dot(int row, int column) {
    double sum = 0;
    for (int i = 0; i < LENGTH; i++) sum += left[row][i] * right[i][column];
    return sum;
}

static double multiply(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) product[i][j] = dot(i, j);
    return product[3][5];
}

static double waves(int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += sin(i * 0.1) * sqrt(i);
    return sum;
}

static int by_text(const void *a, const void *b) {
    const char *s = a, *t = b;
    int weight = 0;
    for (int i = 0; i < 32; i++) weight = weight * 3 / 2 + s[i] - t[i];
    return weight;
}

static int sorted(void) {
    for (int i = 0; i < WORDS; i++) {
        uint32_t letters = draw();
        for (int j = 0; j < 32; j++) words[i][j] = (char)('a' + (letters >> j) % 26);
    }
    qsort(words, WORDS, 32, by_text);
    return words[0][0];
}

static long number(void) {
    long value = 0;
    while (*position >= '0' && *position <= '9') value = value * 10 + *position++ - '0';
    return value;
}

static long expression(void) {
    long value = number();
    while (*position == '+' || *position == '*') value = *position++ == '+' ? value + number() : value * number();
    return value;
}

static int escaped(const char *bytes, int size, char *target) {
    char *start = target;
    for (int i = 0; i < size; i++) {
        if (bytes[i] == '*') *target++ = '\\';
        *target++ = bytes[i];
    }
    return (int)(target - start);
}

static long compiled(void) {
    char *end = text;
    for (int i = 0; i < 100; i++) end += snprintf(end, 32, "%s%u*%u", i ? "+" : "", draw(), draw() % 1000);
    position = text;
    return expression();
}

static uint32_t walks(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 60; i++) sum += (uint32_t)collatz(draw() % 10000 + 1) + chase(draw() % NODES, 100);
    return sum;
}

static uint32_t digest(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 20; i++) sum += checksum(text, 600) + (uint32_t)escaped(text + 50 * i, 50, copy);
    return sum;
}

static uint32_t round_of_all(void) {
    uint32_t sum = dictionary() + (uint32_t)forest() + (uint32_t)multiply() + (uint32_t)waves(500);
    return sum + (uint32_t)sorted() + (uint32_t)compiled() + walks() + digest();
}

int main(int count, char **arguments) {
    uint32_t sum = 0;
    for (int i = 0; i < NODES; i++) chain[i] = (uint32_t)(i * 2731 + 17) % NODES;
    for (int i = 0; i < SIDE * LENGTH; i++) left[i / LENGTH][i % LENGTH] = right[i % LENGTH][i / LENGTH] = i * 0.5;
    for (int i = count > 1 ? atoi(arguments[1]) : 1; i > 0; i--) sum += round_of_all();
    printf("%u\n", sum);
    return 0;
}
