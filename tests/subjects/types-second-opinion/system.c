#include <arpa/inet.h>
#include <dirent.h>
#include <ffi.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <termios.h>
#include <ucontext.h>
#include <clang-c/Index.h>
#include <elf.h>
#include <time.h>
struct everything {
    struct sockaddr_in6 in6; struct dirent dirent; ffi_cif cif; struct ifaddrs ifaddrs; json_t json; json_error_t error;
    struct addrinfo info; struct pollfd poll; pthread_mutex_t mutex; pthread_attr_t attr; struct passwd pw;
    siginfo_t si; struct sigaction sa; sqlite3_vfs vfs; sqlite3_io_methods io; sqlite3_module module; FILE file;
    struct rusage usage; struct stat st; struct statvfs vfs2; struct utsname uts; struct termios tty; ucontext_t uc;
    CXCursor cursor; struct CXUnsavedFile unsaved; Elf64_Sym sym; Elf64_Dyn dyn; struct tm tm; struct timespec ts;
};
unsigned long size(struct everything *e, CXCursor c, ffi_status s) { return sizeof *e + c.xdata + s; }
int main(void) { return 0; }
