/*
 * name:   a file that is no crash file is refused with a clear word
 * run:    sundew capture -q -- cc -g $file -o prog && echo hello > x.crash && sundew reproduce x.crash
 * expect: x.crash
 * absent: reproduce/
 * status: 2
 */
int main(void)
{
    return 0;
}
