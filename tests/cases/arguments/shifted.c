/*
 * name:   three arguments shifted by one
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "line": 18
 * expect: "callee": "createAlignment"
 * expect: "confidence": 0.5
 * status: 0
 */
struct alignment;
enum { R_INNERMOST = 2 };
struct alignment *createAlignment(const char *name, int mode, int count,
                                  int sourceRestart, int continuationIndent);

struct alignment *make(const char *name, int mode, int count, int sourceRestart,
                       int continuationIndent)
{
    createAlignment(name, mode, R_INNERMOST, count, sourceRestart);
    return createAlignment(name, mode, count, sourceRestart, continuationIndent);
}
