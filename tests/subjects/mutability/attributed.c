long sum(long *v, int n) __attribute__((access(read_only, 1, 2)));
void fill(char *to, unsigned long n) __attribute__((access(write_only, 1, 2)));
