/*
 * name:   numbers of one letter, with a p for pointer, and their sizes
 * run:    sundew arguments $file
 * expect: $file:31:5: arguments: move: arguments 1 and 3 may be swapped
 * absent: multiply
 * absent: select_if
 * status: 0
 */
typedef unsigned long limb;

void multiply(limb *rp, limb *up, long usize, limb *vp, long vsize);
void select_if(limb *wp, limb *up, long usize, int set);
void move(limb *to_digits, long to_count, limb *from_digits);

void square(limb *rp, limb *up, long usize, limb *vp, long vsize)
{
    multiply(rp, up, usize, vp, vsize);
    multiply(rp, up, usize, up, usize);
    select_if(rp, up, usize, 1);
    if (usize < vsize)
        multiply(rp, vp, vsize, up, usize);
}

void halve(limb *wp, limb *up, long usize, int odd)
{
    select_if(up, wp, usize, odd);
}

void carry(limb *to_digits, long count, limb *from_digits)
{
    move(from_digits, count, to_digits);
}
