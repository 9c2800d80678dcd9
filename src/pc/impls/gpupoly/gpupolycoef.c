/* Coefficients of the polynomials of gpupoly. */
#include "pc/impls/gpupoly/gpupoly.h"

/* The residual polynomials of Chebyshev's iteration, R[k](t) = T[k]((theta - t) / delta) / T[k](theta / delta), where theta is the centre and delta the half
   width of [a, b].  g is T[k](theta / delta) / (delta T[k + 1](theta / delta)), which exists for delta = 0 too. */
static void PCGPUPolyGetChebyshev(PetscReal theta, PetscReal delta, PetscInt degree, PetscReal omega[], PetscReal alpha[])
{
  PetscReal g = 1 / theta;

  omega[0] = 1;
  alpha[0] = g;
  for (PetscInt k = 1; k <= degree; k++) {
    g        = 1 / (2 * theta - delta * delta * g);
    omega[k] = 2 * theta * g;
    alpha[k] = 2 * g;
  }
}

/* The least-squares residual polynomials: R[n] minimises the integral of w(t) R(t)^2 over [a, b] among the polynomials R of degree n with R(0) = 1, with Chebyshev's
   weight w(t) = ((t - a) (b - t))^(-1/2).  R[n](t) is the kernel polynomial K[n](0, t) / K[n](0, 0) of the orthogonal polynomials of w (Saad 1983).

   The kernel polynomials K[n](0, t) are orthogonal with the weight t w(t).  Their recurrence follows from that of the monic polynomials p of w,
     p[n + 1] = (t - theta) p[n] - lambda[n] p[n - 1],   lambda[1] = delta^2 / 2,   lambda[n] = delta^2 / 4 for n > 1,
   by the quotients rho[n] = p[n + 1](0) / p[n](0) (Chihara, An Introduction to Orthogonal Polynomials, chapter I): the monic kernel polynomials q satisfy
     q[n + 1] = (t + lambda[n + 1] / rho[n] + rho[n]) q[n] - (lambda[n] rho[n] / rho[n - 1]) q[n - 1].
   tau[n] = q[n + 1](0) / q[n](0) scales them to R[n](0) = 1. */
static void PCGPUPolyGetLeastSquares(PetscReal theta, PetscReal delta, PetscInt degree, PetscReal omega[], PetscReal alpha[])
{
  PetscReal rho = -theta, lambda = delta * delta / 2;
  PetscReal tau = rho + lambda / rho;

  omega[0] = 1;
  alpha[0] = -1 / tau;
  for (PetscInt n = 1; n <= degree; n++) {
    const PetscReal quotient = lambda / rho; /* lambda[n] / rho[n - 1] */
    PetscReal       shift;

    rho      = -theta - quotient;
    lambda   = delta * delta / 4;
    shift    = lambda / rho + rho;
    tau      = shift - quotient * rho / tau;
    omega[n] = shift / tau;
    alpha[n] = -1 / tau;
  }
}

/* Computes omega[0..degree] and alpha[0..degree]. */
PetscErrorCode PCGPUPolyGetCoefficients_Private(PCGPUPolyType type, PetscReal low, PetscReal high, PetscInt degree, PetscReal omega[], PetscReal alpha[])
{
  const PetscReal theta = (low + high) / 2, delta = (high - low) / 2;

  PetscFunctionBegin;
  if (type == PC_GPUPOLY_CHEBYSHEV) PCGPUPolyGetChebyshev(theta, delta, degree, omega, alpha);
  else PCGPUPolyGetLeastSquares(theta, delta, degree, omega, alpha);
  PetscFunctionReturn(PETSC_SUCCESS);
}
