import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importAndWait, uploadFile } from '../support/import-and-wait.ts'
import { startTestApi } from '../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const header = 'id,saleDate,lineId,quantity,price\n'

/** Imports one sale per time. Returns their sale dates, or the reason if a line was rejected. */
async function readTimes(times: readonly string[], dateFormat?: string) {
  const caller = await api.createService({ timeZone: 'Europe/Berlin' })
  const lines = times.map((time, i) => `T${i},"${time}",1,1,10.00\n`)
  const query = dateFormat === undefined ? '' : `?date_format=${encodeURIComponent(dateFormat)}`
  const { rejected, path } = await importAndWait(caller, `transactions${query}`, header + lines.join(''))
  if (rejected) return (await caller.get(`${path}/rejected`)).json.data[0].reason
  return Promise.all(times.map(async (_, i) => (await caller.get(`/transactions/T${i}`)).json.data.saleDate))
}

test('times with an offset are converted to the service time zone', async () => {
  const times = [
    '2024-05-10T23:30:00Z',
    '2024-01-10T23:30:00Z',
    '2024-05-10 23:30:00 UTC',
    '2024-07-10 09:30:00 +0200',
    '2024-01-10 09:30:00 +0100',
    '2024-05-10T09:30:00.123-04:00',
    '2024-05-10T09:30+05',
  ]
  assert.deepEqual(await readTimes(times), [
    '2024-05-11 01:30:00',
    '2024-01-11 00:30:00',
    '2024-05-11 01:30:00',
    '2024-07-10 09:30:00',
    '2024-01-10 09:30:00',
    '2024-05-10 15:30:00',
    '2024-05-10 06:30:00',
  ])
})

test('fractions of a second are read', async () => {
  const times = ['2024-05-10 09:30:00.123', '2024-05-10T09:30:00.1234567', '2024-05-10 09:30:00,5']
  assert.deepEqual(await readTimes(times), Array(3).fill('2024-05-10 09:30:00'))
})

test('a date format can contain an offset and fractions', async () => {
  for (const [format, time, expected] of [
    ['YYYY-MM-DDTHH:MM:SSZ', '2024-05-10T23:30:00Z', '2024-05-11 01:30:00'],
    ['YYYY-MM-DD HH:MM:SS +0200', '2024-01-10 09:30:00 +0100', '2024-01-10 09:30:00'],
    ['YYYY-MM-DDTHH:MM:SS.SSSZ', '2024-05-10T09:30:00.000-04:00', '2024-05-10 15:30:00'],
    ['MMMM D, YYYY', 'May 10, 2024', '2024-05-10 00:00:00'],
    ['DD.MM.YYYY HH:MM', '10.05.2024 09:30', '2024-05-10 09:30:00'],
  ] as const)
    assert.deepEqual(await readTimes([time], format), [expected], format)
})

test('an offset that does not exist is rejected', async () => {
  assert.match(await readTimes(['2024-05-10T09:30:00+99:00']), /^must be a time: YYYY-MM-DD HH:MM:SS/)
})

test('an invalid date format is rejected and explained', async () => {
  const caller = await api.createService({ timeZone: 'Europe/Berlin' })
  for (const [format, reason] of [
    ['DD/MM/YYYY HH:mm', "can't have mm. Write minutes as MM after the hour, and months as MM before it."],
    ['yyyy-MM-dd', "can't have yyyy. Write years as YYYY or YY."],
    ['YYYY-MM-DD hh:MM', "can't have hh. Write hours as HH or H."],
    ['YYYY-MM-DD HH:MM:SS SS', 'can have SS only once.'],
    ['YYYY-MM-DD HH:MM:MM', 'can have MM only once after the hour.'],
    ['HH:MM', 'must have a year, a month and a day, such as DD.MM.YYYY, M/D/YYYY H:MM or DD-MMM-YY.'],
  ] as const) {
    const { status, json } = await uploadFile(caller, `transactions?date_format=${encodeURIComponent(format)}`, header)
    assert.deepEqual([status, json.errors?.[0]?.detail], [400, `${format} ${reason}`], format)
  }
})
