/*
 * name:   labels exchanged on purpose are noteworthy
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "rule": "arguments/noteworthy"
 * expect: "line": 18
 * expect: "confidence": 1.0
 * status: 0
 */
struct rtx;
struct tree { int code; struct tree *left; };
void jump(struct rtx *);

void do_jump(struct tree *exp, struct rtx *if_true_label,
             struct rtx *if_false_label)
{
    if (exp->code == '!')
        do_jump(exp->left, if_false_label, if_true_label);
    else if (exp->left)
        do_jump(exp->left, if_true_label, if_false_label);
    else
        jump(if_true_label);
}
