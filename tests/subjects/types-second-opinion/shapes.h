#include <stddef.h>
#include <stdint.h>
struct node;
typedef struct node *Link;
typedef int (*Compare)(const void *, const void *);
enum level { LOW = -2, MIDDLE, HIGH = 70000, TOP };
typedef enum { ZERO, BIG = 0x7fffffff } Code;
typedef struct { int16_t x, y; } Pair;
union value { char c; long l; double d[2]; Pair p; struct { int inner; } s; };
struct bits { unsigned a : 1, b : 5, : 3, c : 9; signed long d : 33; _Bool e : 1; char f; uint8_t g : 4, h : 4; };
struct __attribute__((packed)) packed { char a; int b; struct bits c; short d; };
struct aligned { char a; _Alignas(64) char b; } ;
struct tail { size_t n; struct node *items[]; };
struct zero { int a; char none[0]; };
struct node {
    Link next, *prev;
    union value v;
    struct { int depth; union { int i; float f; }; } anonymous;
    struct { short a; char b; };
    const char *const name;
    volatile int state;
    int matrix[3][4][5];
    int (*row)[5];
    Compare compare[2];
    int (*(*factory)(const char *, ...))(struct node *, Code);
    void (*old)();
    enum level level;
    Code code;
    struct tail *tail;
    char buffer[sizeof(struct bits) * 3];
    _Complex double z;
    long double wide;
    __int128 huge;
    uint32_t flags : 3;
};
int node_visit(struct node *n, int (*f)(struct node *, void *), void *arg);
