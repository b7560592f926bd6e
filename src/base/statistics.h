/* Statistics that every part shares: defined here once. */
#ifndef PIOLET_BASE_STATISTICS_H
#define PIOLET_BASE_STATISTICS_H

/* Student's t: the part of the distribution beyond -t and t. */
double statistics_student_p(double t, double degrees);

/* The t between whose two signs the part `level` (as 0.95) of the distribution lies. NaN below one degree of freedom.
 */
double statistics_student_t(double level, double degrees);

#endif
