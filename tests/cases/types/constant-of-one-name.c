/*
 * name:   a single name is no family: a buffer's size
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
#define LINE_SIZE 80
#define PATH_SIZE 4096

void reserve(int n);

void reserve_all(void)
{
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE); reserve(LINE_SIZE); reserve(LINE_SIZE);
    reserve(LINE_SIZE);
    reserve(PATH_SIZE);
}
