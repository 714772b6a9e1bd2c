/* What the application has its database load; dlopen() alone would run this. */
__attribute__((constructor)) static void reached(void) {}
