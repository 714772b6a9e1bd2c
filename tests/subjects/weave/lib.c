int counter;
static int helper(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * counter; return s; }
int api(int x) { counter += x; return x > 100 ? -1 : helper(x) + counter; }
