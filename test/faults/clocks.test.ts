import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { type HttpsRequest, sendHttpsRequest } from '../support/https-request.ts'
import { createDirectory, type RunningServer, serve, stopServer, waitUntil } from '../support/processes.ts'
import { buildCredentials } from '../support/servers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { addVouchers, getValidationId, lockVoucher, pin, voucherSettings } from '../support/voucher-shop.ts'
import { post, withKey } from '../support/write.ts'

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const skip = existsSync(library) ? false : `there is no ${library}: apt-get install libfaketime`

describe('a server with a wrong clock next to a correct one', { skip }, () => {
  const clock = join(createDirectory(), 'clock')
  let right: TestApi
  let wrong: RunningServer
  let agent: Agent

  before(async () => {
    right = await startTestApi({ settings: voucherSettings })
    writeFileSync(clock, '+0')
    wrong = await serve(['--no-demo'], {
      DATA_DIR: join(createDirectory(), 'data'),
      DATABASE_URL: right.database.connection,
      SECRET_KEY: right.secret,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    })
    agent = new Agent({ keepAlive: true, ca: readFileSync(wrong.caFile ?? '') })
  })
  after(async () => {
    agent?.destroy()
    if (wrong) assert.deepEqual(await stopServer(wrong), { code: 0, signal: null })
    await right?.stop()
  })

  const ask = (request: HttpsRequest) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    sendHttpsRequest<any>(request, { baseUrl: wrong.baseUrl, agent, headers: buildCredentials(right) })
  /** The jobs that are not due within half an hour, and when they are. */
  const later = async () => {
    const jobs = await right.db.rows<{ job: string }>(sql`
      select concat_ws(' ', name, subject, due_at) as job from job where due_at > now() + interval '30 minutes'`)
    return jobs.map(({ job }) => job)
  }
  /** How many seconds there are between two instants. */
  const getSecondsBetween = (a: string, b: string) => Math.abs(Date.parse(a) - Date.parse(b)) / 1_000

  for (const [label, offset] of [
    ['is two hours ahead', '+2h'],
    ['is two hours behind', '-2h'],
    ['has jumped on by a day', '+26h'],
    ['has jumped back an hour', '-1h'],
  ] as const)
    test(`a clock that ${label} does not affect locks, repeats, reads or jobs`, async () => {
      const waiting = await later()
      writeFileSync(clock, offset)
      const shiftedMs = Number.parseInt(offset, 10) * 3_600_000
      const isShifted = async () => {
        const { headers } = await ask({ method: 'GET', path: '/stores' })
        return Math.abs(Date.parse(String(headers.date)) - Date.now() - shiftedMs) < 60_000
      }
      await waitUntil(isShifted, 'its clock is wrong')

      const [otherVoucher, ownVoucher, lastDayVoucher] = [`theirs ${offset}`, `ours ${offset}`, `last day ${offset}`]
      const today = Temporal.Now.plainDateISO(voucherSettings.timeZone).toString()
      await addVouchers(right, right, { [otherVoucher]: {}, [ownVoucher]: {}, [lastDayVoucher]: { expiryDate: today } })
      const validate = (number: string) =>
        ask({ method: 'POST', path: '/vouchers/validate', body: { number, pin, amount: '1.00' } })
      assert.equal((await lockVoucher(right, ownVoucher, await getValidationId(right, ownVoucher), 600)).status, 200)
      assert.equal((await validate(ownVoucher)).body.code, 'voucher_locked')
      const validationId = await getValidationId(right, otherVoucher)
      const path = `/vouchers/${encodeURIComponent(otherVoucher)}/lock`
      const locked = await ask({ method: 'PUT', path, body: { validationId, lockSeconds: 600 } })
      assert.equal(locked.status, 200, locked.text)
      const rejected = await post(right, '/vouchers/validate', { number: otherVoucher, pin, amount: '1.00' })
      assert.equal(rejected.json.code, 'voucher_locked')
      assert.equal((await validate(lastDayVoucher)).status, 200, 'it is still the last day of the voucher')

      const body = buildCustomer()
      const created = await ask({ method: 'POST', path: '/customers', body, key: `key ${offset}` })
      assert.equal(created.status, 201, created.text)
      const again = await post(right, '/customers', body, withKey(`key ${offset}`))
      assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true'])

      const [seen, expected] = [
        await ask({ method: 'GET', path: '/customers/search?limit=1' }),
        (await right.get('/customers/search?limit=1')).json,
      ]
      assert.ok(getSecondsBetween(seen.body.meta?.asOf ?? '', expected.meta.asOf) < 60)
      const since = encodeURIComponent(expected.meta.asOf)
      await post(right, '/customers', buildCustomer())
      const next = await ask({ method: 'GET', path: `/customers/search?updated_after=${since}` })
      assert.ok(next.body.data.length >= 1, 'what has changed since is seen')
      for (const job of waiting) assert.ok((await later()).includes(job), `${job} is done before its time`)
    })
})
