// Functions that are called, and functions that are not, for one reason or another.
//   unused [later]    with an argument, `later` is called

#include "program.h"

struct Shape {
    virtual ~Shape() {}
    virtual int area(int x) { return x; }
    virtual int border(int x) { return x + 3; }
};

struct Square : Shape {
    int area(int x) override { return x * x; }
};

APART static int in_table(int x) { return x * 7; }
APART static int in_code(int x) { return x * 5; }
int (*table[])(int) = {in_table};

template <class T> APART T next(T x) { return x + 1; }

APART static int later(int x) { return x - 1; }
APART static int only_by_lonely(int x) { return x + 9; }
APART __attribute__((used)) static int lonely(int x) { return only_by_lonely(x); }

int main(int argc, char **) {
    Shape *shape = new Square;
    int sum = shape->area(argc) + next(argc);
    if (argc > 1) sum += later(sum);
    if (argc > 2) sum += shape->border(sum) + int(next(long(sum))) + table[argc & 1](sum);
    int (*volatile pointer)(int) = argc > 2 ? later : in_code;
    if (argc > 3) sum += pointer(sum);
    delete shape;
    printf("%s\n", sum > 0 ? "positive" : "none");
}
