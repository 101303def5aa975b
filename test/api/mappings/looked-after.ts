import assert from 'node:assert/strict'
import { after } from 'node:test'
import { pino } from 'pino'
import { startWorker } from '../../../src/jobs/worker.ts'
import { until } from '../../support/processes.ts'
import { type Caller, startTestService } from '../../support/service.ts'
import { post } from '../../support/write.ts'

/** A service with a worker, both until the tests of the file have ended. */
export async function startWithWorker() {
  const api = await startTestService({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
  const log = pino({ level: 'silent' })
  const worker = startWorker({ db: api.db, keys: api.keys, log, post: { send: async () => {} } })
  after(async () => {
    await worker.stop(1_000)
    await api.stop()
  })
  return api
}

/** Has all judged, and answers how it stands by kind. */
export async function judged(shop: Caller) {
  assert.equal((await post(shop, '/mappings/doctor/run', {})).status, 202)
  const health = async () => (await shop.get('/mappings/doctor')).json.data
  await until(
    async () => (await health()).every((one: Record<string, unknown>) => one.judgedAt && !one.isJudging),
    'it is judged',
    60_000,
  )
  return Object.fromEntries((await health()).map(({ kind, ...rest }: Record<string, unknown>) => [kind, rest]))
}
export type Found = Record<string, unknown> & {
  evidence: { why: string; ecommerceId: string | null; id: string | null }[]
}
export const findings = async (shop: Caller, kind: string, query = ''): Promise<Found[]> =>
  (await shop.get(`/mappings/doctor/${kind}${query}`)).json.data
export const told = ({ id, state, ecommerceId, suggestion, evidence }: Found) => [
  ...[id, state, ecommerceId, suggestion],
  evidence.map(one => [one.why, one.id].filter(Boolean).join(' ')).join(),
]
export const shown = async (shop: Caller, kind: string) => (await findings(shop, kind)).map(told)
export const fix = (shop: Caller, kind: string, id: string, to: string | null, more: { from?: string | null } = {}) =>
  post(shop, '/mappings/doctor/fixes', { kind, id, to, ...more })
