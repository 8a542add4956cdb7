// Two clerks transfer money between two accounts, in opposite directions and at the same time.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 1000};
static struct account checking = {PTHREAD_MUTEX_INITIALIZER, 1000};

static void write_receipt(void) { usleep(20000); }

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    write_receipt();
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *clerk(void *unused) {
    for (int day = 0; day < 5; day++) transfer(&savings, &checking, 10);
    return unused;
}

static void serve_customers(void) {
    for (int day = 0; day < 5; day++) transfer(&checking, &savings, 10);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, clerk, NULL);
    serve_customers();
    pthread_join(thread, NULL);
    printf("%d and %d\n", savings.balance, checking.balance);
    return 0;
}
