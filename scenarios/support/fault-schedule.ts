import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../seed/random.ts'
import type { Simulator } from '../../simulator/control/handle.ts'
import type { FaultInput } from '../../simulator/faults/fault.ts'

/** Writes that change the back office. `POST /Persons` doesn't match orders. */
const writes: readonly Pick<FaultInput, 'method' | 'path'>[] = [
  { method: 'POST', path: '/Persons' },
  { method: 'PUT', path: '/Persons/*' },
  { method: 'POST', path: '/Persons/*/Orders' },
  { method: 'POST', path: '/Persons/*/Orders/*/Returns' },
  { method: 'PUT', path: '/Voucher/Lock/*' },
  { method: 'POST' },
  { method: 'PUT' },
]

type Fault = (random: Random) => FaultInput

/** Faults of any request. Most have a probability, so that some requests succeed. */
const generalFaults: readonly Fault[] = [
  random => ({ kind: 'down', probability: random.pick([0.5, 1]) }),
  random => ({ kind: 'hang', probability: random.pick([0.1, 0.4]) }),
  random => ({ kind: 'slow', bytesPerSecond: random.pick([1, 50, 400]), probability: 0.3 }),
  random => ({ kind: 'latency', seconds: random.pick([0.1, 0.5, 1.4]), probability: 0.5 }),
  random => ({ kind: 'reset-before', probability: random.pick([0.3, 1]) }),
  () => ({ kind: 'reset-during', probability: 0.4 }),
  () => ({ kind: 'truncated', probability: 0.4 }),
  () => ({ kind: 'malformed', probability: 0.4 }),
  random => ({ kind: 'html', status: random.pick([200, 403, 500, 502]), probability: 0.5 }),
  random => ({ kind: 'status', status: random.pick([429, 503]), retryAfter: 1, probability: random.pick([0.3, 1]) }),
  () => ({ kind: 'error', code: 5015, probability: 0.3 }),
  () => ({ kind: 'redirect', probability: 0.3 }),
  () => ({ kind: 'wrong-root', probability: 0.3 }),
  () => ({ kind: 'empty-body', probability: 0.3 }),
  () => ({ kind: 'same-page', probability: 0.5 }),
  () => ({ kind: 'shuffled', probability: 0.5 }),
  random => ({ kind: 'wrong-clock', seconds: random.pick([-300, -20, 20, 300]), probability: 0.5 }),
  () => ({ kind: 'reordered', method: 'GET', probability: 0.5 }),
  () => ({ kind: 'extra-elements', method: 'GET', probability: 0.5 }),
  () => ({ kind: 'carriage-returns', method: 'GET', path: '/Products', probability: 0.5 }),
  () => ({ kind: 'bom', probability: 0.5 }),
  () => ({ kind: 'no-declaration', probability: 0.5 }),
  () => ({ kind: 'dtd', probability: 0.2 }),
]

/** Faults of writes. In most of them, the response is lost after the write was applied. */
const writeFaults: readonly Fault[] = [
  random => ({ kind: 'hang', applied: true, probability: 0.5, ...random.pick(writes) }),
  random => ({ kind: 'latency', seconds: random.pick([0.5, 1.6]), applied: true, ...random.pick(writes) }),
  random => ({ kind: 'lost-response', probability: random.pick([0.3, 1]), ...random.pick(writes) }),
  random => ({ kind: 'lost-response', probability: 0.8, ...random.pick(writes) }),
  random => ({ kind: 'html', status: random.pick([500, 502, 504]), applied: true, ...random.pick(writes) }),
  // Error 5010: another client is always faster.
  () => ({ kind: 'error', status: 400, code: 5010, method: 'PUT', path: '/Persons/*', probability: 0.7 }),
  random => ({
    kind: 'concurrent-change',
    method: 'PUT',
    path: '/Persons/*',
    probability: 0.6,
    change: { kind: 'edit-person', fields: { jobTitle: `Storm ${random.integer(1, 9_999)}` } },
  }),
  random => ({ kind: 'error', code: 5015, status: 500, applied: true, ...random.pick(writes) }),
]

/** Faults that take time or lose responses, at most 1 s: a driver with production timeouts continues. */
const slowFaults: readonly Fault[] = [
  random => ({ kind: 'latency', seconds: random.pick([0.05, 0.4, 1]), probability: 0.5 }),
  random => ({ kind: 'latency', seconds: random.pick([0.4, 1]), applied: true, ...random.pick(writes) }),
  random => ({ kind: 'hang', times: 1, ...random.pick(writes) }),
  random => ({ kind: 'hang', applied: true, times: 1, ...random.pick(writes) }),
  random => ({ kind: 'lost-response', times: 2, ...random.pick(writes) }),
]

/** The faults of the back office: all kinds, or only slow and lost responses. */
export type FaultSchedule = 'all' | 'slow'

/** Starts and ends faults, one or two at a time, until `isOver`; then ends all. Returns how many requests met each kind. */
export async function runFaultSchedule(
  { faults, stopAccepting, accept }: Simulator,
  schedule: FaultSchedule,
  random: Random,
  isOver: () => boolean,
): Promise<Map<string, number>> {
  const requests = new Map<string, number>()
  const count = (kind: string, times: number) => requests.set(kind, (requests.get(kind) ?? 0) + times)
  const pickFault = () =>
    random.pick(schedule === 'slow' ? slowFaults : random.chance(0.55) ? generalFaults : writeFaults)(random)
  while (!isOver()) {
    await delay(random.integer(100, 900))
    if (schedule === 'all' && random.chance(0.08)) {
      await stopAccepting()
      count('rejected connections', 1)
      await delay(random.integer(100, 1_500))
      await accept()
      continue
    }
    const active = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => faults.add(pickFault()))
    await delay(random.integer(150, 1_800))
    for (const fault of active) {
      count(fault.kind, fault.matchCount)
      faults.remove(fault.id)
    }
  }
  faults.clear()
  await accept()
  return requests
}
