int twice(int n);
int thrice(int n);
