import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { expireVouchers } from '../../src/backoffice/embedded/vouchers/decisions.ts'
import { raw, sql } from '../../src/database/db.ts'
import { changeSettings } from '../../src/store/tenancy/settings.ts'
import { startTestApi } from '../support/service.ts'
import {
  clearFailures,
  issueVoucher,
  listLedgerSteps,
  lockVoucher,
  stockGiftCards,
  voucherSettings,
} from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'
import { createImporter } from './import-command.ts'

let logText = ''
function captureLine(line: string) {
  logText += line
}
const api = await startTestApi({
  settings: voucherSettings,
  role: 'maintainer',
  log: pino({ level: 'trace' }, { write: captureLine }),
})
after(() => api.stop())
beforeEach(() => clearFailures(api))

const importFile = createImporter(api)
const header = 'number,pin,balance,originalAmount,expiryDate,status'
const importVouchers = (...lines: string[]) => importFile(api, 'vouchers', `${[header, ...lines].join('\n')}\n`)
const lookUp = (number: string, pin: string) => post(api, '/vouchers/lookup', { number, pin })
const validate = (number: string, pin: string, amount: string) =>
  post(api, '/vouchers/validate', { number, pin, amount })
const unbalancedQuery = sql`
  select v.number from voucher v where balance <> (select sum(amount) from voucher_entry e where e.service_id = v.service_id and e.number = v.number)`
test('an imported voucher can be validated, locked and drawn with its PIN', async () => {
  const { code, counts } = await importVouchers('GV-1,0042,110.00,150.00,2099-12-31,active')
  assert.deepEqual([code, counts], [0, [1, 1, 0, 0, 0]])
  const { status, email: _, ...voucher } = (await lookUp('GV-1', '0042')).json.data
  assert.deepEqual(
    [status, voucher],
    [
      'active',
      {
        ...voucher,
        originalAmount: '150.00',
        usedAmount: '40.00',
        availableAmount: '110.00',
        expiryDate: '2099-12-31',
      },
    ],
  )
  const { validationId } = (await validate('GV-1', '0042', '60.00')).json.data
  assert.equal((await lockVoucher(api, 'GV-1', validationId)).json.data.status, 'locked')
  assert.deepEqual(await listLedgerSteps(api, api, 'GV-1'), [
    'issue active',
    'lock locked',
    'redeem active',
    'lock locked',
  ])
  assert.deepEqual(await api.db.rows(unbalancedQuery), [])
})

test('five wrong PINs block an imported voucher like an issued one', async () => {
  await importVouchers('GV-2,0042,10.00,,,')
  for (let i = 0; i < 5; i++) assert.equal((await lookUp('GV-2', '9999')).status, 403)
  assert.deepEqual(
    [(await lookUp('GV-2', '0042')).status, (await lookUp('GV-2', '0042')).json.code],
    [403, 'voucher_not_accepted'],
  )
})

test('each foreign status is mapped and expired vouchers expire daily', async () => {
  const { code } = await importVouchers(
    'S1,1,0,20,,',
    'S2,1,20,,,pending',
    'S3,1,5,20,,suspended',
    'S4,1,5,20,,expired',
    'S5,1,20,20,2020-01-31,active',
    'S6,1,0,20,,suspended',
  )
  assert.equal(code, 0)
  const listStatuses = async () =>
    Promise.all(['S1', 'S2', 'S3', 'S4', 'S5', 'S6'].map(async number => (await lookUp(number, '1')).json.data.status))
  assert.deepEqual(await listStatuses(), ['redeemed', 'pending', 'suspended', 'expired', 'expired', 'redeemed'])
  assert.equal(await expireVouchers(api.db), 1)
  assert.deepEqual(await listLedgerSteps(api, api, 'S5'), ['issue active', 'expire expired'])
  assert.deepEqual((await listLedgerSteps(api, api, 'S3')).at(-1), 'suspend suspended')
  assert.deepEqual(await api.db.rows(unbalancedQuery), [])
})

test('a repeated import changes nothing; a newer file updates the ledger', async () => {
  const first = ['A1,1111,50.00,50.00,2099-01-31,active', 'A2,2222,50.00,50.00,,']
  await importVouchers(...first)
  const entries = sql`select number, entry, kind, amount::text, state from voucher_entry order by number, entry`
  const before = await api.db.rows(entries)
  assert.deepEqual((await importVouchers(...first)).counts, [2, 0, 0, 2, 0])
  assert.deepEqual(await api.db.rows(entries), before)
  const { counts } = await importVouchers(
    'A1,1111,20.00,50.00,2099-01-31,active',
    'A2,2345,60.00,40.00,2098-01-31,suspended',
  )
  assert.deepEqual(counts, [2, 0, 1, 0, 1])
  assert.deepEqual(await listLedgerSteps(api, api, 'A1'), ['issue active', 'lock locked', 'redeem active'])
  assert.equal((await importVouchers('A1,1111,35.00,50.00,2099-01-31,suspended')).counts[2], 1)
  assert.deepEqual((await listLedgerSteps(api, api, 'A1')).slice(3), ['refund active', 'suspend suspended'])
  const voucher = (await lookUp('A1', '1111')).json.data
  assert.deepEqual([voucher.status, voucher.usedAmount, voucher.availableAmount], ['suspended', '15.00', '0.00'])
  assert.deepEqual(await api.db.rows(unbalancedQuery), [])
})

test('a reloaded gift card is updated by a ledger entry', async () => {
  const getAmounts = async (number: string) => {
    const { originalAmount, usedAmount, availableAmount, status } = (await lookUp(number, '1')).json.data
    return [originalAmount, usedAmount, availableAmount, status]
  }
  assert.deepEqual(
    (await importVouchers('L1,1,60.00,50.00,,', 'L2,1,0,50.00,,', 'L3,1,50.00,,,suspended')).counts.slice(1),
    [...[3, 0, 0, 0]],
  )
  assert.deepEqual(await listLedgerSteps(api, api, 'L1'), ['issue active', 'load active'])
  assert.deepEqual(await getAmounts('L1'), ['60.00', '0.00', '60.00', 'active'])
  for (const [line, steps] of [
    ['L1,1,60.00,,,', []],
    ['L1,1,80.00,,,', ['load active']],
    ['L1,1,30.00,50.00,,', ['lock locked', 'redeem active']],
    ['L2,1,70.00,,,', ['load active', 'refund active']],
    ['L3,1,75.00,75.00,,suspended', ['resume active', 'load active', 'suspend suspended']],
  ] as const) {
    const number = line.slice(0, 2)
    const before = (await listLedgerSteps(api, api, number)).length
    assert.equal((await importVouchers(line)).code, 0, line)
    assert.deepEqual((await listLedgerSteps(api, api, number)).slice(before), steps, line)
  }
  assert.deepEqual(await getAmounts('L1'), ['80.00', '50.00', '30.00', 'active'])
  assert.deepEqual((await getAmounts('L2')).slice(0, 3), ['70.00', '0.00', '70.00'])
  const { reasons } = await importVouchers('L1,1,30.00,90.00,,', 'L1,1,30.00,40.00,,')
  assert.match(reasons.join(), /originalAmount can't change after the voucher was issued.*originalAmount can't change/)
  assert.deepEqual(await api.db.rows(unbalancedQuery), [])
})

test('a voucher used or issued here is not overwritten', async () => {
  await stockGiftCards(api, api)
  const issuedVoucher = (await issueVoucher(api)).json.data
  await importVouchers('U1,1111,50.00,,,')
  const { validationId } = (await validate('U1', '1111', '10.00')).json.data
  await lockVoucher(api, 'U1', validationId)
  const { code, reasons, counts } = await importVouchers(
    'U1,1111,50.00,,,',
    'U1,1111,40.00,,,',
    `${issuedVoucher.number},1111,7.00,,,`,
  )
  assert.deepEqual([code, counts], [2, [3, 0, 0, 1, 2]])
  const again = 'enter the pin again, because it is omitted here'
  assert.deepEqual(reasons, [
    `number belongs to a voucher that was locked, redeemed or suspended in Tillbridge, or has expired, since its import; ${again}`,
    `number belongs to a voucher that was issued in Tillbridge; ${again}`,
  ])
  assert.equal((await lookUp(issuedVoucher.number, issuedVoucher.pin)).json.data.availableAmount, '150.00')
})

test('concurrent locks and imports of vouchers keep ledgers consistent', async () => {
  const numbers = Array.from({ length: 40 }, (_, i) => `C${i}`)
  const buildLines = (balance: string) => numbers.map(number => `${number},1111,${balance},50.00,,`)
  await importVouchers(...buildLines('50.00'))
  const lockWithPin = async (number: string) => {
    const { validationId } = (await validate(number, '1111', '1.00')).json.data
    return lockVoucher(api, number, validationId)
  }
  const [{ counts }] = await Promise.all([
    importVouchers(...buildLines('20.00')),
    (async () => {
      for (const number of numbers) assert.equal((await lockWithPin(number)).status, 200)
    })(),
  ])
  assert.equal((counts[2] ?? 0) + (counts[4] ?? 0), 40)
  const inconsistent = sql`
    select number from voucher where number like 'C%' and (imported_entry, balance) not in ((1, 50), (3, 20))`
  assert.deepEqual(await api.db.rows(inconsistent), [])
  assert.deepEqual(await api.db.rows(unbalancedQuery), [])
})

test('inconsistent amounts are rejected', async () => {
  const { reasons } = await importVouchers(
    'R1,1,30.00,20.00,,pending',
    'R2,1,0,,,',
    'R3,1,-1,20.00,,',
    'R4,1,5.00,20.00,,redeemed',
    'R5,1,5.00,20.00,,pending',
    'R6,,5.00,20.00,,',
  )
  assert.deepEqual(
    reasons.map(reason => reason.replace(/; enter.*/, '')),
    [
      "status can't be pending if the balance differs from the original amount",
      'originalAmount is required and must be more than 0 if the balance is 0',
      'balance must be at least 0',
      "status can't be redeemed if the balance is more than 0",
      "status can't be pending if the balance differs from the original amount",
      'pin is required',
    ],
  )
})

test('PINs never appear in rejected files, output, logs or tables', async () => {
  const pins = ['73519246', '73519247', '73519248', '73519249', '73519250', '73519251', '73519252', '73519253']
  const [good, bad, long, quoted, field, other, broken, odd] = pins
  const runs = [
    await importVouchers(
      `P1,${good},10.00,,,`,
      `P2,${bad},ten,,,`,
      `P3,${long},10.00,,,,9`,
      `P4,"${quoted}"x,10.00,,,`,
    ),
    await importFile(
      api,
      'vouchers',
      `{"number":"P5","pin":${field},"balance":"1.00"}\n{"number":"P6","pin":"${other}","PIN":"${other}"}\n{"pin":"${broken}"\n["${odd}"]\n`,
      { file: 'v.ndjson' },
    ),
    // A file without a header, and a file whose PIN column has another name.
    await importFile(api, 'vouchers', `P7,${good},10.00\n`, { file: 'bare.csv' }),
    await importFile(api, 'vouchers', `number,code,note,balance\nP8,${bad},${bad},-5\n`, {
      file: 'mapped.csv',
      args: ['--map', 'pin=code', '--ignore', 'note'],
    }),
  ]
  assert.deepEqual(
    runs.map(({ code }) => code),
    [2, 2, 1, 2],
  )
  assert.match(
    runs[0]?.rejectedFile ?? '',
    /^3,balance,"must be an amount.*; enter the pin again, because it is omitted here",P2,,ten,,,$/m,
  )
  assert.match(
    runs[0]?.rejectedFile ?? '',
    /^4,,"The line must have 6 cells like the header, but has 7\. Its content is omitted, because it has a pin.*",,,,,,$/m,
  )
  assert.match(runs[3]?.rejectedFile ?? '', /enter the code again.*,P8,,,-5$/m)
  await lookUp('P1', good ?? '')
  await lookUp('P1', '000000')
  const tables = await api.db.rows<{ name: string }>(sql`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`)
  const dumps = await Promise.all(
    tables.map(({ name }) =>
      api.db.row<{ text: string }>(sql`select coalesce(string_agg(t::text, ' '), '') as text from ${raw(name)} t`),
    ),
  )
  const everything = JSON.stringify([runs, logText, dumps])
  assert.ok(everything.includes('P1') && logText.includes('/vouchers/lookup'))
  for (const pin of pins) assert.ok(!everything.includes(pin), pin)
  assert.equal((await lookUp('P1', good ?? '')).status, 200)
})

test('a corrected line with its PIN entered again is imported', async () => {
  const { rejectedFile } = await importVouchers('M1,4711,ten,,,')
  const corrected = rejectedFile.replace(',M1,,ten,', ',M1,4711,10,')
  assert.deepEqual((await importFile(api, 'vouchers', rejectedFile, { file: 'as-it-is.csv' })).counts, [1, 0, 0, 0, 1])
  assert.deepEqual((await importFile(api, 'vouchers', corrected, { file: 'corrected.csv' })).counts, [1, 1, 0, 0, 0])
  assert.equal((await lookUp('M1', '4711')).json.data.availableAmount, '10.00')
})

test('only a voucher in a foreign currency is rejected', async () => {
  const caller = await api.createService({ currency: 'AUD' })
  const importForCaller = (...lines: string[]) =>
    importFile(caller, 'vouchers', `number,pin,balance\n${lines.join('\n')}\n`)
  assert.equal((await importForCaller('A1,1,10.50')).code, 0)
  await api.db.transaction(tx => changeSettings(tx, caller.service, { currency: 'JPY' }))
  const { counts, reasons } = await importForCaller('A1,1,10', 'A2,1,10')
  assert.deepEqual([counts, reasons.length], [[2, 1, 0, 0, 1], 1])
  assert.match(reasons[0] ?? '', /^originalAmount can't change after the voucher was issued/)
})
