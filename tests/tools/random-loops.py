"""Random programs of the specification's T-C5 as C: random-loops.py COUNT SEED > loops.c

All of them are in one file; the program's argument chooses one, so a single build serves all. A program
has two variables; an event is a number. One call of step() is an event.
"""
import random
import sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)


def operand():
    return rng.choice(["0", "1", "2", "3", "a", "x", "y", "(x + 1) % 3", "(y + 1) % 3"])


def statement(depth, indent):
    pad = "    " * indent
    kind = rng.randrange(8) if depth else rng.randrange(3)
    if kind == 0:
        return pad + ";\n"
    if kind < 3:
        change = rng.choice([f"= {operand()}", f"= {operand()}", f"+= {operand()}", "+= 1"])
        return f"{pad}{rng.choice('xy')} {change};\n"
    if kind < 5:
        return statement(depth - 1, indent) + statement(depth - 1, indent)
    left = rng.choice(["a", "a", "x", "y"])
    return (f"{pad}if ({left} == {rng.choice(['0', '1', '2', '3', 'x', 'y'])}) {{\n" + statement(depth - 1, indent + 1) +
            f"{pad}}} else {{\n" + statement(depth - 1, indent + 1) + f"{pad}}}\n")


print("#include <stdlib.h>\nstatic int x, y, which;\n")
for i in range(count):
    body = ""
    while "if" not in body:
        body = statement(4, 1)
    print(f"static void program_{i}(int a)\n{{\n{body}}}\n")
print("static void (*const programs[])(int) = { " + ", ".join(f"program_{i}" for i in range(count)) + " };\n")
print("void step(int a)\n{\n    programs[which](a);\n}\n")
print("int main(int argc, char **argv)\n{\n    which = argc > 1 ? atoi(argv[1]) : 0;\n    return 0;\n}")
