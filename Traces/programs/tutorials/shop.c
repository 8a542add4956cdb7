// A shop's price service: answers COUNT requests, 10,000 unless said otherwise, from a cache of prices. A price that is
// not in the cache comes from the catalogue. Prints how many requests it answered.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4000, ITEMS = 1000000 };

struct price {
    int item, cents, used;
};

static struct price cache[ROOM];
static int cached, now;

static int look_up_catalogue(int item) { return (item * 37 + 11) % 9000 + 100; }

// Forgets the price that was not used for the longest time.
static void drop_oldest(void) {
    int oldest = 0;
    for (int i = 1; i < cached; i++)
        if (cache[i].used < cache[oldest].used) oldest = i;
    cache[oldest] = cache[--cached];
}

static void make_room(void) {
    for (int i = 0; i < 100; i++) drop_oldest();
}

static void remember(int item, int cents) {
    if (cached == ROOM) make_room();
    cache[cached++] = (struct price){item, cents, now};
}

static int find(int item) {
    for (int i = cached; i-- > 0 && i > cached - 200;)
        if (cache[i].item == item) return cache[i].cents;
    return -1;
}

static int price_of(int item) {
    int cents = find(item);
    if (cents < 0) remember(item, cents = look_up_catalogue(item));
    return cents;
}

static int handle(const char *request) {
    now++;
    return price_of(atoi(strchr(request, '/') + 1));
}

int main(int count, char **arguments) {
    int requests = count > 1 ? atoi(arguments[1]) : 10000;
    long cents = 0;
    unsigned state = 1;
    for (int i = 0; i < requests; i++) {
        char request[32];
        state = state * 1103515245 + 12345;
        snprintf(request, sizeof request, "price/%d", (int)(state >> 8) % ITEMS);
        cents += handle(request);
    }
    printf("%d requests, %ld.%02ld\n", requests, cents / 100, cents % 100);
    return 0;
}
