/*
 * name:   AT8: a pointer that was seen 11 times is not spoken of, one that was seen 12 times is
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog
 * expect: twelve
 * expect: requires p12 != NULL
 * absent: p11 != NULL
 * status: 0
 */
__attribute__((noinline)) int eleven(const int *p11)
{
    return *p11;
}

__attribute__((noinline)) int twelve(const int *p12)
{
    return *p12;
}

int main(void)
{
    int x[12] = { 0 }, sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += i < 11 ? eleven(&x[i]) : 0;
        sum += twelve(&x[i]);
    }
    return sum;
}
