#!/usr/bin/env python3
"""generate_cpp.py SEED [functions=N] [without=KIND+KIND]: prints a random C++ program, which prints checksums; see walk.h.

Its functions call each other directly, by pointers, pointers to members, virtually through thunks, by lambdas, templates,
std::function, coroutines, variadically, as tail calls and out of destructors; they throw, catch, take and return values of all classes
of the calling convention, and lie in memory as leaf functions, loops, switches, with aligned, variable and large frames.
"""

import random
import sys

# type, an expression of that type from a number n, and the number from a value v
VALUES = [
    ("int", "int({n})", "unsigned({v})"),
    ("signed char", "(signed char)({n})", "unsigned({v})"),
    ("unsigned short", "(unsigned short)({n})", "unsigned({v})"),
    ("long", "long({n}) * 2000000001l", "(unsigned long)({v})"),
    ("bool", "bool(({n}) & 1)", "unsigned({v})"),
    ("float", "float({n})", "(unsigned long)({v})"),
    ("double", "double({n}) * 0.5", "(unsigned long)(({v}) * 2)"),
    ("long double", "(long double)({n}) * 0.25l", "(unsigned long)(({v}) * 4)"),
    ("__int128", "((__int128)({n}) << 70) + 5", "(unsigned long)(({v}) >> 65)"),
    ("Pair", "Pair{{long({n}), 1.5}}", "(unsigned long)({v}).a"),
    ("Floats", "Floats{{float({n}), 2.f, 3.f}}", "(unsigned long)({v}).x"),
    ("Big", "Big{{{{long({n}), 2, 3, 4, 5, 6, 7}}}}", "(unsigned long)(({v}).a[0] + ({v}).a[6])"),
    ("four", "four{{int({n}), 2, 3, 4}}", "unsigned(({v})[0] + ({v})[3])"),
    ("wide", "wide{{double({n}), 2, 3, 4}}", "(unsigned long)(({v})[0] + ({v})[3])"),
    ("std::string", "std::string(({n}) % 40, 'x')", "(unsigned long)({v}).size()"),
    ("complex", "complex(double({n}))", "(unsigned long)__real__({v})"),
]
# What compilers pass by every convention without falling over it.
COMMON = [value for value in VALUES if value[0] in ("int", "long", "double", "float", "unsigned short")]
CONVENTIONS = ["__attribute__((ms_abi)) ", "CLANG(__attribute__((preserve_most))) ", "CLANG(__attribute__((regcall))) ",
               "CLANG(__attribute__((vectorcall))) ", "CLANG(__attribute__((swiftcall))) "]
KINDS = ["plain", "plain", "values", "result", "variadic", "template", "method", "leaf", "tail", "pointer-tail", "loop", "switch", "frame",
         "throws", "numbers", "task", "convention", "lambda", "static", "goto", "landing", "noexcept", "part", "member",
         "wide-tail", "escape", "poll"]


class Program:
    def __init__(self, seed, count, without):
        self.random, self.seed = random.Random(seed), seed
        kinds = [kind for kind in KINDS if kind not in without] or ["plain"]
        count = count or self.random.randint(10, 40)
        self.kinds = ["plain"] + [self.random.choice(kinds) for _ in range(count - 1)]
        self.without = without
        self.count = count
        self.types = [self.random.choices(COMMON if kind == "convention" else VALUES, k=self.random.randint(1, 9)) for kind in self.kinds]
        self.conventions = [self.random.choice(CONVENTIONS) for _ in range(count)]
        self.classes = max(2, count // 6)
        # Functions with the plain signature, which pointers refer to.
        same = ("plain", "leaf", "tail", "pointer-tail", "loop", "switch", "frame", "throws", "static", "goto", "landing", "part")
        self.plain = [i for i in range(count) if self.kinds[i] in same]
        self.table = [self.random.choice(self.plain) for _ in range(8)]

    # ---- how a function is called; every one gives an unsigned

    def call(self, number=None, level="level + 1"):
        chance = self.random
        number = chance.randrange(self.count) if number is None else number
        kind = self.kinds[number]
        if kind in ("values", "convention"):
            values = ", ".join(make.format(n=f"level + {chance.randrange(50)}") for _, make, _ in self.types[number])
            return f"f{number}({level}, {values})"
        if kind == "result":
            return f"unsigned({self.types[number][0][2].format(v=f'f{number}({level})')})"
        if kind == "wide-tail":
            return f"f{number}({level}, 1, level, {chance.randrange(99)}, long(level) << 33, 5)"
        if kind == "escape":
            return f"f{number}({level}, int(level) * {chance.randrange(99)}, {chance.randrange(1 << 30)}l, (short)level)"
        if kind == "poll":
            return f"poll(f{number}, {level})"
        if kind == "variadic":
            return f"f{number}({level}, 3, int(level), double(level) * 0.5, long(level) << 33)"
        if kind == "template":
            made = chance.choice(["int", "long", "double", "char"])
            return f"f{number}<{chance.randrange(3)}, {made}>({level}, {made}(level))"
        if kind in ("method", "member"):
            made = self.classes_of(number)
            if kind == "member":
                return f"(object{made}.*pointer{number})({level})"
            return f"static_cast<Base{made} &>(object{made}).f{number}({level})"
        if kind == "numbers":
            return f"take(f{number}({level}))"
        if kind == "task":
            return f"f{number}({level}).run()"
        if kind == "lambda":
            return f"f{number}({level}, [level](unsigned own) {{ mix(own); return own + level; }})"
        way = chance.randrange(6)
        if way == 0:
            return f"table[pick(8)]({level})"
        if way == 1:
            return f"std::function<unsigned(unsigned)>(f{number})({level})"
        return f"f{number}({level})"

    def classes_of(self, number):
        return number % self.classes

    # ---- statements

    def statement(self):
        chance = self.random
        roll = chance.random()
        if roll < 0.35:
            return [f"if (spend(level)) sum += {self.call()};"]
        if roll < 0.45:
            return [f"for (unsigned i = pick(4); i > 0 && spend(level); i--) sum += {self.call()};"]
        if roll < 0.57 and "throws" not in self.without:
            kind = chance.choice(["const Error &error", "const Worse &error", "Error error"])
            again = "if (pick(4) == 0 && level > 1 && !walk.guards) throw;" if chance.random() < 0.4 else ""
            return ["try {", f"    if (spend(level)) sum += {self.call()};", f"}} catch ({kind}) {{",
                    f"    sum += error.code; if (spend(level) && !walk.guards) sum += {self.call()}; {again}", "}"]
        if roll < 0.65 and "guard" not in self.without:
            body = f"try {{ if (spend(level)) mix({self.call()}); }} catch (const Error &error) {{ mix(error.code); }}"
            return ["{", f"    Guard guard{{[level] {{ {body} }}}};", f"    if (spend(level)) sum += {self.call()};", "}"]
        if roll < 0.69 and "signals" not in self.without:
            return ["raise(SIGUSR1);"]
        if roll < 0.75 and "lambda" not in self.without:
            return [f"auto lambda = [&sum, level](unsigned more) {{ if (spend(level)) sum += {self.call()} + more; }};", "lambda(level);",
                    "lambda(2);"]
        if roll < 0.80:
            return [f"mix({chance.randrange(1 << 30)}u + sum);"]
        if roll < 0.84:
            return [f"auto owned = std::make_unique<std::string>(level + {chance.randrange(30)}u, 'y');",
                    f"if (spend(level)) sum += {self.call()};", "sum += unsigned(owned->size());"]
        return [f"if (spend(level)) sum ^= {self.call()} << {chance.randrange(5)};"]

    def statements(self, low=1, high=4):
        return ["{ " + " ".join(line.strip() for line in self.statement()) + " }" for _ in range(self.random.randint(low, high))]

    def plain_call(self):
        return self.random.choice(self.plain)

    # ---- functions

    def head(self, number):
        """What a function is declared as."""
        kind, types = self.kinds[number], self.types[number]
        keyword = "static "
        name = f"f{number}"
        if kind in ("values", "convention"):
            way = self.conventions[number] if kind == "convention" else ""
            return f"static {way}unsigned {name}(unsigned level, " + ", ".join(f"{t[0]} a{i}" for i, t in enumerate(types)) + ")"
        if kind == "result":
            return f"static {types[0][0]} {name}(unsigned level)"
        if kind == "wide-tail":
            return f"static __attribute__((noinline)) unsigned {name}(unsigned level, long a, long b, long c, long d, long e)"
        if kind == "escape":
            return f"__attribute__((noinline)) unsigned {name}(unsigned level, int a0, long a1, short a2)"
        if kind == "poll":
            return f"__attribute__((noinline)) void {name}(volatile unsigned *status, volatile unsigned *count)"
        if kind == "variadic":
            return f"static unsigned {name}(unsigned level, int count, ...)"
        if kind == "template":
            return f"template <int N, class T> static unsigned {name}(unsigned level, T value)"
        if kind == "numbers":
            return f"static Numbers {name}(unsigned level)"
        if kind == "task":
            return f"static Task {name}(unsigned level)"
        if kind == "lambda":
            return f"template <class F> static unsigned {name}(unsigned level, F function)"
        if kind == "noexcept":
            return f"static unsigned {name}(unsigned level) noexcept"
        if number % 7 == 3:
            keyword = "__attribute__((noinline)) "
        elif number % 7 == 5:
            keyword = "__attribute__((cold)) static "
        return f"{keyword}unsigned {name}(unsigned level)"

    def body(self, number):
        kind, chance, types = self.kinds[number], self.random, self.types[number]
        noted = [f"VALUE(a{i});" for i, t in enumerate(types) if t[0] in ("int", "signed char", "unsigned short", "long")] if kind == "values" else []
        begin = [f"COUNT_CALL({number}); BEGIN_VALUES({number}); VALUE(level); {' '.join(noted)} END_VALUES;"]
        if kind in ("numbers", "task", "lambda", "template"):
            begin = []
        lines = ["unsigned sum = level;"]
        end = ["mix(sum);", "return sum;"]
        if kind in ("values", "convention"):
            lines += [f"mix({value.format(v=f'a{i}')});" for i, (_, _, value) in enumerate(types)] + self.statements(0, 2)
            lines += [f"mix({value.format(v=f'a{i}')});" for i, (_, _, value) in enumerate(types)]
        elif kind == "result":
            lines += self.statements(0, 2)
            end = ["mix(sum);", f"return {types[0][1].format(n='sum')};"]
        elif kind == "variadic":
            lines += ["va_list list;", "va_start(list, count);", "sum += unsigned(va_arg(list, int));", "sum += unsigned(va_arg(list, double));",
                      "sum += unsigned(va_arg(list, long) >> 33);", "va_end(list);", *self.statements(0, 2)]
        elif kind == "wide-tail":
            # All registers that pass arguments are taken, so that the target is in one that is left.
            lines = ["walk.hash += (unsigned long)(a + b * 3 + c * 5 + d * 7 + e * 11);"]
            end = ["return wide_table[pick(4)](level, e, a, b, c, d);"]
            if chance.random() < 0.7:
                begin = []
        elif kind == "escape":
            begin = [f"COUNT_CALL({number}); BEGIN_VALUES({number}); VALUE(level); VALUE(a0); VALUE(a1); VALUE(a2); END_VALUES;"] if chance.random() < 0.5 else []
            lines += ["escape(&a0); escape(&a1); escape(&a2); escape(&level);", "mix((unsigned long)(a0 + a1 + a2));"]
        elif kind == "poll":
            begin, end = [], []
            lines = ["while (!(*status & 0x80)) {", "    *count = *count + 1;", f"    *status = *status + {chance.randint(3, 30)};", "}"]
        elif kind == "template":
            lines += ["mix((unsigned long)value);", f"if (spend(level)) sum += N + {self.call()};"]
        elif kind == "leaf":
            lines += ["volatile unsigned own[20];", f"own[level % 20] = level * {chance.randrange(99)};", "own[(level + 7) % 20] = 3;",
                      f"for (unsigned i = 0; i < {chance.randrange(9)}; i++) own[level % 20] = own[level % 20] + i;"]
            end = ["return sum + own[level % 20];"]
            if chance.random() < 0.5:
                begin = []
        elif kind == "tail":
            lines += self.statements(0, 2)
            end = ["mix(sum);", "if (!spend(level)) return sum;", f"TAIL return f{self.plain_call()}(level + 1);"]
        elif kind == "pointer-tail":
            lines = ["f_t target = table[pick(8)];"]
            end = ["if (!spend(level)) return level;", "TAIL return target(level + 1);"]
            if chance.random() < 0.5:
                begin = []
        elif kind == "loop":
            lines = ["do {", f"    level += {chance.randint(1, 3)};", "    walk.hash += level;", f"}} while (level < {chance.randint(9, 30)} && level % 5);",
                     "unsigned sum = level;"] + self.statements(0, 1)
            if chance.random() < 0.5:
                begin = []
        elif kind == "switch":
            cases = [f"case {i}: {{ {' '.join(self.statements(1, 1))} break; }}" for i in range(chance.randint(3, 9))]
            lines += ["switch (pick(9)) {", *cases, "default: sum += 3;", "}"]
        elif kind == "frame":
            lines += chance.choice([["alignas(64) volatile char own[200];", "own[level] = char(level);"],
                                    ["unsigned size = 16 + level * 8;", "volatile char *own = static_cast<volatile char *>(alloca(size));",
                                     "own[level] = char(level);"],
                                    ["volatile char own[9000];", "own[level] = char(level);"],
                                    ["unsigned size = level + 1;", "volatile char own[size];", "own[level] = char(level);"]])
            lines += self.statements()
            lines += ["sum += unsigned(own[level] == char(level));"]
        elif kind == "throws":
            lines += self.statements(0, 2)
            lines += [f"if (level > 2 && pick(2) && !walk.guards) throw {chance.choice(['Error{level}', 'Worse{{level}}'])};"]
        elif kind == "noexcept":
            lines += ["try {", *self.statements(1, 2), "} catch (const Error &error) { sum += error.code; }"]
        elif kind == "numbers":
            lines += [*self.statements(1, 2), "co_yield sum;", *self.statements(0, 1), f"for (unsigned i = 0; i < {chance.randint(1, 4)}; i++) co_yield sum + i;"]
            end = []
        elif kind == "task":
            tasks = [i for i in range(self.count) if self.kinds[i] == "task"]
            lines += [*self.statements(1, 2), f"if (spend(level)) sum += co_await f{chance.choice(tasks)}(level + 1);"]
            end = ["co_return sum;"]
        elif kind == "lambda":
            lines += ["sum += function(level);", *self.statements(0, 1), "sum += function(sum);"]
        elif kind == "static":
            lines += [f"static thread_local unsigned own = pick(9) + {number};" if chance.random() < 0.5 else f"static const std::string own(std::size_t({number}), 'z');",
                      *self.statements(0, 2), "sum += unsigned(sizeof own);"]
        elif kind == "goto":
            lines += ["static void *const places[] = {&&first, &&second, &&third};", "goto *places[pick(3)];", "first:", "sum += 1;",
                      *self.statements(1, 1), "second:", "sum += 2;", f"if (level < 20) {{ level += 4; goto *places[pick(3)]; }}", "third:", "sum += 3;"]
        elif kind == "landing":
            # Jumps over no frame with a destructor: only over a function made for this.
            lines += ["jmp_buf place;", "volatile unsigned kept = level;", "if (int value = setjmp(place)) {", "    sum += unsigned(value) + kept;",
                      "} else {", "    kept = kept + 5;", "    if (pick(2)) jump(place, int(pick(5)) + 1);", "}", *self.statements(0, 1)]
        elif kind == "part":
            lines = ["if (__builtin_expect(level == 23, 0)) {", "    unsigned sum = level;", *self.statements(1, 2), "    mix(sum);", "}", "unsigned sum = level * 2;"]
            lines += self.statements(0, 1)
        else:
            lines += self.statements()
        return begin + lines + end

    def classes_text(self):
        """The classes: a base, what a virtual base and a second base make thunks for, and an object of each."""
        out = []
        for number in range(self.classes):
            methods = [i for i in range(self.count) if self.kinds[i] in ("method", "member") and self.classes_of(i) == number]
            way = self.random.choice(["", "virtual "])
            out += [f"struct Other{number} {{ long other = {number}; virtual unsigned own() {{ return unsigned(other); }} virtual ~Other{number}() {{}} }};",
                    f"struct Base{number} {{", f"    long base = {number};",
                    *[f"    virtual unsigned f{i}(unsigned level) = 0;" for i in methods if self.kinds[i] == "method"],
                    f"    virtual ~Base{number}() {{}}", "};",
                    f"struct Class{number} : Other{number}, {way}Base{number} {{",
                    *[f"    unsigned f{i}(unsigned level){' override' if self.kinds[i] == 'method' else ''};" for i in methods],
                    "};", f"static Class{number} object{number};"]
            out += [f"static unsigned (Class{number}::*volatile pointer{i})(unsigned) = &Class{number}::f{i};" for i in methods if self.kinds[i] == "member"]
        return out

    def text(self):
        out = [f"// generate_cpp.py {self.seed}", '#include "walk.h"', "", *self.classes_text()]
        methods = ("method", "member")
        out += [f"{self.head(i)};" for i in range(self.count) if self.kinds[i] not in methods]
        wide = [i for i in range(self.count) if self.kinds[i] == "wide-tail"] or [None]
        out += ["using wide_t = unsigned (*)(unsigned, long, long, long, long, long);",
                "static wide_t volatile wide_table[4] = {" + ", ".join(chance if chance == "wide_end" else f"f{chance}" for chance in
                                                                      ["wide_end", "wide_end", self.random.choice(wide) or "wide_end", self.random.choice(wide) or "wide_end"]) + "};"]
        out += ["static f_t volatile table[8] = {" + ", ".join(f"f{i}" for i in self.table) + "};", "",
                "static __attribute__((noinline)) void jump(jmp_buf place, int value) { longjmp(place, value); }",
                "static unsigned take(Numbers numbers) {", "    unsigned sum = 0;", "    while (numbers.next()) sum += numbers.handle.promise().value;",
                "    return sum;", "}", ""]
        for number in range(self.count):
            head = f"unsigned Class{self.classes_of(number)}::f{number}(unsigned level)" if self.kinds[number] in methods else self.head(number)
            out += [head + " {", *["    " + line for line in self.body(number)], "}", ""]
        return "\n".join(out + self.main()) + "\n"

    def main(self):
        chance = self.random
        out = []
        if "static" not in self.without:
            out += [f"struct Early {{ unsigned value; Early() {{ walk.budget = 20; try {{ value = f0(0); }} catch (const Error &) {{}} }} ~Early() {{ "
                    f"walk.budget = 20; try {{ f0(0); }} catch (const Error &) {{}} printf(\"end %lx\\n\", walk.hash); fflush(stdout); }} }};", "static Early early;", ""]
        out += ["static void turn(unsigned level) {", "    try {", "        unsigned sum = 0;"]
        out += [f"        if (spend(level)) sum += {self.call(i)};" for i in range(self.count)]
        out += ["        mix(sum);", "    } catch (const Error &error) {", "        mix(error.code);", "    }", "}", ""]
        out += ["int main(int argc, char **argv) {", "    setvbuf(stdout, nullptr, _IOLBF, 0);", "    int rounds = argc > 1 ? atoi(argv[1]) : 1;", "    signal(SIGUSR1, handler);",
                "    for (int round = 0; round < rounds; round++) {", "        walk.budget = 1000;", "        for (int i = 0; i < 20 && walk.budget > 0; i++) turn(0);"]
        if "threads" not in self.without and chance.random() < 0.4:
            out.append(f"        if (round % 50 == 0) run_threads(f{self.plain_call()}, f{self.plain_call()});")
        if "fork" not in self.without and chance.random() < 0.25:
            out.append(f"        if (round % 50 == 0) run_child(f{self.plain_call()});")
        out += ["        if (round % 10 == 0) printf(\"round %d: %lx, %d signals\\n\", round, walk.hash, (int)signals);", "    }", "    fflush(stdout);"]
        end = chance.choice(["return 0;", "return 0;", "return int(walk.hash & 63);", "exit(3);", "_exit(4);", "quick_exit(5);", "raise(SIGTERM);", "abort();",
                             "throw Error{7};", "pthread_exit(nullptr);", "raise(SIGKILL);", "*(volatile int *)nullptr = 1;"]) if "end" not in self.without else "return 0;"
        return out + [f"    {end}", "}"]


def main():
    options = dict(word.split("=", 1) for word in sys.argv[2:])
    without = options.get("without", "").split("+")
    sys.stdout.write(Program(int(sys.argv[1]), int(options.get("functions", 0)), without).text())


main()
