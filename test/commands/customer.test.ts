import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { install } from '../support/installations/installations.ts'
import {
  cli,
  connectToDatabase,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  stopServer,
  typeAnswer,
} from '../support/processes.ts'

const folder = createDirectory()
const environment = { DATA_DIR: join(folder, 'data') }
let server: RunningServer
let database: pg.Client
before(async () => {
  server = await serve(['--no-demo'], await install(environment))
  await runSuccessfully(['service', 'add', 'luma', 'currency=AUD'], environment)
  const files = {
    customers: 'id,firstname,surname,email\n1,John,Smith,john@example.com\n2,Jane,Lee,jane@example.com\n',
    transactions: 'id,saleDate,lineId,quantity,price,customerId\ns1,2024-05-01,1,1,2.50,1\n',
  }
  for (const [kind, text] of Object.entries(files)) {
    await writeFile(join(folder, `${kind}.csv`), text)
    await runSuccessfully(['import', kind, join(folder, `${kind}.csv`), '--service', 'luma'], environment)
  }
  database = await connectToDatabase(environment.DATA_DIR)
})
after(async () => {
  await database.end()
  await stopServer(server)
})

const listIds = async () => (await database.query('select id from customer order by id')).rows.map(({ id }) => id)

test('an export writes JSON to standard output or a private file', async () => {
  const exported = JSON.parse(await runSuccessfully(['customer', 'export', '1'], environment))
  assert.deepEqual([exported.customer.surname, exported.transactions.length], ['Smith', 1])
  const out = join(folder, '1.json')
  assert.equal(await runSuccessfully(['customer', 'export', '1', '--out', out], environment), `Written to ${out}.\n`)
  assert.deepEqual(JSON.parse(await readFile(out, 'utf8')), exported)
  assert.equal((await stat(out)).mode & 0o777, 0o600)
  const publicFile = join(folder, 'open.json')
  await writeFile(publicFile, 'older', { mode: 0o644 })
  await runSuccessfully(['customer', 'export', '1', '--out', publicFile], environment)
  assert.equal((await stat(publicFile)).mode & 0o777, 0o600)
  const { code, err } = await runCommand(['customer', 'export', '1', '--out', '/nowhere/1.json'], environment)
  assert.deepEqual([code, err], [1, "tillbridge: /nowhere/1.json can't be written: folder /nowhere not found.\n"])
})

test('an export ends silently if its reader stops', async () => {
  const script = `('${process.execPath}' '${cli}' "$@"; echo "code $?" >&2) | true`
  const { err } = await runCommand(['customer', 'export', '1'], environment, { program: ['sh', '-c', script, 'sh'] })
  assert.equal(err, 'code 0\n')
})

test('a customer is erased only after typing the identifier again', async () => {
  for (const answer of ['y', '2', '']) {
    const { code, err } = await runCommand(['customer', 'erase', '1'], environment, typeAnswer(answer))
    assert.equal(code, 1)
    assert.match(err, /^John Smith: 0 orders, 1 sale\. This can't be undone\.$/m)
    assert.match(err, /Nothing was erased\.$/m)
  }
  assert.deepEqual(await listIds(), ['1', '2'])
  assert.equal(await runSuccessfully(['customer', 'erase', '1'], environment, typeAnswer('1')), 'Customer 1 erased.\n')
  assert.deepEqual(await listIds(), ['2'])
  const { rows } = await database.query(`select customer_id, record::json->>'total' as total from retail_transaction`)
  assert.deepEqual(rows, [{ customer_id: null, total: '2.50' }])
  assert.equal((await database.query('select from erasure where completed_at is null')).rowCount, 0)
})

test('an unattended erasure needs no prompt and reports an unknown customer', async () => {
  for (let time = 0; time < 2; time++)
    assert.equal(await runSuccessfully(['customer', 'erase', '2', '--yes'], environment), 'Customer 2 erased.\n')
  assert.deepEqual(await listIds(), [])
  for (const command of [
    ['erase', '3', '--yes'],
    ['erase', '3'],
    ['export', '2'],
  ]) {
    const { code, err } = await runCommand(['customer', ...command], environment)
    assert.deepEqual([code, err], [1, `tillbridge: Customer ${command[1]} not found.\n`])
  }
})
