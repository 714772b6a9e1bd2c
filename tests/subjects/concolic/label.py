"""Makes the global variables of a program of csmith symbolic; what they were is written to
input.bin. Usage: label.py FILE.c"""
import re
import sys

path = sys.argv[1]
text = open(path).read()
pointers = set(re.findall(r'^static [^=;]*\*[^=;]*?(g_\d+)', text, re.M))
names = re.findall(r'^static (?:volatile |const )*(?:struct |union )?\w+ (?:const |volatile )*'
                   r'(g_\d+)(?:\[.*?\])* = ', text, re.M)
names = [n for n in names if n not in pointers][:60]
calls = ''.join(f'    label((void *)&{n}, sizeof {n} > 16 ? 16 : sizeof {n}, {16 * i});\n'
                for i, n in enumerate(names))
text = text.replace('    platform_main_begin();',
                    '    platform_main_begin();\n' + calls + '    write_input();\n')
head = '''#include <stdio.h>
#include <string.h>
void sundew_symbolic(void *at, unsigned long n, unsigned long offset);
static unsigned char input_[1024];
static unsigned ninput_;
static void label(void *p, unsigned long n, unsigned long at)
{
    memcpy(input_ + at, p, n);
    ninput_ = at + n;
    sundew_symbolic(p, n, at);
}
static void write_input(void)
{
    FILE *f = fopen("input.bin", "w");
    if (f) {
        fwrite(input_, 1, ninput_, f);
        fclose(f);
    }
}
'''
open(path, 'w').write(head + text)
