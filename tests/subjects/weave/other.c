int third(int n);
int first;
#ifdef __clang__
int other(int n) { return third(n); }
#endif
