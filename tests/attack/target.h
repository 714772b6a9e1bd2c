/* The library of the attacks on sequences of calls. */
int target_add(int a, int b);
int target_flag(int a);
