/*
 * name:   a file of the user says that everything is fine there
 * run:    printf 'lseek\t3\tkind\t-\t*\t0\t0\n' >ok.txt && sundew types --histograms ok.txt $file
 * absent: types:
 * status: 0
 */
#include <fcntl.h>
#include <unistd.h>

long rewind_it(int fd)
{
    return lseek(fd, 0, O_RDONLY);
}
