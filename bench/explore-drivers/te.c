#include <stdio.h>
#include <string.h>
#include "tinyexpr.h"
static char buf[1<<16];
int main(void){ size_t n=fread(buf,1,sizeof buf-1,stdin); buf[n]=0; buf[strcspn(buf,"\n")]=0; int e; double x=1,y=2; te_variable v[]={{"x",&x,0,0},{"y",&y,0,0}};
 te_expr *t=te_compile(buf,v,2,&e); if(!t) return 1; printf("%f\n",te_eval(t)); te_free(t); return 0;}
