import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

for (const timeZone of ['UTC', 'Australia/Melbourne', 'Europe/London'])
  test(`a response uses times in ${timeZone} and a poll finds the record`, async () => {
    const caller = await api.createService({ timeZone })
    const rows = [{ id: 'c', firstname: 'Ann', startDate: '2021-03-25 00:00:00' }]
    await upsertCustomers(api.db, caller.service, rows)
    const changed = await api.db.row<{ at: Date }>(
      sql`select changed_at as at from customer where service_id = ${caller.service.id}`,
    )
    const localTime = Temporal.Instant.from(changed?.at.toISOString() ?? '')
      .toZonedDateTimeISO(timeZone)
      .toPlainDateTime()
    const { updateTimeStamp, startDate } = (await caller.get('/customers/c')).json.data
    assert.equal(
      updateTimeStamp,
      localTime.toString({ smallestUnit: 'second', roundingMode: 'floor' }).replace('T', ' '),
    )
    assert.equal(startDate, '2021-03-25 00:00:00', 'a stored local time must stay unchanged')
    const { json } = await caller.get(`/customers/search?${new URLSearchParams({ updated_after: updateTimeStamp })}`)
    assert.equal(json.data.length, 1)
    assert.equal(json.meta.timeZone, timeZone)
    assert.match(json.meta.asOf, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/)
  })
