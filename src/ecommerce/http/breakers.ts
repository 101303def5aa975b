import { type CircuitBreaker, createCircuitBreaker } from '../../http-client/circuit-breaker.ts'

/** The circuit breakers of this process, one for each shop. Repeated failures end the calls until one probe succeeds. */
const breakers = new Map<string, CircuitBreaker>()

export function getBreaker(origin: string): CircuitBreaker {
  const breaker =
    breakers.get(origin) ?? createCircuitBreaker({ failureThreshold: 5, openMs: 2_000, maxOpenMs: 60_000 })
  breakers.set(origin, breaker)
  return breaker
}
