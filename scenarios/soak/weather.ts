import { setTimeout as delay } from 'node:timers/promises'
import type { Simulator } from '../../simulator/control/handle.ts'
import type { FaultInput } from '../../simulator/faults/fault.ts'
import type { Random } from '../support/random.ts'

/** Writes that have effects, each alone: `POST /Persons` is none of orders. */
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

/** What goes wrong with any call: each with a chance to meet it, so that some get through. */
const faultsOfAny: readonly Fault[] = [
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

/** What goes wrong with writes: above all answers that are lost when the work is done. */
const faultsOfWrites: readonly Fault[] = [
  random => ({ kind: 'hang', applied: true, probability: 0.5, ...random.pick(writes) }),
  random => ({ kind: 'latency', seconds: random.pick([0.5, 1.6]), applied: true, ...random.pick(writes) }),
  random => ({ kind: 'lost-answer', probability: random.pick([0.3, 1]), ...random.pick(writes) }),
  random => ({ kind: 'lost-answer', probability: 0.8, ...random.pick(writes) }),
  random => ({ kind: 'html', status: random.pick([500, 502, 504]), applied: true, ...random.pick(writes) }),
  // A storm of 5010: somebody else is always faster.
  () => ({ kind: 'error', status: 400, code: 5010, method: 'PUT', path: '/Persons/*', probability: 0.7 }),
  random => ({
    kind: 'meanwhile',
    method: 'PUT',
    path: '/Persons/*',
    probability: 0.6,
    change: { kind: 'edit-person', fields: { jobTitle: `Storm ${random.whole(1, 9_999)}` } },
  }),
  random => ({ kind: 'error', code: 5015, status: 500, applied: true, ...random.pick(writes) }),
]

/** Lets faults come and go, alone and two together, until it is over; then all is well. Returns how often each kind met a request. */
export async function weather({ faults: set, refuse, accept }: Simulator, random: Random, isOver: () => boolean) {
  const met = new Map<string, number>()
  const count = (kind: string, times: number) => met.set(kind, (met.get(kind) ?? 0) + times)
  while (!isOver()) {
    await delay(random.whole(100, 900))
    if (random.chance(0.08)) {
      await refuse()
      count('refused connections', 1)
      await delay(random.whole(100, 1_500))
      await accept()
      continue
    }
    const some = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () =>
      set.add(random.pick(random.chance(0.55) ? faultsOfAny : faultsOfWrites)(random)),
    )
    await delay(random.whole(150, 1_800))
    for (const fault of some) {
      count(fault.kind, fault.met)
      set.remove(fault.id)
    }
  }
  set.clear()
  await accept()
  return met
}
