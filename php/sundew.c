/* The module: settings, fork server, the order of things. */
#include "sundew.h"
#include "SAPI.h"
#include "runtime/server/forkserver.h"
#include <signal.h>

Mode sundew_mode;

static zend_result (*next_post_startup)(void);

static Mode mode_from_environment(void)
{
    const char *m = getenv("SUNDEW_WEB_MODE");
    if (m && strcmp(m, "force") == 0)
        return MODE_FORCE;
    if (m && strcmp(m, "random") == 0)
        return MODE_RANDOM;
    if (m && strcmp(m, "off") == 0)
        return MODE_OFF;
    return MODE_ON;
}

/* The request's variables become the environment that php-cgi reads. */
static void take_request(void)
{
    const char *p = channel_request();
    uint32_t n = channel_header()->request_len, at = 0;
    if (n > SUNDEW_WEB_REQUEST)
        return;
    while (at < n) {
        size_t len = strnlen(p + at, n - at);
        if (at + len >= n)
            return;             /* not ended: not ours */
        putenv((char *)p + at);
        at += (uint32_t)len + 1;
    }
}

/* All modules are there: serve forks from here on, if somebody asks. */
static zend_result post_startup(void)
{
    if (next_post_startup && next_post_startup() != SUCCESS)
        return FAILURE;
    natives_wrap();
    if (getenv(SUNDEW_FORKSERVER_ENV)) {
        sundew_forkserver_start();
        take_request();
    }
    return SUCCESS;
}

static PHP_MINIT_FUNCTION(sundew)
{
    (void)type;
    (void)module_number;
    sundew_mode = mode_from_environment();
    channel_open();
    if (sundew_mode == MODE_OFF)
        return SUCCESS;
    handlers_install();
    arrays_install();
    body_install();
    request_startup();
    next_post_startup = zend_post_startup_cb;
    zend_post_startup_cb = post_startup;
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(sundew)
{
    (void)type;
    (void)module_number;
    if (sundew_mode != MODE_OFF)
        request_begin();
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(sundew)
{
    (void)type;
    (void)module_number;
    if (sundew_mode != MODE_OFF)
        request_end();
    return SUCCESS;
}

zend_module_entry sundew_module_entry = {
    STANDARD_MODULE_HEADER,
    "sundew", NULL,
    PHP_MINIT(sundew), NULL, PHP_RINIT(sundew), PHP_RSHUTDOWN(sundew), NULL,
    "1",
    NO_MODULE_GLOBALS,
    request_after,
    STANDARD_MODULE_PROPERTIES_EX
};

ZEND_DLEXPORT zend_module_entry *get_module(void);
ZEND_GET_MODULE(sundew)
