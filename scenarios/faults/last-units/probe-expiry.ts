import { setTimeout as delay } from 'node:timers/promises'
import type { Tillbridge } from '../../../client/src/index.ts'
import { type CheckResult, check } from '../../support/expectations/check.ts'
import type { Outcome } from '../../support/operations/client.ts'
import type { Measurements } from '../../support/report.ts'

/** Milliseconds to wait after the expiry, because timers can fire early. */
const toleranceMs = 10

interface ProbeOptions {
  api: Tillbridge
  /** A SKU with one unit, which no other client orders. */
  sku: string
  /** Repeats a call until its outcome is known. */
  repeatUntilFinal: <T>(call: () => Promise<T>) => Promise<Outcome<T>>
  isOver: () => boolean
}

/**
 * Measures what a client sees of expired reservations: it reserves the only unit of a SKU for 1 s again and again. A request that is sent
 * after the expiry must get the unit, and must find neither the reservation nor its unit in `/inventory`.
 */
export async function probeExpiry({ api, sku, repeatUntilFinal, isOver }: ProbeOptions) {
  let probes = 0
  const [stillReserved, stillFound, stillListed]: [string[], string[], string[]] = [[], [], []]
  const responsesMs: number[] = []
  /** Reserves the unit, and waits until the reservation has expired. It expires at most 1 s after the response. */
  async function reserve(): Promise<string | undefined> {
    const idempotencyKey = `probe-${++probes}`
    const sentAt = performance.now()
    const lines = [{ sku, quantity: 1 }]
    const { data, code } = await repeatUntilFinal(() =>
      api.reservations.create({ lines, seconds: 1 }, { idempotencyKey }),
    )
    responsesMs.push(performance.now() - sentAt)
    if (!data) stillReserved.push(`${idempotencyKey}: ${code}`)
    await delay(1_000 + toleranceMs)
    const { data: levels = [] } = await repeatUntilFinal(() => Array.fromAsync(api.inventory.list({ sku })))
    if (levels.some(({ reserved }) => reserved > 0)) stillListed.push(idempotencyKey)
    return data?.id
  }
  for (let expired = await reserve(); !isOver(); ) {
    const [readExpired, nextId] = await Promise.all([
      expired && repeatUntilFinal(() => api.reservations.get(expired as string)),
      reserve(),
    ])
    if (readExpired && readExpired.status !== 404)
      stillFound.push(`${expired}: ${readExpired.status} ${readExpired.code ?? ''}`)
    expired = nextId
  }
  const longestMs = Math.max(...responsesMs)
  const measurements: Measurements = [
    ['expired reservations whose unit the next request got', probes - 1 - stillReserved.length],
    ['longest response to such a request, with its repeats, ms', longestMs.toFixed(0)],
  ]
  const checks: CheckResult[] = [
    check('the units of an expired reservation can be reserved at its end', stillReserved, probes),
    check('an expired reservation is not found at its end', stillFound, probes),
    check('/inventory shows the end of a reservation at once', stillListed, probes),
  ]
  return { measurements, checks }
}
