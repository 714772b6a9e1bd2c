#include <stdio.h>
#include <assert.h>
int main(void)
{
    assert(fopen("not-there.cue", "r"));
    return 0;
}
