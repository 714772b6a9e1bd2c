/* The third event never ends. */
static unsigned n;

void tick(unsigned char c)
{
    n = c == 'a' ? n + 1 : 0;
    while (n == 3)
        ;
}

int main(void)
{
    tick('x');
    return 0;
}
