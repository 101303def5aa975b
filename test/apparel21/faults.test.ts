/*
 * The faults of a back office, each caused for real and seen by a caller of the API. What is proven elsewhere, in their order:
 *
 *   refused; silent; byte by byte; a page; broken XML; oddities; document types; endless bodies; refusals; the password; redirects;
 *   certificates; references                       below
 *   somebody edits before a PUT: read, merge, 3 tries   apparel21-customers: "what the head office changes between our reading and writing
 *                                                  is kept", "after three such changes it is given up, and nothing is written"
 *   a PUT clears what it does not send             apparel21-customers: "nothing that a change does not mention is cleared", "answers in
 *                                                  another order, ... do not harm what is written back", "two changes at once ..."
 *   up and down; pages; the clock; Retry-After     below
 *   local times                                    apparel21-paging: "the hour that the clock shows twice is read from its beginning"
 *   answers to writes that are lost, or are pages  apparel21-customers, -orders, -returns, -vouchers, -voucher-sales
 *   a process that is killed on the way            apparel21-crashes
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts'
import type { Limits } from '../../src/backoffice/apparel21/calls/connection.ts'
import { feedsOf } from '../../src/backoffice/apparel21/pull/feeds.ts'
import { syncFeed } from '../../src/backoffice/sync/sync.ts'
import type { BackOffice } from '../../src/domain/port/backoffice.ts'
import type { BackOfficeSettings } from '../../src/domain/port/settings.ts'
import type { Service } from '../../src/settings.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { listAlerts } from '../../src/store/running/alerts.ts'
import { setBackOffice } from '../../src/store/running/back-office.ts'
import { upsertGateways } from '../../src/store/running/gateways.ts'
import { issueCertificate } from '../../src/tls/issue.ts'
import { behind, settings } from '../drivers/apparel21.ts'
import { john } from '../support/customer-bodies.ts'
import { address } from '../support/order-shop.ts'
import { isProblem } from '../support/problem.ts'
import { until } from '../support/processes.ts'
import { type Answer, type Caller, startTestService, type TestService } from '../support/service.ts'
import { post, put } from '../support/write.ts'
import { count } from './shop.ts'

/** Short, so that nobody waits for deadlines. */
const short = { deadlineMs: 700, patienceMs: 0 }
const account = `<RewardAccount><Id>7</Id><ProgramId>1</ProgramId><ProgramName>R</ProgramName><PersonId>3001</PersonId><PointsList Type="Array" /></RewardAccount>`
const keyed = () => ({ 'idempotency-key': randomUUID() })

let simulator: Simulator
/** In front of back offices that a test chooses, with limits of its own. */
let api: TestService
/** Another process of the same installation, in front of those that are set, as an operator sets them. */
let front: TestService
const offices = new Map<number, (service: Service) => BackOffice>()
const logged: string[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
const closing: (() => unknown)[] = []

before(async () => {
  simulator = await startSimulator({ sizes: { stores: 3, styles: 6, persons: 25, vouchers: 1 } })
  api = await startTestService({
    settings,
    role: 'maintainer',
    backOffice: service => (offices.get(service.id) ?? assert.fail('each has one'))(service),
  })
  await openFront()
})
after(async () => {
  for (const close of closing) await close()
  await front?.stop()
  await api?.stop()
  await simulator?.close()
})
afterEach(async () => {
  simulator.faults.clear()
  simulator.ledger.clear()
  await simulator.accept()
})

/** A service in front of a back office. */
interface Fronted extends Caller {
  sync(feed: string): ReturnType<typeof syncFeed>
}

async function fronting(url: string, limits: Partial<Limits> = short): Promise<Fronted> {
  const caller = await api.tenant(settings)
  const told = (facts: object, message: string) => log.warn({ ...facts, service: caller.service.name }, message)
  const { client, release, backOffice } = behind({ url }, { limits, log: { info: told, warn: told } })
  closing.push(() => client.close())
  offices.set(caller.service.id, backOffice)
  const feeds = feedsOf(client, release)
  const sync = (name: string) => {
    const feed = feeds.find(one => one.name === name) ?? assert.fail(name)
    return syncFeed(api.db, caller.service, feed, { full: true })
  }
  return { ...caller, sync }
}

async function listening<S extends Server>(server: S) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  closing.push(() => {
    server.close()
    cut()
  })
  return { port: (server.address() as AddressInfo).port, sockets, cut }
}

/** A server of our own in the back office's place. */
async function serving(listener: RequestListener, tls?: { key: string; cert: string }) {
  const { port } = await listening(tls ? createSecureServer(tls, listener) : createServer(listener))
  return `${tls ? 'https' : 'http'}://127.0.0.1:${port}/RetailAPI`
}

async function speaking(speak: (socket: Socket) => void) {
  const { port, ...rest } = await listening(createTcpServer(speak))
  return { url: `http://127.0.0.1:${port}/RetailAPI`, ...rest }
}

const anAccount = () => [...simulator.state.accounts.values()][0] ?? assert.fail('somebody has rewards')
const live = () => `/rewards/accounts/${anAccount().id}`
const aPerson = () => [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail()
const isAway = (answer: Answer, baseUrl = api.baseUrl) => {
  isProblem(answer, 'back_office_unavailable', baseUrl)
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
}
const isNonsense = (answer: Answer, what = '') => {
  assert.equal(answer.json?.code, 'back_office_error', `${what} ${answer.text}`)
  isProblem(answer, 'back_office_error', api.baseUrl)
  assert.doesNotMatch(answer.text.replaceAll(api.baseUrl, ''), /<|html|127\.0\.0\.1|RetailAPI/i, what)
}
async function took(work: Promise<Answer>) {
  const began = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - began }
}
const megabytes = () => process.memoryUsage.rss() / 1024 ** 2
/** The most that memory grows by while something runs. */
async function growth(work: () => Promise<unknown>) {
  const before = megabytes()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, megabytes())
  }, 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(most, megabytes()) - before
}

/** Services whose back office is set as an operator sets it, before the process that serves them starts. */
async function set(back: Omit<BackOfficeSettings, 'driver' | 'country'>) {
  const { service } = await api.tenant(settings)
  await setBackOffice(api.db, api.keys, service, { driver: 'apparel21', country: 'AU', ...back })
  return service
}

let silent: Awaited<ReturnType<typeof speaking>>
let isSilent = true
let guarded: Simulator
let services: Record<'silent' | 'denied' | 'good' | 'untrusted' | 'otherCa' | 'expired' | 'wrongHost' | 'fed', Service>
let secured = 0
async function openFront() {
  silent = await speaking(socket => {
    if (!isSilent) socket.destroy()
  })
  guarded = await startSimulator({
    sizes: { stores: 1, styles: 1, persons: 3, vouchers: 0 },
    settings: { credentials: { user: 'till', password: 'the-right-one' } },
  })
  closing.push(() => guarded.close())
  const [good, expired, wrongHost] = [
    await tlsServer(),
    await tlsServer({ ended: true }),
    await tlsServer({ host: 'a.example' }),
  ]
  services = {
    silent: await set({ url: silent.url }),
    denied: await set({ url: guarded.url, user: 'till', password: 'the-wrong-one' }),
    good: await set({ url: good.url, ca: good.ca }),
    untrusted: await set({ url: good.url }),
    otherCa: await set({ url: good.url, ca: expired.ca }),
    expired: await set({ url: expired.url, ca: expired.ca }),
    wrongHost: await set({ url: wrongHost.url, ca: wrongHost.ca }),
    fed: await set({ url: simulator.url }),
  }
  front = await startTestService({ beside: api, log })
}

/** A back office with a certificate of an authority of its own. */
async function tlsServer({ ended = false, host = '127.0.0.1' } = {}) {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const [caKey, key] = [pair(), pair()]
  const at = (days: number) => new Date(Date.now() + days * 86_400_000)
  const of = (name: string) => (/\d$/.test(name) ? { names: [], addresses: [name] } : { names: [name], addresses: [] })
  const authority = { subject: `Retail authority ${randomUUID().slice(0, 8)}`, key: caKey }
  const ca = issueCertificate({ ...authority, hosts: of(host), notBefore: at(-400), notAfter: at(400) })
  const [notBefore, notAfter] = ended ? [at(-30), at(-1)] : [at(-1), at(30)]
  const cert = issueCertificate({ subject: 'retail', key, hosts: of(host), notBefore, notAfter, authority })
  const url = await serving(
    (_, response) => {
      secured++
      response.end(account)
    },
    { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() },
  )
  return { url, ca }
}

test('connections are refused: lists go on with their age, what is live is 503, nothing is written, and it all comes back', async () => {
  const caller = await front.account('maintainer', services.fed)
  const { client, release } = behind(simulator)
  closing.push(() => client.close())
  for (const feed of feedsOf(client, release)) await syncFeed(api.db, services.fed, feed)
  const lists = ['/stores', '/inventory', '/products', '/customers/search', '/orders/transactions/search']
  await until(
    async () => (await caller.get('/orders/transactions/search')).json.meta.syncedAt !== undefined,
    'the process has looked',
  )
  const shown = new Map<string, Answer>()
  for (const path of lists) shown.set(path, await caller.get(path))
  await simulator.refuse()
  for (const [path, was] of shown) {
    const { status, json } = await caller.get(path)
    assert.equal(status, 200, path)
    assert.ok(json.data.length > 0, path)
    assert.deepEqual(json.data, was.json.data, path)
    assert.match(json.meta.syncedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, path)
    assert.equal(json.meta.syncedAt, was.json.meta.syncedAt, path)
  }
  const customers = await count(caller, api, 'customer')
  const [body, key] = [john(), keyed()]
  isAway(await caller.get(live()), front.baseUrl)
  isAway(await post(caller, '/customers', body, key), front.baseUrl)
  isAway(await post(caller, '/vouchers/lookup', { number: '6000001', pin: '1234' }), front.baseUrl)
  assert.equal((await caller.get('/health/ready')).status, 200)
  assert.equal(await count(caller, api, 'customer'), customers)
  assert.equal(await count(caller, api, 'idempotent_answer'), 0, 'the key is not used up')
  await simulator.accept()
  await until(async () => (await caller.get(live())).status === 200, 'it is asked again', 15_000)
  assert.equal((await post(caller, '/customers', body, key)).status, 201)
  assert.equal(simulator.ledger.effectsOf('person created').length, 1)
})

test('a back office that never answers costs its own service alone, also where more write than there are connections', async () => {
  isSilent = true
  const hung = await front.account('maintainer', services.silent)
  const other = await front.account('maintainer', services.fed)
  const writes = Array.from({ length: 14 }, () => post(hung, '/customers', john(), keyed()))
  const reads = Array.from({ length: 4 }, () => hung.get(live()))
  await until(() => silent.sockets.size >= 4, 'calls are under way')
  for (let i = 0; i < 3; i++) {
    const made = await took(post(other, '/customers', john(), keyed()))
    assert.equal(made.answer.status, 201, made.answer.text)
    const read = await took(other.get(live()))
    assert.equal(read.answer.status, 200, read.answer.text)
    assert.ok(made.ms < 2_000 && read.ms < 1_000, `${made.ms} ms, ${read.ms} ms`)
  }
  assert.equal((await hung.get('/customers/search')).status, 200)
  isSilent = false
  silent.cut()
  for (const answer of await Promise.all([...writes, ...reads])) isAway(answer, front.baseUrl)
})

test('a back office that never answers is given up at the deadline; after five times nothing is asked for a while', async () => {
  const seen: string[] = []
  const { url } = await speaking(socket => socket.on('data', bytes => seen.push(String(bytes).slice(0, 4).trim())))
  const caller = await fronting(url, { ...short, deadlineMs: 300, openMs: 60_000 })
  for (let i = 0; i < 5; i++) {
    const { answer, ms } = await took(caller.get('/rewards/accounts/7'))
    isAway(answer)
    assert.ok(ms > 290 && ms < 1_500, `${ms} ms`)
  }
  const asked = seen.length
  for (let i = 0; i < 5; i++) {
    const { answer, ms } = await took(caller.get('/rewards/accounts/7'))
    isAway(answer)
    assert.ok(ms < 250 && Number(answer.headers['retry-after']) > 30, `${ms} ms`)
  }
  isAway(await post(caller, '/customers', john(), keyed()))
  assert.equal(seen.length, asked)
  const other = await fronting(simulator.url)
  assert.equal((await other.get(live())).status, 200)

  const writer = await fronting(simulator.url)
  simulator.faults.add({ kind: 'hang', method: 'POST', path: '/Persons' })
  const { answer, ms } = await took(post(writer, '/customers', john(), keyed()))
  isProblem(answer, 'outcome_unknown', api.baseUrl)
  assert.ok(ms > 690 && ms < 2_500, `${ms} ms`)
  assert.equal(await count(writer, api, 'customer'), 0)
})

test('an answer that comes byte by byte ends at the deadline, in its head and in its body', async () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: ${account.length}\r\n\r\n`
  for (const [where, at] of [
    ['head', 10],
    ['body', head.length + 10],
  ] as const) {
    const { url } = await speaking(socket =>
      socket.once('data', () => {
        const whole = head + account
        socket.write(whole.slice(0, at))
        let sent = at
        const timer = setInterval(() => socket.write(whole.charAt(sent++)), 60)
        socket.once('close', () => clearInterval(timer))
      }),
    )
    const caller = await fronting(url, { ...short, breakerFailures: 2, openMs: 60_000 })
    for (let i = 0; i < 2; i++) {
      const { answer, ms } = await took(caller.get('/rewards/accounts/7'))
      isAway(answer)
      assert.ok(ms > 690 && ms < 2_000, `${where}: ${ms} ms`)
    }
    const { answer, ms } = await took(caller.get('/rewards/accounts/7'))
    isAway(answer)
    assert.ok(ms < 250, `${where}: it goes on being asked`)
  }
})

test('a page of the web server is 502, whatever its status, and nothing of it passes through', async () => {
  const caller = await fronting(simulator.url)
  for (const status of [500, 200, 400, 404]) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'html', status })
    isNonsense(await caller.get(live()), `${status}`)
    isNonsense(await post(caller, '/customers', john()), `${status}`)
  }
  assert.equal(await count(caller, api, 'customer'), 0)
})

test('XML that is cut off or broken is asked for once more, and then is 502; nothing is stored of it', async () => {
  const person = aPerson()
  for (const kind of ['truncated', 'malformed'] as const) {
    const caller = await fronting(simulator.url)
    for (const feed of ['references', 'stores', 'customers']) await caller.sync(feed)
    const shown = async () => (await caller.get('/customers/search')).json.data
    const before = await shown()
    simulator.ledger.clear()
    const fault = simulator.faults.add({ kind, times: 1 })
    assert.equal((await caller.get(live())).status, 200)
    assert.deepEqual([fault.met, simulator.ledger.calls.length], [1, 2], kind)
    simulator.ledger.clear()
    simulator.faults.add({ kind })
    isNonsense(await caller.get(live()), kind)
    assert.equal(simulator.ledger.calls.length, 2, kind)
    simulator.change({ kind: 'edit-person', id: person.id, fields: { jobTitle: kind, surname: `S ${kind}` } })
    isNonsense(await put(caller, `/customers/${person.id}`, { title: 'Dr' }), kind)
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.deepEqual(await shown(), before, kind)
    assert.deepEqual([await count(caller, api, 'audit'), simulator.ledger.callsTo({ method: 'PUT' }).length], [0, 0])
    simulator.faults.clear()
    await caller.sync('customers')
    const { json } = await caller.get(`/customers/${person.id}`)
    assert.deepEqual([json.data.surname, json.data.title], [`S ${kind}`, person.title || null])
  }
})

test('oddities that change no meaning are read as if they were not there; another root is 502', async () => {
  const caller = await fronting(simulator.url)
  for (const feed of ['references', 'stores', 'products', 'customers']) await caller.sync(feed)
  const shown = async () => [
    (await caller.get(live())).json.data,
    ...(await Promise.all(['/customers/search', '/products'].map(async path => (await caller.get(path)).json.data))),
  ]
  const before = await shown()
  assert.ok(before[1].length >= 25 && before[2].length > 3)
  for (const kind of [
    'bom',
    'no-declaration',
    'extra-elements',
    'trailing-blanks',
    'carriage-returns',
    'reordered',
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add({ kind })
    for (const feed of ['customers', 'products']) assert.equal((await caller.sync(feed))?.refused, 0, kind)
    assert.deepEqual(await shown(), before, kind)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'wrong-root', root: 'Unexpected' })
  isNonsense(await caller.get(live()))
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  simulator.faults.clear()
  assert.deepEqual(await shown(), before)
})

test('a document type is 502: no entity explodes, no file is read, and nobody is called', async t => {
  const file = join(tmpdir(), `tillbridge-${randomUUID()}.txt`)
  writeFileSync(file, 'canary-of-a-file')
  t.after(() => rmSync(file))
  let called = 0
  const elsewhere = await serving((_, response) => {
    called++
    response.end('<!ENTITY x "canary-of-a-file">')
  })
  const bomb = Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')
  const documents = [
    `<!DOCTYPE a [<!ENTITY a0 "${'ha'.repeat(50)}">${bomb}]>${account.replace('>R<', '>&a12;<')}`,
    `<!DOCTYPE a [<!ENTITY f SYSTEM "file://${file}">]>${account.replace('>R<', '>&f;<')}`,
    `<!DOCTYPE a SYSTEM "${elsewhere}/a.dtd">${account}`,
    `<!DOCTYPE a [<!ENTITY % p SYSTEM "${elsewhere}/p">%p;]>${account.replace('>R<', '>&x;<')}`,
    account.replace('>R<', '>&a12;<'),
  ]
  let next = ''
  const caller = await fronting(await serving((_, response) => response.end(`<?xml version="1.0"?>${next}`)))
  next = account
  assert.equal((await caller.get('/rewards/accounts/7')).status, 200, 'it is the document type that is refused')
  const grown = await growth(async () => {
    for (next of documents) {
      const { answer, ms } = await took(caller.get('/rewards/accounts/7'))
      isNonsense(answer, next.slice(0, 60))
      assert.doesNotMatch(answer.text, /canary/)
      assert.ok(ms < 1_000, `${ms} ms`)
    }
  })
  assert.equal(called, 0)
  assert.doesNotMatch(logged.join(''), /canary-of-a-file/)
  assert.ok(grown < 60, `${grown} MB`)
})

test('a body of a gigabyte, or without an end, is cut off: 502, and memory stays', async () => {
  let sent = 0
  const piece = Buffer.from(`<Gift><IssueId>1</IssueId><GiftName>${'x'.repeat(900)}</GiftName></Gift>\n`.repeat(64))
  const bodies: Record<string, RequestListener> = {
    'a gigabyte': (_, response) => {
      response.setHeader('content-length', 1024 ** 3)
      pour(response, 200)
    },
    'no end': (_, response) => pour(response, 200),
    'a page without an end': (_, response) => pour(response, 500),
  }
  function pour(response: Parameters<RequestListener>[1], status: number) {
    response.statusCode = status
    response.write('<RewardAccount><GiftList Type="Array">')
    const more = () => {
      while (!response.destroyed) {
        sent += piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
    }
    more()
  }
  for (const [what, listener] of Object.entries(bodies)) {
    const caller = await fronting(await serving(listener), { patienceMs: 0 })
    sent = 0
    const grown = await growth(async () => isNonsense(await caller.get('/rewards/accounts/7'), what))
    assert.ok(sent < 64 * 1024 ** 2, `${what}: ${sent} bytes`)
    assert.ok(grown < 160, `${what}: ${grown} MB`)
  }
})

test('what the back office does not have is 404, what it refuses is 4xx or 502 in our words', async () => {
  const caller = await fronting(simulator.url)
  isProblem(await caller.get('/rewards/accounts/999999'), 'not_found', api.baseUrl, '/rewards/accounts/999999')
  isProblem(await put(caller, '/customers/999999', { title: 'Dr' }), 'not_found', api.baseUrl, '/customers/999999')
  simulator.faults.add({ kind: 'error', status: 404, code: 5008, path: '/Persons' })
  assert.equal((await caller.sync('customers'))?.read, 0)
  assert.deepEqual((await caller.get('/customers/search')).json.data, [])
  const description = `ORA-00942 at http://127.0.0.1/RetailAPI <b>secret</b>`
  for (const [status, code] of [
    [403, 5999],
    [403, 5030],
    [400, 5151],
    [500, 5015],
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'error', status, code, description })
    const answer = await caller.get(live())
    isNonsense(answer, `${code}`)
    assert.doesNotMatch(answer.text, /ORA|secret|5999|5015/)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'error', status: 403, code: 5006, description, method: 'POST', path: '/Persons' })
  isProblem(await post(caller, '/customers', john()), 'email_taken', api.baseUrl, '/customers')
})

test('a password that is refused is 503 without trying again and again, raises an alert, and the right one settles it', async () => {
  const caller = await front.account('maintainer', services.denied)
  guarded.ledger.clear()
  const alerts = async () => (await listAlerts(api.db)).filter(({ kind }) => kind === 'back_office_denied')
  for (let i = 0; i < 20; i++) {
    const answer = i % 2 ? await post(caller, '/customers', john(), keyed()) : await caller.get(live())
    isAway(answer, front.baseUrl)
    assert.ok(Number(answer.headers['retry-after']) > 30, answer.text)
  }
  assert.equal(guarded.ledger.calls.length, 1)
  await until(async () => (await alerts()).length > 0, 'there is an alert')
  const [alert, ...others] = await alerts()
  assert.deepEqual([alert?.service, alert?.times, others], [services.denied.name, 1, []])
  const right = { url: guarded.url, user: 'till', password: 'the-right-one' }
  await setBackOffice(api.db, api.keys, services.denied, { driver: 'apparel21', country: 'AU', ...right })
  const [known] = guarded.state.accounts.keys()
  const path = known === undefined ? '/rewards/accounts/1' : `/rewards/accounts/${known}`
  await until(async () => [200, 404].includes((await caller.get(path)).status), 'the right one is in force', 6_000)
  await until(async () => (await alerts()).length === 0, 'the alert is settled')
  assert.doesNotMatch(logged.join('') + JSON.stringify(alert), /the-wrong-one|the-right-one/)
})

test('a redirect is not followed, and the credentials go nowhere', async () => {
  const elsewhere: unknown[] = []
  const other = await serving((request, response) => {
    elsewhere.push(request.headers.authorization)
    response.end(account)
  })
  let status = 302
  const url = await serving((_, response) => {
    response.writeHead(status, { location: `${other}/Rewards/Accounts/7` }).end(account)
  })
  const caller = await fronting(url)
  for (status of [301, 302, 303, 307, 308]) {
    isNonsense(await caller.get('/rewards/accounts/7'), `${status}`)
    isNonsense(await post(caller, '/customers', john(), keyed()), `${status}`)
  }
  assert.deepEqual(elsewhere, [])
})

test('a certificate that is expired, of another host or of nobody known is refused; a CA file helps, a switch of the process does not', async t => {
  const asked = async (service: Service) => (await front.account('visitor', service)).get('/rewards/accounts/7')
  const bad = ['untrusted', 'otherCa', 'expired', 'wrongHost'] as const
  assert.equal((await asked(services.good)).status, 200)
  assert.equal(secured, 1)
  for (const name of bad) isAway(await asked(services[name]), front.baseUrl)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  t.after(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  for (const name of bad) isAway(await asked(services[name]), front.baseUrl)
  assert.equal(secured, 1, 'nothing was said to any of them')
  const reasons = logged.join('')
  for (const code of ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID']) assert.match(reasons, new RegExp(code))
})

test('the value of a reference is never silently missing: where it cannot be fetched, nothing is told or stored', async () => {
  const caller = await fronting(simulator.url)
  for (const feed of ['references', 'stores', 'customers']) await caller.sync(feed)
  const person = aPerson()
  const path = `/customers/${person.id}`
  const shown = async () => (await caller.get(path)).json.data
  const before = await shown()
  const type = [...simulator.state.referenceTypes.values()].find(one => one.of === 'person') ?? assert.fail()
  const fresh = (code: string) => {
    const value = simulator.change({ kind: 'add-reference', typeId: type.id, code, name: `Brand ${code}` })
    simulator.change({ kind: 'edit-person', id: person.id, fields: { references: { [type.id]: Number(value) } } })
    return { code, name: `Brand ${code}`, referenceValueId: value }
  }
  const values = (data: { references: object }) => Object.values(data.references)

  const first = fresh('N1')
  simulator.faults.add({ kind: 'html', path: '/References/*' })
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  assert.deepEqual(await shown(), before)
  isNonsense(await put(caller, path, { title: 'Dr' }))
  assert.deepEqual([await shown(), person.title], [before, before.title ?? ''])
  simulator.faults.clear()
  await caller.sync('customers')
  assert.deepEqual(
    values(await shown()).filter(one => (one as { code: string }).code === 'N1'),
    [first],
  )

  const second = fresh('N2')
  const answer = await put(caller, path, { title: 'Dr' })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    values(answer.json.data).filter(one => (one as { code: string }).code === 'N2'),
    [second],
  )
  assert.deepEqual(answer.json.data, await shown())
})

test('a back office that comes and goes is asked by one at a time, and every answer is right or 503', async t => {
  const caller = await fronting(simulator.url, { ...short, breakerFailures: 3, openMs: 150, mostOpenMs: 300 })
  simulator.ledger.clear()
  let asked = 0
  const asking: Promise<Answer>[] = []
  const ask = () => {
    asked++
    const answer = caller.get(live())
    asking.push(answer)
    return answer
  }
  const timer = setInterval(ask, 15)
  t.after(() => clearInterval(timer))
  const [body, key] = [john(), keyed()]
  let made: Answer | undefined
  let attempts = 0
  const writing = (async () => {
    while (made?.status !== 201 && attempts < 500) {
      attempts++
      made = await post(caller, '/customers', body, key)
      if (made.status !== 201) await delay(40)
    }
  })()
  let whileDown = { asked: 0, upstream: 0 }
  for (let round = 0; round < 4; round++) {
    const began = { asked, upstream: simulator.ledger.calls.length }
    if (round % 2) await simulator.refuse()
    else simulator.faults.add({ kind: 'down' })
    await delay(500)
    whileDown = {
      asked: whileDown.asked + asked - began.asked,
      upstream: whileDown.upstream + simulator.ledger.calls.length - began.upstream,
    }
    simulator.faults.clear()
    await simulator.accept()
    const up = performance.now()
    await until(async () => (await ask()).status === 200, 'it is back', 3_000)
    assert.ok(performance.now() - up < 1_500, 'within the longest rest')
    await delay(100)
  }
  clearInterval(timer)
  await writing
  for (const answer of await Promise.all(asking)) if (answer.status !== 200) isAway(answer)
  assert.equal(simulator.ledger.effectsOf('person created').length, 1)
  const calls = simulator.ledger.calls.length
  assert.ok(calls <= 1.1 * (asked + 3 * attempts), `${calls} calls for ${asked} and ${attempts}`)
  assert.ok(whileDown.upstream < whileDown.asked / 2, `${whileDown.upstream} calls for ${whileDown.asked} while down`)
})

test('pages that repeat or are shuffled are found out: the list stays as it was, and the failure is told', async () => {
  const caller = await fronting(simulator.url, { patienceMs: 0, pageRows: 5 })
  for (const feed of ['references', 'stores', 'customers']) await caller.sync(feed)
  const shown = async () => {
    const { data } = (await caller.get('/customers/search')).json
    return data
  }
  const fact = async () =>
    (await caller.get('/capabilities')).json.data.sync.find(({ feed }: { feed: string }) => feed === 'customers')
  const [before, known] = [await shown(), await fact()]
  assert.deepEqual([before.length, known.lastResult], [simulator.state.persons.size, 'ok'])
  for (const kind of ['same-page', 'shuffled'] as const) {
    const said = logged.length
    simulator.faults.add({ kind, path: '/Persons' })
    simulator.ledger.clear()
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.ok(simulator.ledger.callsTo({ path: '/Persons' }).length < 12, 'it is stopped')
    assert.deepEqual(await shown(), before)
    const { lastResult, syncedAt } = await fact()
    assert.deepEqual([lastResult, syncedAt], ['failed', known.syncedAt])
    assert.match(logged.slice(said).join(''), /The pages of a list cannot be right|fewer records/)
    simulator.faults.clear()
  }
  await caller.sync('customers')
  assert.equal((await fact()).lastResult, 'ok')
})

test('a clock of the back office that is an hour off loses no change, poll after poll', async t => {
  for (const hours of [1, -1]) {
    const ahead = await simulated(t, { sizes: { stores: 1, styles: 1, persons: 5, vouchers: 0 } })
    ahead.clock.advance(hours * 3_600)
    const caller = await fronting(ahead.url)
    for (const feed of ['references', 'stores', 'customers']) await caller.sync(feed)
    const { client, release } = behind(ahead)
    t.after(() => client.close())
    const feed = feedsOf(client, release).find(({ name }) => name === 'customers') ?? assert.fail()
    let { asOf } = (await caller.get('/customers/search')).json.meta
    for (const id of [...ahead.state.persons.keys()].slice(0, 3)) {
      ahead.clock.advance(2)
      ahead.change({ kind: 'edit-person', id, fields: { surname: `S${id}` } })
      assert.equal((await syncFeed(api.db, caller.service, feed))?.isFull, false)
      const { data, meta } = (await caller.get(`/customers/search?updated_after=${encodeURIComponent(asOf)}`)).json
      assert.deepEqual(
        data.map((one: { id: string; surname: string }) => [one.id, one.surname]),
        [[String(id), `S${id}`]],
      )
      asOf = meta.asOf
    }
  }
})

test('Retry-After is obeyed: a short one is waited out, a long one is passed on and nothing is asked until then', async () => {
  const arrived: number[] = []
  let wait: { status: number; seconds: number } | undefined
  const url = await serving((_, response) => {
    arrived.push(performance.now())
    if (!wait) return void response.end(account)
    response.writeHead(wait.status, { 'retry-after': String(wait.seconds) }).end()
    wait = undefined
  })
  const caller = await fronting(url, { ...short, deadlineMs: 5_000, patienceMs: 2_000 })
  const ask = () => caller.get('/rewards/accounts/7')
  for (const status of [429, 503]) {
    arrived.length = 0
    wait = { status, seconds: 1 }
    const began = performance.now()
    const first = ask()
    await until(() => arrived.length === 1, 'the first is there')
    const answers = await Promise.all([first, ask(), ask(), ask()])
    assert.deepEqual(
      answers.map(answer => answer.status),
      [200, 200, 200, 200],
    )
    assert.ok(
      arrived.slice(1).every(at => at - began >= 1_000),
      `${status}: ${arrived.map(at => at - began)}`,
    )
    const [, ...later] = arrived
    assert.ok(Math.max(...later) - Math.min(...later) > 2, 'not all at one moment')
  }
  arrived.length = 0
  wait = { status: 503, seconds: 40 }
  for (let i = 0; i < 6; i++) {
    const answer = i % 2 ? await post(caller, '/customers', john(), keyed()) : await ask()
    isAway(answer)
    const seconds = Number(answer.headers['retry-after'])
    assert.ok(seconds > 35 && seconds <= 48, `${seconds} s`)
  }
  assert.equal(arrived.length, 1)
})

test('no identifier of a caller’s, nor of a stored customer, leads to another path of the back office', async () => {
  const caller = await fronting(simulator.url)
  for (const feed of ['references', 'stores', 'products', 'customers']) await caller.sync(feed)
  await upsertGateways(api.db, caller.service, [{ name: 'visa' }])
  const ids = ['.', '..', '../Stores', '..\\Stores', '%2e%2e', '%2E%2E%2FStores']
  await upsertCustomers(
    api.db,
    caller.service,
    ids.map((id, i) => ({ id, firstname: 'Dot', surname: 'Path', email: `dot${i}@example.com` })),
  )
  const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
  const order = (customerId: string) => ({
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: String(sku?.id), quantity: 1 }],
    payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
  })
  simulator.ledger.clear()
  for (const id of ids) {
    const part = encodeURIComponent(id).replaceAll('.', '%2e')
    for (const answer of [
      await caller.get(`/rewards/accounts/${part}`),
      await caller.get(`/customers/${part}/rewards`),
      await put(caller, `/customers/${part}`, { title: 'Dr' }),
      await post(caller, `/orders/${part}/returns`, { lines: [{ sku: 'X', quantity: 1, reasonCode: 'SIZE' }] }),
      await post(caller, '/orders', order(id), keyed()),
    ])
      assert.ok(answer.status >= 400 && answer.status < 500, `${id} ${answer.status} ${answer.text}`)
    isProblem(await post(caller, '/vouchers/lookup', { number: id, pin: '1234' }), 'voucher_not_accepted', api.baseUrl)
  }
  assert.deepEqual(simulator.ledger.callsTo({ method: 'POST' }), [])
  const paths = new Set(simulator.ledger.calls.map(({ path }) => path.split('?')[0]))
  assert.ok(
    paths.isSubsetOf(new Set(['/', '', '/PersonReferenceTypes', '/ProductReferenceTypes', '/References/272'])),
    [...paths].join(),
  )
  const real = [...simulator.state.persons.values()].find(({ email }) => email !== '')
  assert.equal((await post(caller, '/orders', order(String(real?.id)), keyed())).status, 201)
})

async function simulated(t: TestContext, options: SimulatorOptions) {
  const made = await startSimulator(options)
  t.after(() => made.close())
  return made
}
