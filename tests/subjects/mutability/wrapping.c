int look(const int *p) { return *p; }
int peek(const int *p) { return *p + 1; }
int __wrap_look(int *p) { return (*p)++; }
int __wrap_peek(int *p) { return (*p)--; }
