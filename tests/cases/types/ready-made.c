/*
 * name:   one call in the whole program: what others do tells
 * run:    sundew types $file
 * expect: $file:13:25: types: lseek: argument 3 is O_RDONLY
 * expect: callers pass SEEK_*
 * status: 1
 */
#include <fcntl.h>
#include <unistd.h>

long rewind_it(int fd)
{
    return lseek(fd, 0, O_RDONLY);
}
