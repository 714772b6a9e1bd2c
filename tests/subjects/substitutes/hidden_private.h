struct hidden {
#ifdef NEW
    long padding[4];
#endif
    int n;
};
