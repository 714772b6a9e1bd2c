/* A modest use of expat: parse a document in two pieces and count. */
#include <expat.h>
#include <stdio.h>
#include <string.h>

static int elements, bytes;

static void start(void *user, const XML_Char *name, const XML_Char **atts)
{
    (void)user;
    (void)name;
    (void)atts;
    elements++;
}

static void end(void *user, const XML_Char *name)
{
    (void)user;
    (void)name;
}

static void text(void *user, const XML_Char *s, int n)
{
    (void)user;
    (void)s;
    bytes += n;
}

int main(void)
{
    static const char doc[] =
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e 'x'>]><a b='c'><d>&e;text</d><!-- n --></a>";
    XML_Parser p = XML_ParserCreate("UTF-8");
    XML_SetElementHandler(p, start, end);
    XML_SetCharacterDataHandler(p, text);
    XML_SetUserData(p, NULL);
    XML_SetParamEntityParsing(p, XML_PARAM_ENTITY_PARSING_ALWAYS);
    if (!XML_Parse(p, doc, 40, 0) || !XML_Parse(p, doc + 40, (int)strlen(doc) - 40, 1))
        return 1;
    printf("%d %d line %lu\n", elements, bytes, (unsigned long)XML_GetCurrentLineNumber(p));
    XML_ParserReset(p, NULL);
    if (XML_Parse(p, "<a><b></a>", 10, 1) == XML_STATUS_ERROR)
        printf("%d %s at %lu\n", XML_GetErrorCode(p), XML_ErrorString(XML_GetErrorCode(p)),
               (unsigned long)XML_GetCurrentColumnNumber(p));
    XML_ParserFree(p);
    XML_Parser ns = XML_ParserCreateNS(NULL, '|');
    XML_Parse(ns, "<n:a xmlns:n='u'/>", 18, 1);
    XML_ParserFree(ns);
    return 0;
}
