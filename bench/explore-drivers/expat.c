#include <stdio.h>
#include <expat.h>
static char buf[1<<20];
static void XMLCALL s(void*u,const XML_Char*n,const XML_Char**a){(void)u;(void)n;(void)a;}
static void XMLCALL e(void*u,const XML_Char*n){(void)u;(void)n;}
int main(void){ size_t n=fread(buf,1,sizeof buf,stdin); XML_Parser p=XML_ParserCreate(NULL); XML_SetElementHandler(p,s,e); XML_Parse(p,buf,(int)n,1); XML_ParserFree(p); return 0;}
