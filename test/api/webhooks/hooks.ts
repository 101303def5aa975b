import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildWebhookJobs } from '../../../src/jobs/jobs.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { createSender } from '../../../src/webhooks/sender.ts'
import { waitUntil as met } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts'
import { post } from '../../support/write.ts'

/** Networks of this machine, over HTTP: what `WEBHOOK_NETWORKS` is for. */
export const networks = ['127.0.0.0/8', '::1']

/** A service, an endpoint and workers in between: for a test file, emptied after each test. */
export function setUpHooks({ settings = {} } = {}) {
  let api: TestApi
  let receiver: Receiver
  const begun: Worker[] = []
  const logged = captureLog('info')
  const mails: string[] = []
  const keep = { send: async ({ bytes }: { bytes: Buffer }) => void mails.push(bytes.toString()) }

  before(async () => {
    api = await startTestApi({ settings, environment: { WEBHOOK_NETWORKS: networks.join() } })
    receiver = await startReceiver()
  })
  afterEach(async () => {
    await Promise.all(begun.splice(0).map(worker => worker.stop(0)))
    for (const table of [sql`webhook`, sql`job`, sql`alert`, sql`customer`, sql`tombstone`])
      await api.db.run(sql`delete from ${table}`)
    receiver.received.length = 0
    receiver.respond = (_, response) => void response.writeHead(204).end()
    logged.clear()
    mails.length = 0
  })
  after(async () => {
    await receiver.close()
    await api.stop()
  })
  /** Waits long enough for a retry that `makeDue` missed, which comes after 5 or 30 seconds. */
  const until = (condition: () => unknown, label: string, withinMs = 60_000) =>
    met(condition, label, withinMs).catch((error: Error) => assert.fail(`${error.message}\n${logged.text}`))

  return {
    get api() {
      return api
    },
    get receiver() {
      return receiver
    },
    get logged() {
      return logged.text
    },
    /** Sent emails. */
    mails,
    until,
    /** A worker; it is stopped after the test. */
    begin({ db } = api, more = {}) {
      const worker = startWorker(
        { db, keys: api.keys, log: logged.log, mailTransport: keep },
        { ...buildWebhookJobs(createSender(networks)), ...more },
      )
      begun.push(worker)
      return worker
    },
    /** Makes a webhook to the endpoint. */
    async hook(more: object = {}, caller: Pick<Caller, 'request'> = api): Promise<Hook> {
      const created = await post(caller, '/webhooks', { url: receiver.url, kinds: ['customer'], ...more })
      assert.equal(created.status, 201, created.text)
      return created.json.data
    },
    /** Customers by these names, one change each. */
    async customers(...names: string[]): Promise<string[]> {
      const ids: string[] = []
      for (const name of names) {
        const created = await post(api, '/customers', {
          firstname: name,
          surname: 'Smith',
          contact: { email: `${randomUUID()}@example.com` },
        })
        assert.equal(created.status, 201, created.text)
        ids.push(created.json.data.id)
      }
      return ids
    },
    received: (count: number, withinMs?: number) =>
      until(() => receiver.received.length >= count, `${count} deliveries, not ${receiver.received.length}`, withinMs),
    shown: async (id: string) => (await api.get(`/webhooks/${id}`)).json.data,
    /** As if the next attempt were due. */
    makeDue: () =>
      api.db.run(sql`
        with due as (update job set due_at = now(), rerun_at = case when lease is not null then now() end where name = 'deliver-webhook')
        update webhook set not_before = now()`),
  }
}

export interface Hook {
  id: string
  secret: string
  cursor: string
}
