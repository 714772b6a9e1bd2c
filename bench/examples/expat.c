/* Prints the outline of a small document, in one piece and in several. */
#include <expat.h>
#include <stdio.h>
#include <string.h>

static int depth;

static void XMLCALL begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)user;
    printf("%*s<%s", 2 * depth++, "", name);
    for (; *attributes; attributes += 2)
        printf(" %s='%s'", attributes[0], attributes[1]);
    puts(">");
}

static void XMLCALL end(void *user, const XML_Char *name)
{
    (void)user, (void)name;
    depth--;
}

static void XMLCALL text(void *user, const XML_Char *s, int n)
{
    *(int *)user += n;
    (void)s;
}

static void outline(const char *document, size_t piece, const char *encoding)
{
    int letters = 0;
    size_t n = strlen(document);
    XML_Parser p = XML_ParserCreate(encoding);

    XML_SetUserData(p, &letters);
    XML_SetElementHandler(p, begin, end);
    XML_SetCharacterDataHandler(p, text);
    for (size_t at = 0; at <= n; at += piece) {
        size_t now = n - at < piece ? n - at : piece;
        if (XML_Parse(p, document + at, (int)now, now < piece) == XML_STATUS_ERROR) {
            printf("line %lu: %s\n", XML_GetCurrentLineNumber(p),
                   XML_ErrorString(XML_GetErrorCode(p)));
            break;
        }
    }
    printf("%d letters, %ld bytes\n", letters, (long)XML_GetCurrentByteIndex(p));
    XML_ParserFree(p);
    depth = 0;
}

int main(void)
{
    outline("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e 'and'>]>"
            "<a x='1'><b>one &e; two</b><!-- c --><b/><![CDATA[<>]]></a>", 1000, NULL);
    outline("<list><item n='1'>caf\xc3\xa9</item></list>", 16, "UTF-8");
    outline("<a><b></a>", 100, NULL);

    XML_Parser p = XML_ParserCreateNS(NULL, '|');
    XML_SetElementHandler(p, begin, end);
    XML_Parse(p, "<x:a xmlns:x='urn:1'/>", 22, 1);
    XML_ParserReset(p, NULL);
    XML_SetElementHandler(p, begin, end);
    XML_Parse(p, "<a/>", 4, 1);
    XML_ParserFree(p);
    puts(XML_ExpatVersion());
    return 0;
}
