/*
 * name:   one argument has the name of another parameter
 * run:    sundew arguments --json $file
 * expect: "line": 20
 * expect: "message": "lm_read_ctl: arguments 3 and 4 are named the other way round"
 * expect: 'uw' is passed as 'wip', 'inspen' is passed as 'uw'
 * expect: "confidence": 0.5
 * expect: "class": "naming"
 * absent: "line": 25
 * status: 0
 */
struct lm;
struct lm *lm_read_ctl(const char *file, double lw, double wip, double uw);
struct lm *lm_read_all(const char *file, double lw, double wip, double uw);

struct lm *both(const char *file, double lw, double uw, double inspen, int all)
{
    double wip = inspen;
    if (!all)
        return lm_read_ctl(file, lw, uw, inspen);

    /*
     * the twin
     */

    return lm_read_all(file, lw, wip, uw);
}
