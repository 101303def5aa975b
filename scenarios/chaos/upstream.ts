import { setTimeout as delay } from 'node:timers/promises'
import { startSimulatorProcess } from '../../simulator/control/process.ts'
import type { FaultInput } from '../../simulator/faults/fault.ts'
import type { Keys } from '../../src/crypto/keys.ts'
import { type Database, type Db, sql } from '../../src/database/db.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { putBehind } from '../support/behind.ts'
import type { Random } from '../support/random.ts'

export const upstreamSettings: Partial<Settings> = {
  currency: 'AUD',
  timeZone: 'Australia/Melbourne',
  vouchersEnabled: true,
  giftCardSku: '9001',
  voucherType: 'GV_EMAIL',
  returnReasons: [{ code: 'SIZE', name: 'Wrong size' }],
}

/** A simulator of an Apparel21, which nobody kills, behind a service. */
export type Upstream = Awaited<ReturnType<typeof openBehind>>

export async function openBehind(db: Database, keys: Keys, service: Service) {
  const simulator = await startSimulatorProcess([
    '--stores',
    '4',
    '--styles',
    '12',
    '--persons',
    '40',
    '--vouchers',
    '20',
  ])
  await putBehind(db, keys, service, { url: simulator.url, gateways: ['card', 'gift-card'] })
  return simulator
}

const writes = [
  { method: 'POST', path: '/Persons' },
  { method: 'PUT', path: '/Persons/*' },
  { method: 'POST', path: '/Persons/*/Orders' },
  { method: 'POST', path: '/Persons/*/Orders/*/Returns' },
  { method: 'PUT', path: '/Voucher/Lock/*' },
] as const

const faults: readonly ((random: Random) => FaultInput)[] = [
  random => ({ kind: 'latency', seconds: random.pick([0.05, 0.4, 1]), probability: 0.5 }),
  random => ({ kind: 'latency', seconds: random.pick([0.4, 1]), applied: true, ...random.pick(writes) }),
  random => ({ kind: 'hang', times: 1, ...random.pick(writes) }),
  random => ({ kind: 'hang', applied: true, times: 1, ...random.pick(writes) }),
  random => ({ kind: 'lost-answer', times: 2, ...random.pick(writes) }),
]

/** One fault after another, until it is over. */
export async function weather({ remote }: Upstream, random: Random, isOver: () => boolean) {
  while (!isOver()) {
    await remote.addFault(random.pick(faults)(random))
    await delay(random.whole(200, 900))
    await remote.clearFaults()
    await delay(random.whole(50, 300))
  }
}

/** As when the time of all that is claimed and held is over, of the living and the dead: nobody has to wait for that. */
export async function timeIsUp(db: Db) {
  await db.run(sql`update intent set claimed_until = now() - interval '1 s', next_check_at = now()`)
  await db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
  await db.run(sql`update job set due_at = now() where name = 'settle-writes' and lease is null`)
}

/** The same, and whoever settles is taken for dead: another worker settles beside it. */
export async function takeOver(db: Db) {
  await timeIsUp(db)
  await db.run(sql`update job set leased_until = now() - interval '1 s', due_at = now() where name = 'settle-writes'`)
}
