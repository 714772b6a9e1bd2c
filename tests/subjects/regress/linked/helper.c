int helper(int n) { return n * 2; }
