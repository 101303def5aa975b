import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildWebhookJobs } from '../../../src/jobs/jobs.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { createSender } from '../../../src/webhooks/sender.ts'
import { waitUntil as waitUntilMet } from '../../support/processes.ts'
import { captureLog } from '../../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts'
import { post } from '../../support/write.ts'

/** The value of `WEBHOOK_NETWORKS` that allows deliveries to this machine over HTTP. */
export const networks = ['127.0.0.0/8', '::1']

/** Sets up a service, an endpoint and workers for a test file. Clears them after each test. */
export function setUpWebhooks({ settings = {} } = {}) {
  let api: TestApi
  let receiver: Receiver
  const workers: Worker[] = []
  const logged = captureLog('info')
  const emails: string[] = []
  const mailTransport = { send: async ({ bytes }: { bytes: Buffer }) => void emails.push(bytes.toString()) }

  before(async () => {
    api = await startTestApi({ settings, environment: { WEBHOOK_NETWORKS: networks.join() } })
    receiver = await startReceiver()
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map(worker => worker.stop(0)))
    for (const table of [sql`webhook`, sql`job`, sql`alert`, sql`customer`, sql`tombstone`])
      await api.db.run(sql`delete from ${table}`)
    receiver.received.length = 0
    receiver.respond = (_, response) => void response.writeHead(204).end()
    logged.clear()
    emails.length = 0
  })
  after(async () => {
    await receiver.close()
    await api.stop()
  })
  /** Waits long enough for a retry that `makeDue` missed, which comes after 5 or 30 seconds. */
  const waitUntil = (condition: () => unknown, label: string, withinMs = 60_000) =>
    waitUntilMet(condition, label, withinMs).catch((error: Error) => assert.fail(`${error.message}\n${logged.text}`))

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
    emails,
    waitUntil,
    /** Starts a worker. It stops after the test. */
    startTestWorker({ db } = api, more = {}) {
      const worker = startWorker(
        { db, keys: api.keys, log: logged.log, mailTransport: mailTransport },
        { ...buildWebhookJobs(createSender(networks)), ...more },
      )
      workers.push(worker)
      return worker
    },
    /** Creates a webhook that delivers to the endpoint. */
    async createWebhook(more: object = {}, caller: Pick<Caller, 'request'> = api): Promise<CreatedWebhook> {
      const created = await post(caller, '/webhooks', { url: receiver.url, kinds: ['customer'], ...more })
      assert.equal(created.status, 201, created.text)
      return created.json.data
    },
    /** Creates customers with these first names, one change each. Returns their IDs. */
    async createCustomers(...names: string[]): Promise<string[]> {
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
    waitForDeliveries: (count: number, withinMs?: number) =>
      waitUntil(
        () => receiver.received.length >= count,
        `${count} deliveries, not ${receiver.received.length}`,
        withinMs,
      ),
    getWebhook: async (id: string) => (await api.get(`/webhooks/${id}`)).json.data,
    /** Makes the next attempt due now. */
    makeDue: () =>
      api.db.run(sql`
        with due as (update job set due_at = now(), rerun_at = case when lease is not null then now() end where name = 'deliver-webhook')
        update webhook set not_before = now()`),
  }
}

export interface CreatedWebhook {
  id: string
  secret: string
  cursor: string
}
