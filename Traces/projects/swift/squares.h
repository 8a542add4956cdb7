#ifndef SQUARES_H
#define SQUARES_H

/// Calls `square`, which is Swift's, for 1 to `count`.
int sum_squares(int count);
/// How often it was called; Swift calls it.
void note(void);
int noted(void);

#endif
