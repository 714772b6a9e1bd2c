/*
 * name:   all calls contradict the declaration: 0.416 for each, reported once
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "line": 19
 * expect: gnugo_estimate_score: arguments 1 and 2 are named the other way round
 * expect: '&lower_bound' is passed as 'upper', '&upper_bound' is passed as 'lower'; so do 2 more calls
 * expect: "confidence": 0.416
 * expect: "class": "naming"
 * absent: gnugo_bounds
 * status: 0
 */
float gnugo_estimate_score(float *upper, float *lower);
float gnugo_bounds(float *upper, float *lower);

float one(void)
{
    float lower_bound, upper_bound;
    return gnugo_estimate_score(&lower_bound, &upper_bound) + lower_bound;
}

float two(void)
{
    float lower_bound, upper_bound;
    return gnugo_estimate_score(&lower_bound, &upper_bound) - upper_bound;
}

float three(void)
{
    float lower_bound, upper_bound;
    return gnugo_estimate_score(&lower_bound, &upper_bound) +
           gnugo_bounds(&upper_bound, &lower_bound);
}
