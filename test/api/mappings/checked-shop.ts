import assert from 'node:assert/strict'
import { after } from 'node:test'
import { pino } from 'pino'
import { startWorker } from '../../../src/jobs/worker.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

/** Starts Tillbridge and a worker. Both stop after the tests of the file. */
export async function startWithWorker() {
  const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
  const log = pino({ level: 'silent' })
  const worker = startWorker({ db: api.db, keys: api.keys, log, mailTransport: { send: async () => {} } })
  after(async () => {
    await worker.stop(1_000)
    await api.stop()
  })
  return api
}

/** Checks all mappings. Returns the status by type. */
export async function checkMappings(caller: Caller) {
  assert.equal((await post(caller, '/mappings/check', {})).status, 202)
  const getStatus = async () => (await caller.get('/mappings/check')).json.data
  await waitUntil(
    async () => (await getStatus()).every((item: Record<string, unknown>) => item.checkedAt && !item.isRunning),
    'the mappings are checked',
    60_000,
  )
  return Object.fromEntries((await getStatus()).map(({ kind, ...fields }: Record<string, unknown>) => [kind, fields]))
}
export type Issue = Record<string, unknown> & {
  evidence: { reason: string; ecommerceId: string | null; id: string | null }[]
}
export const listIssues = async (caller: Caller, kind: string, query = ''): Promise<Issue[]> =>
  (await caller.get(`/mappings/issues/${kind}${query}`)).json.data
export const summarize = ({ id, state, ecommerceId, suggestion, evidence }: Issue) => [
  ...[id, state, ecommerceId, suggestion],
  evidence.map(item => [item.reason, item.id].filter(Boolean).join(' ')).join(),
]
export const listSummaries = async (caller: Caller, kind: string) => (await listIssues(caller, kind)).map(summarize)
export const createFix = (
  caller: Caller,
  kind: string,
  id: string,
  to: string | null,
  more: { from?: string | null } = {},
) => post(caller, '/mappings/fixes', { kind, id, to, ...more })
