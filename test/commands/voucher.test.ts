import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { install } from '../support/installations/installations.ts'
import {
  connectToDatabase,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  stopServer,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }
let server: RunningServer
before(async () => {
  server = await serve(['--no-demo'], await install(environment))
  await runSuccessfully(['service', 'add', 'luma', 'currency=AUD'], environment)
  await runSuccessfully(['service', 'add', 'other', 'currency=AUD'], environment)
  const database = await connectToDatabase(environment.DATA_DIR)
  await database.query(`
    insert into voucher (service_id, number, state, currency, original_amount, balance, expiry_date)
    select service_id, number, 'pending', 'AUD', 150, 0, '2099-12-31' from service, (values ('007'), ('008')) v (number) where name = 'luma'`)
  await database.query(`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until, locked_by)
    select service_id, number, entry, kind, amount, state, case state when 'locked' then now() + interval '1 hour' end, case state when 'locked' then 'webshop' end
      from service, (values ('007', 1, 'issue', 150, 'active'), ('007', 2, 'lock', 0, 'locked'), ('008', 1, 'issue', 150, 'pending')) e (number, entry, kind, amount, state)
     where name = 'luma' order by number, entry`)
  await database.end()
})
after(() => stopServer(server))

const luma = ['--service', 'luma']
const parseEntries = (output: string) =>
  [...output.matchAll(/^\S+ \S+ {2}(\w+) +(\S+) +(\w+)/gm)].map(([, ...step]) => step.join(' '))

test('a voucher is shown with its ledger, suspended and resumed', async () => {
  const shown = await runSuccessfully(['voucher', 'show', '007', ...luma], environment)
  assert.match(shown, /^status +locked$/m)
  assert.match(shown, /^availableAmount +150\.00$/m)
  assert.doesNotMatch(shown, /pin/i)
  assert.match(shown, /webshop/, 'the account that locked it must be shown')
  assert.match(shown, /^at \(UTC\) +entry /m)
  assert.equal(
    await runSuccessfully(['voucher', 'suspend', '007', ...luma], environment),
    'Voucher 007 is suspended.\n',
  )
  const repeated = await runCommand(['voucher', 'suspend', '007', ...luma], environment)
  assert.deepEqual(
    [repeated.code, repeated.err],
    [1, 'tillbridge: Only an active or locked voucher can be suspended; 007 is suspended.\n'],
  )
  assert.equal(await runSuccessfully(['voucher', 'resume', '007', ...luma], environment), 'Voucher 007 is active.\n')
  assert.deepEqual(parseEntries(await runSuccessfully(['voucher', 'show', '007', ...luma], environment)), [
    'issue 150.00 active',
    'lock 0.00 locked',
    'unlock 0.00 active',
    'suspend 0.00 suspended',
    'resume 0.00 active',
  ])
})

test('a voucher that was not issued yet is activated', async () => {
  assert.equal(await runSuccessfully(['voucher', 'activate', '008', ...luma], environment), 'Voucher 008 is active.\n')
  const { code, err } = await runCommand(['voucher', 'activate', '008', ...luma], environment)
  assert.deepEqual([code, err], [1, 'tillbridge: Only a pending voucher can be activated; 008 is active.\n'])
})

test("another service's voucher is not found", async () => {
  const commands = ['show', 'suspend', 'resume', 'activate']
  const outcomes = await Promise.all(
    commands.map(command => runCommand(['voucher', command, '007', '--service', 'other'], environment)),
  )
  for (const { code, out, err } of outcomes)
    assert.deepEqual([code, out, err], [1, '', 'tillbridge: Voucher 007 not found.\n'])
})
