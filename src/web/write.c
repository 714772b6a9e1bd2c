/* A fault as files that show it again: a shell script with curl, a PHPUnit test. */
#include "web/web.h"
#include "base/escape.h"

static void add_url(const Request *r, Str *out)
{
    Str url = { 0 }, query = { 0 };
    const Param *info = request_get(r, "SERVER[PATH_INFO]");
    request_query(r, &query);
    escape_uri(&url, r->script);
    if (info)
        escape_uri(&url, info->text);
    str_addf(out, "%s%s%s", str_c(&url), query.len ? "?" : "", str_c(&query));
    str_release(&url);
    str_release(&query);
}

static void add_curl(const Request *r, Str *out)
{
    Str url = { 0 }, body = { 0 }, cookies = { 0 };
    char *type;
    add_url(r, &url);
    request_body(r, &body, &type);
    request_cookies(r, &cookies);
    if (r->forgets)
        str_add(out, ": >\"$jar\"\n");
    str_add(out, "curl -s -i -b \"$jar\" -c \"$jar\"");
    const Param *method = request_get(r, "SERVER[REQUEST_METHOD]");
    if (method && !request_is_post(r)) {
        str_add(out, strcmp(method->text, "HEAD") == 0 ? " -I" : " -X ");
        if (strcmp(method->text, "HEAD") != 0)
            escape_shell(out, method->text);
    }
    if (cookies.len) {
        str_add(out, " -H ");
        char *h = xprintf("Cookie: %s", str_c(&cookies));
        escape_shell(out, h);
        free(h);
    }
    for (size_t i = 0; i < r->params.len; i++)
        if (str_starts(r->params.items[i].path, "SERVER[HTTP_")) {
            char *name = request_name(r->params.items[i].path);
            for (char *c = name; *c; c++)
                *c = *c == '_' ? '-' : *c;
            char *h = xprintf("%s: %s", name + 5, r->params.items[i].text);
            str_add(out, " -H ");
            escape_shell(out, h);
            free(h);
            free(name);
        }
    if (type) {
        char *h = xprintf("Content-Type: %s", type);
        str_add(out, " -H ");
        escape_shell(out, h);
        str_add(out, " --data-binary ");
        escape_shell(out, str_c(&body));
        free(h);
    }
    str_add(out, " \"$base/\"");
    escape_shell(out, str_c(&url));
    str_add(out, "\n");
    free(type);
    str_release(&url);
    str_release(&body);
    str_release(&cookies);
}

static void add_chain(Request *const *chain, size_t n, bool cgi, Str *out)
{
    str_addf(out,
             "Serve the application first, from its folder, in the state that\n"
             "# it was given to Sundew in: %s\n",
             cgi ? "with a server that runs CGI" : "php -S 127.0.0.1:8000");
    str_add(out, "base=${1:-http://127.0.0.1:8000}\njar=$(mktemp)\n");
    for (size_t i = 0; i < n; i++)
        add_curl(chain[i], out);
    str_add(out, "rm -f \"$jar\"\n");
}

void web_curl(const WebFault *f, Str *out)
{
    str_add(out, "#!/bin/sh\n# Shows again: ");
    escape_c_comment(out, f->fault.message, strlen(f->fault.message));
    str_addf(out, "\n# at ");
    escape_c_comment(out, f->fault.file, strlen(f->fault.file));
    str_addf(out, ":%u. ", f->fault.line);
    add_chain(f->chain, f->nchain, f->cgi, out);
}

void web_curl_session(Request *const *chain, size_t n, Str *out)
{
    str_add(out, "#!/bin/sh\n# Every request that was recorded, in its order. ");
    add_chain(chain, n, false, out);
}

/* The inside of a single-quoted PHP string. */
static void php_string(Str *out, const char *s, size_t n)
{
    str_addc(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\'' || s[i] == '\\')
            str_addc(out, '\\');
        str_addc(out, s[i]);
    }
    str_addc(out, '\'');
}

void web_phpunit(const WebFault *f, const char *name, Str *out)
{
    str_add(out, "<?php\n// ");
    escape_c_comment(out, f->fault.message, strlen(f->fault.message));
    str_addf(out,
             "\n// Serve the application with: php -d display_errors=1 -d error_reporting=-1 -S "
             "127.0.0.1:8000\n"
             "// and name it in the environment variable BASE, if it is another.\n"
             "use PHPUnit\\Framework\\TestCase;\n\nfinal class %s extends TestCase\n{\n"
             "    public function testChain(): void\n    {\n"
             "        $base = getenv('BASE') ?: 'http://127.0.0.1:8000';\n"
             "        $cookies = [];\n        $body = '';\n",
             name);
    for (size_t i = 0; i < f->nchain; i++) {
        Str url = { 0 }, body = { 0 };
        char *type;
        add_url(f->chain[i], &url);
        request_body(f->chain[i], &body, &type);
        str_addf(out, "        $body = $this->ask(\"$base/\" . ");
        php_string(out, str_c(&url), url.len);
        str_add(out, ", $cookies, ");
        if (type) {
            php_string(out, str_c(&body), body.len);
            str_add(out, ", ");
            php_string(out, type, strlen(type));
        } else {
            str_add(out, "null, null");
        }
        str_add(out, ");\n");
        free(type);
        str_release(&url);
        str_release(&body);
    }
    str_add(
        out,
        "        $this->assertDoesNotMatchRegularExpression('/(Fatal error|Warning|Deprecated|Parse error)<?/', $body);\n"
        "    }\n\n"
        "    private function ask(string $url, array &$cookies, ?string $data, ?string $type): string\n"
        "    {\n"
        "        $header = $type ? \"Content-Type: $type\\r\\n\" : '';\n"
        "        if ($cookies)\n"
        "            $header .= 'Cookie: ' . http_build_query($cookies, '', '; ') . \"\\r\\n\";\n"
        "        $context = stream_context_create(['http' => ['method' => $type ? 'POST' : 'GET',\n"
        "            'header' => $header, 'content' => $data ?? '', 'ignore_errors' => true,\n"
        "            'follow_location' => 0]]);\n"
        "        $body = (string) file_get_contents($url, false, $context);\n"
        "        foreach ($http_response_header ?? [] as $line)\n"
        "            if (preg_match('/^Set-Cookie: ([^=]+)=([^;]*)/i', $line, $m))\n"
        "                $cookies[$m[1]] = urldecode($m[2]);\n"
        "        return $body;\n"
        "    }\n}\n");
}
