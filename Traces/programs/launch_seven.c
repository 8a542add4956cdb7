// Is linked with seven libraries, and needs six of them.

int part1(void), part2(void), part3(void), part4(void), part5(void), part6(void);

int main(void) { return part1() + part2() + part3() + part4() + part5() + part6() == 6 ? 0 : 1; }
