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
const skip = existsSync(library) ? false : `${library} is not installed (apt-get install libfaketime)`

describe('a server with a wrong clock next to a correct one', { skip }, () => {
  const clock = join(createDirectory(), 'clock')
  let correctApi: TestApi
  let shiftedServer: RunningServer
  let agent: Agent

  before(async () => {
    correctApi = await startTestApi({ settings: voucherSettings })
    writeFileSync(clock, '+0')
    shiftedServer = await serve(['--no-demo'], {
      DATA_DIR: join(createDirectory(), 'data'),
      DATABASE_URL: correctApi.database.connection,
      SECRET_KEY: correctApi.secret,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    })
    agent = new Agent({ keepAlive: true, ca: readFileSync(shiftedServer.caFile ?? '') })
  })
  after(async () => {
    agent?.destroy()
    if (shiftedServer) assert.deepEqual(await stopServer(shiftedServer), { code: 0, signal: null })
    await correctApi?.stop()
  })

  const sendRequest = (request: HttpsRequest) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    sendHttpsRequest<any>(request, { baseUrl: shiftedServer.baseUrl, agent, headers: buildCredentials(correctApi) })
  /** Returns the jobs that are not due within half an hour, with their due time. */
  const listLaterJobs = async () => {
    const jobs = await correctApi.db.rows<{ job: string }>(sql`
      select concat_ws(' ', name, subject, due_at) as job from job where due_at > now() + interval '30 minutes'`)
    return jobs.map(({ job }) => job)
  }
  /** Returns the seconds between two timestamps. */
  const getSecondsBetween = (a: string, b: string) => Math.abs(Date.parse(a) - Date.parse(b)) / 1_000

  for (const [label, offset] of [
    ['is two hours ahead', '+2h'],
    ['is two hours behind', '-2h'],
    ['has jumped on by a day', '+26h'],
    ['has jumped back an hour', '-1h'],
  ] as const)
    test(`a clock that ${label} does not affect locks, repeats, reads or jobs`, async () => {
      const laterJobs = await listLaterJobs()
      writeFileSync(clock, offset)
      const shiftedMs = Number.parseInt(offset, 10) * 3_600_000
      const isShifted = async () => {
        const { headers } = await sendRequest({ method: 'GET', path: '/stores' })
        return Math.abs(Date.parse(String(headers.date)) - Date.now() - shiftedMs) < 60_000
      }
      await waitUntil(isShifted, 'the clock is shifted')

      const [voucherLockedByShifted, voucherLockedByCorrect, lastDayVoucher] = [
        `shifted ${offset}`,
        `correct ${offset}`,
        `last day ${offset}`,
      ]
      const today = Temporal.Now.plainDateISO(voucherSettings.timeZone).toString()
      await addVouchers(correctApi, correctApi, {
        [voucherLockedByShifted]: {},
        [voucherLockedByCorrect]: {},
        [lastDayVoucher]: { expiryDate: today },
      })
      const validate = (number: string) =>
        sendRequest({ method: 'POST', path: '/vouchers/validate', body: { number, pin, amount: '1.00' } })
      assert.equal(
        (
          await lockVoucher(
            correctApi,
            voucherLockedByCorrect,
            await getValidationId(correctApi, voucherLockedByCorrect),
            600,
          )
        ).status,
        200,
      )
      assert.equal((await validate(voucherLockedByCorrect)).body.code, 'voucher_locked')
      const validationId = await getValidationId(correctApi, voucherLockedByShifted)
      const path = `/vouchers/${encodeURIComponent(voucherLockedByShifted)}/lock`
      const locked = await sendRequest({ method: 'PUT', path, body: { validationId, lockSeconds: 600 } })
      assert.equal(locked.status, 200, locked.text)
      const rejected = await post(correctApi, '/vouchers/validate', {
        number: voucherLockedByShifted,
        pin,
        amount: '1.00',
      })
      assert.equal(rejected.json.code, 'voucher_locked')
      assert.equal((await validate(lastDayVoucher)).status, 200, 'the voucher must be valid on its last day')

      const body = buildCustomer()
      const created = await sendRequest({ method: 'POST', path: '/customers', body, key: `key ${offset}` })
      assert.equal(created.status, 201, created.text)
      const repeated = await post(correctApi, '/customers', body, withKey(`key ${offset}`))
      assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true'])

      const [actual, expected] = [
        await sendRequest({ method: 'GET', path: '/customers/search?limit=1' }),
        (await correctApi.get('/customers/search?limit=1')).json,
      ]
      assert.ok(getSecondsBetween(actual.body.meta?.asOf ?? '', expected.meta.asOf) < 60)
      const since = encodeURIComponent(expected.meta.asOf)
      await post(correctApi, '/customers', buildCustomer())
      const next = await sendRequest({ method: 'GET', path: `/customers/search?updated_after=${since}` })
      assert.ok(next.body.data.length >= 1, 'later changes must be listed')
      for (const job of laterJobs) assert.ok((await listLaterJobs()).includes(job), `${job} ran too early`)
    })
})
