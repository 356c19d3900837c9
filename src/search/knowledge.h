/* knowledge.h - what one more observation is worth: the knowledge gradient.
 *
 * Of few points whose means a_i and covariances C a posterior knows, one is observed
 * once more, with some noise. That moves every mean along one normal number Z,
 *
 *   a_i + b_i Z,   b_i = C_ij / sqrt(C_jj + noise)   where point j is observed,
 *
 * and whoever may choose the point with the highest mean afterwards gains
 * E max(a_i + b_i Z) - max a_i. The maximum of lines is convex and has few pieces, so
 * the expectation is a sum over its corners (Frazier, Powell and Dayanik, 2009):
 *
 *   sum over corners z of (change of slope) h(-|z|),   h(z) = phi(z) + z Phi(z)
 */
#ifndef CB_SEARCH_KNOWLEDGE_H
#define CB_SEARCH_KNOWLEDGE_H

enum { CB_KNOWLEDGE_MOST = 8 }; /* points */

/* E max(a_i + b_i Z) - max a_i over n lines, 1 <= n <= CB_KNOWLEDGE_MOST. */
double cb_knowledge_gain(int n, const double *a, const double *b);

/* What observing point j of n is worth; covariance is n x n, noise > 0 a variance. */
double cb_knowledge_of_point(int n, const double *mean, const double *covariance, int j,
                             double noise);

#endif
