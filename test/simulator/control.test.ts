import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connectSimulator } from '../../simulator/control/process.ts'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator()
after(() => simulator.close())
const remote = connectSimulator(simulator.controlUrl)
const send = createSender(() => simulator.url)
beforeEach(() => remote.reset('1'))

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const main = `${checkout}/simulator/main.ts`

test('the ledger lists every request and effect with masked PINs', async () => {
  await send('Voucher/6000001?pin=1234')
  const valid = await send('Voucher/GVValid/6000001?PIN=1234&amount=1')
  await send(`Voucher/Lock/6000001?ValidationId=${findText(valid.xml, 'ValidationId')}`, { method: 'PUT' })
  await send('Voucher/6000001?pin=9')
  const { calls, effects, totals } = await remote.ledger()
  assert.equal(totals.calls, 4)
  assert.deepEqual(
    calls.map(call => [call.status, call.errorCode, call.effects]),
    [
      [200, null, []],
      [200, null, ['voucher validated']],
      [200, null, ['voucher locked']],
      [403, 5053, []],
    ],
  )
  assert.doesNotMatch(JSON.stringify(calls), /1234/)
  assert.deepEqual(
    effects.map(({ kind, id, request }) => [kind, id, request === null]),
    [
      ['voucher validated', '6000001', false],
      ['voucher locked', '6000001', false],
    ],
  )
  assert.equal((await remote.listEffects('voucher locked')).length, 1)
  assert.equal(simulator.ledger.findCalls({ path: '/voucher/*', status: 403 }).length, 1)
  await remote.clearLedger()
  assert.equal((await remote.ledger()).totals.effects, 0)
})

test('another process can control version, clock, faults and changes', async () => {
  await remote.set({ release: '2021.3' })
  assert.match((await send('', { country: '' })).text, /Release 2021\.3/)
  await assert.rejects(remote.set({ release: 'latest' }), /release can't be/)
  await assert.rejects(remote.set({ colour: 'red' } as never), /Setting colour not found/)
  await remote.set({ release: '2025.1' })
  const { now } = await remote.clock({ freeze: '2026-02-03T05:32:15Z' })
  assert.equal(now, '2026-02-03T05:32:15.000Z')
  await remote.addFault({ kind: 'html', times: 1 })
  assert.equal((await send('Stores')).status, 500)
  await assert.rejects(remote.addFault({ kind: 'gremlin' } as never), /kind must be one of/)
  await remote.clearFaults()
  await remote.change({ kind: 'edit-person', id: 3001, fields: { surname: 'Changed', billing: { city: 'Nowhere' } } })
  assert.equal(findText((await send('Persons/3001')).xml, 'Surname'), 'Changed')
  assert.equal(findText((await send('Persons/3001')).xml, 'UpdateTimeStamp'), '3/02/2026 4:32:15 PM')
  await assert.rejects(remote.change({ kind: 'edit-person', id: 3001, fields: { surname: 5 } }), /surname can't be/)
  await assert.rejects(remote.change({ kind: 'edit-person', id: 1, fields: {} }), /person 1 not found/)
})

test('a till sale changes stock and appears in a history', async () => {
  const [store] = simulator.state.stores.values()
  assert.ok(store)
  await remote.change({ kind: 'set-stock', skuId: 12001, storeId: store.id, quantity: 5 })
  const id = await remote.change({
    kind: 'till-sale',
    storeId: store.id,
    personId: 3001,
    lines: [{ skuId: 12001, quantity: 2 }],
  })
  const sku = simulator.state.skus.get(12001)
  assert.equal(simulator.state.stock.get(sku?.row ?? 0, store.column), 3)
  assert.match((await send('Persons/3001/RetailTransactions')).text, new RegExp(`<Id>${id}</Id>`))
})

test('a seed always produces the same shop', async () => {
  const readPersons = async () => (await send('Persons')).text.replace(/\d+\/\d+\/\d+ [^<]*/g, '')
  const first = await readPersons()
  await remote.change({ kind: 'edit-person', id: 3001, fields: { surname: 'Changed' } })
  assert.notEqual(await readPersons(), first)
  await remote.reset()
  assert.equal(await readPersons(), first)
  await remote.reset('2')
  assert.notEqual(await readPersons(), first)
})

test('a port goes down for a while on request', async () => {
  await remote.down(0.5)
  const isResponding = async () =>
    send('Stores').then(
      () => true,
      () => false,
    )
  while (await isResponding()) await new Promise(resolve => setTimeout(resolve, 10))
  while (!(await isResponding())) await new Promise(resolve => setTimeout(resolve, 50))
  assert.equal((await send('Stores')).status, 200)
})

test('a start page explains the simulator without external resources', async () => {
  await send('Persons?surname=%3Cscript%3E')
  await remote.addFault({ kind: 'slow', path: '/Stores' })
  const response = await fetch(simulator.controlUrl)
  assert.match(String(response.headers.get('content-type')), /text\/html/)
  const page = await response.text()
  for (const expected of ['2025.1', '300', 'slow', '/Stores', 'Persons?surname='])
    assert.ok(page.includes(expected), expected)
  assert.doesNotMatch(page, /<script|src=|href=/)
})

test('the control API accepts JSON only and hides passwords', async () => {
  const form = await fetch(`${simulator.controlUrl}/reset`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(form.status, 400)
  assert.equal((await fetch(`${simulator.controlUrl}/nothing`)).status, 404)
  await remote.set({ credentials: { user: 'shop', password: 'secret' } })
  assert.doesNotMatch(await (await fetch(`${simulator.controlUrl}/state`)).text(), /secret/)
  await remote.set({ credentials: null })
})

test('the exports have the columns of scheduled exports', async () => {
  const response = await fetch(`${simulator.controlUrl}/export/customers.csv`)
  assert.match(String(response.headers.get('content-disposition')), /customers_\d{8}T\d{6}Z\.csv/)
  const lines = (await response.text()).split('\r\n')
  assert.match(lines[0] ?? '', /^PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,ADRS1,.*RETAIL_REP,LAST_UPDATED/)
  assert.equal(lines.length, 302)
  for (const name of ['orders', 'rewards'])
    assert.equal((await fetch(`${simulator.controlUrl}/export/${name}.csv`)).status, 200)
})

/** Starts the simulator as a process. Returns the process, the API's URL and the exit event. */
async function startProcess(program: string, ...words: string[]) {
  const command = spawn(program, [...words, '--port', '0', '--release', '2021.3', '--persons', '5'], { cwd: checkout })
  let output = ''
  for await (const part of command.stdout) {
    output += part
    if (output.includes('Ctrl-C')) break
  }
  const url = /BACK_OFFICE_URL=(\S+)/.exec(output)?.[1] ?? ''
  return { command, url, exit: once(command, 'exit') }
}

test('the command prints connection details and stops on request', async () => {
  const { command, url, exit } = await startProcess(process.execPath, main)
  assert.match(await (await fetch(url)).text(), /Release 2021\.3/)
  command.kill('SIGINT')
  assert.deepEqual(await exit, [0, null])
})

test('a closed port reopens later and the process still stops', async () => {
  const { command, url, exit } = await startProcess(process.execPath, main)
  const { down } = connectSimulator(new URL('/_simulator', url).href)
  const isResponding = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await down(0.5)
  while (await isResponding()) await delay(10)
  while (!(await isResponding())) await delay(20)
  assert.equal(command.exitCode, null)
  await down(600)
  while (await isResponding()) await delay(10)
  command.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
})

test('a signal to `npm run simulator` stops the simulator', async () => {
  const { command, url, exit } = await startProcess('npm', 'run', '--silent', 'simulator', '--')
  assert.equal((await fetch(url)).status, 200)
  command.kill('SIGTERM')
  await exit
  const hasEnded = async () => !(await fetch(url).catch(() => undefined))
  for (const end = performance.now() + 5_000; !(await hasEnded()); await delay(50))
    assert.ok(performance.now() < end, 'the simulator must end with npm')
})

test('the command prints help and rejects unknown options', async () => {
  const runCommand = async (...words: string[]) => {
    const command = spawn(process.execPath, [main, ...words])
    let [stdout, stderr] = ['', '']
    command.stdout.on('data', part => {
      stdout += part
    })
    command.stderr.on('data', part => {
      stderr += part
    })
    const [status] = await once(command, 'close')
    return { status, stdout, stderr }
  }
  const [help, wrong] = await Promise.all([runCommand('--help'), runCommand('--now', 'today')])
  assert.equal(help.status, 0)
  assert.match(help.stdout, /Examples:[\s\S]*--stores 83 --skus 60000/)
  assert.deepEqual(
    [wrong.status, wrong.stderr.trim()],
    [1, 'simulator: today is not an instant such as 2026-02-03T10:00:00Z'],
  )
})

test('an impossible start is rejected', async () => {
  await assert.rejects(startSimulator({ release: '22' }), TypeError)
  await assert.rejects(startSimulator({ settings: { zone: 'Mars/Olympus' } }), TypeError)
})
