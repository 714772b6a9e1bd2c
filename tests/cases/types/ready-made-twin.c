/*
 * name:   what others pass too
 * run:    sundew types $file
 * absent: types:
 * status: 0
 */
#include <fcntl.h>
#include <unistd.h>

long rewind_it(int fd)
{
    return lseek(fd, 0, SEEK_SET) + open("x", O_RDONLY);
}
