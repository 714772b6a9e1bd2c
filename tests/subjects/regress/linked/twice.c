#include "twice.h"
int helper(int n);
int twice(int n) { return n > 0 ? helper(n & 1023) : 0; }
int thrice(int n) { return (n & 1023) * 3; }
