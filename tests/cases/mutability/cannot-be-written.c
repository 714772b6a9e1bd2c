/*
 * name:   a const that can't be written where it stands is not suggested
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog
 * expect: plain: p could point to const
 * absent: by_typedef
 * absent: from_macro
 * absent: of_functions
 * status: 0
 */
typedef int *Numbers;
#define READER(name) int name(int *p) { return *p; }

int plain(int *p) { return *p; }
int by_typedef(Numbers p) { return *p; }
READER(from_macro)
int of_functions(int (**p)(int)) { return (*p)(1); }

static int twice(int n) { return 2 * n; }

int main(void)
{
    int one = 1, (*f)(int) = twice;

    return plain(&one) + by_typedef(&one) + from_macro(&one) + of_functions(&f);
}
