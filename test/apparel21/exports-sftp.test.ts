import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import ssh2 from 'ssh2'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { addService } from '../../src/accounts.ts'
import { lookInto } from '../../src/backoffice/apparel21/exports/files.ts'
import { importExport } from '../../src/backoffice/apparel21/exports/import.ts'
import { type Offices, openOffices } from '../../src/backoffice/offices.ts'
import type { ExportPlace } from '../../src/backoffice/places/place.ts'
import { openExports } from '../../src/backoffice/places/places.ts'
import { openSftp } from '../../src/backoffice/places/sftp-session.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { type Database, sql } from '../../src/db.ts'
import { type BackOfficeSettings, sftpAddressIn } from '../../src/domain/port/settings.ts'
import type { Job } from '../../src/jobs/job.ts'
import { officeJobs } from '../../src/jobs/jobs.ts'
import { keysFrom } from '../../src/secrets.ts'
import type { Service } from '../../src/settings.ts'
import { listAlerts, settleKind } from '../../src/store/running/alerts.ts'
import { setBackOffice, storedBackOffice } from '../../src/store/running/back-office.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { done, run, until } from '../support/processes.ts'
import { noSshd, type Sshd, startSshd } from '../support/sshd.ts'

const canary = 'kanarie-Wachtwoord-7'
const strangeKey = 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE'
const secret = randomBytes(32).toString('hex')
const keys = keysFrom(secret)
type Change = { [name in keyof BackOfficeSettings]?: BackOfficeSettings[name] | undefined }
const never = () => new AbortController().signal
const temporary = () => readdirSync(tmpdir()).filter(name => name.startsWith('tillbridge-sftp-'))

describe('settings of exports on an SFTP server', () => {
  const whole = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: 'https://a.example/RetailAPI',
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_EXPORTS: 'sftp://luma@files.example/out',
    BACK_OFFICE_EXPORTS_HOST_KEY: strangeKey,
    BACK_OFFICE_EXPORTS_PASSWORD: canary,
  }
  const faultsOf = (change: Record<string, string | undefined>) => {
    try {
      readConfig({ ...whole, ...change })
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('an address tells the user, the server and the folder', () => {
    const parts = (text: string) => Object.values(sftpAddressIn(text) ?? {})
    assert.deepEqual(parts('sftp://luma@files.example/'), ['luma', 'files.example', 22, '/'])
    assert.deepEqual(parts('sftp://a%40b@[::1]:2222/out/of%20here/'), ['a@b', '::1', 2222, '/out/of here'])
    assert.deepEqual(parts('sftp://luma@files.example/~/out'), ['luma', 'files.example', 22, './out'])
  })

  const sftp = (rest: string) => ({ BACK_OFFICE_EXPORTS: `sftp://${rest}` })
  const bad: [what: string, change: Record<string, string | undefined>, fault: RegExp][] = [
    ['a password in the address', sftp(`luma:${canary}@a.example/`), /^BACK_OFFICE_EXPORTS has no password in it: /],
    ['an odd password in it', sftp(`luma:${canary}/#@a.example/`), /^BACK_OFFICE_EXPORTS has no password in it: /],
    ['no user', sftp('files.example/out'), /^BACK_OFFICE_EXPORTS is the whole path of a folder, .* or an address like/],
    ['a query', sftp('luma@files.example/out?a=b'), /^BACK_OFFICE_EXPORTS is /],
    ['half a character', sftp('luma@files.example/%e4'), /^BACK_OFFICE_EXPORTS is /],
    ['no key of the host', { BACK_OFFICE_EXPORTS_HOST_KEY: undefined }, /^BACK_OFFICE_EXPORTS_HOST_KEY is needed: /],
    ['a key of MD5', { BACK_OFFICE_EXPORTS_HOST_KEY: 'MD5:aa:bb' }, /^BACK_OFFICE_EXPORTS_HOST_KEY is one or more /],
    ['nobody to sign in', { BACK_OFFICE_EXPORTS_PASSWORD: undefined }, /^BACK_OFFICE_EXPORTS_PASSWORD or .*_KEY_FILE /],
    ['a folder with a password', { BACK_OFFICE_EXPORTS: '/srv/out' }, /^BACK_OFFICE_EXPORTS_HOST_KEY, .*_PASSWORD: /],
  ]
  for (const [what, change, fault] of bad)
    test(`${what} is refused, and no secret is repeated`, () => {
      const told = faultsOf(change)
      assert.match(told, fault)
      assert.ok(!told.includes(canary), told)
    })

  test('what goes together is taken', () => {
    assert.equal(faultsOf({}), '')
    assert.equal(faultsOf({ BACK_OFFICE_EXPORTS_HOST_KEY: `${strangeKey}, ${strangeKey}=` }), '')
    assert.equal(faultsOf({ BACK_OFFICE_EXPORTS_PASSWORD: undefined, BACK_OFFICE_EXPORTS_KEY_FILE: '/etc/key' }), '')
  })
})

test('a server that says nothing is left after a while', async () => {
  const server = createServer(socket => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address = { user: 'luma', host: '127.0.0.1', port, path: '/' }
  await assert.rejects(openSftp({ address, hostKeys: [], keyFile: undefined, password: canary }, never(), 200), {
    message: `The SFTP server 127.0.0.1:${port}: could not connect: nothing came for 0.2 seconds.`,
    isLasting: false,
  })
  server.close()
  await once(server, 'close')
})

describe('exports on an SFTP server', { skip: noSshd }, () => {
  const said: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => said.push(line) })
  const takenBefore = temporary()
  let sshd: Sshd
  let simulator: Simulator
  let database: FreshDatabase
  let db: Database
  let luma: Service
  let offices: Offices
  let job: Job
  let settings: BackOfficeSettings

  const there = (...names: string[]) => join(sshd.folder, ...names)
  const namesIn = (place: string) => (existsSync(there(place)) ? readdirSync(there(place)).sort() : [])
  /** Leaves a file as a careful back office does: under its name once it is whole. */
  function leave(name: string, text: string) {
    writeFileSync(there('.writing'), text)
    renameSync(there('.writing'), there(name))
  }
  const head = 'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,DOB,STORE_NUMBER,RETAIL_REP\r\n'
  const person = (id: number, dateOfBirth = '1980-02-29') => `${id},P${id},Jo,Sample,${dateOfBirth},,No\r\n`
  /** Looks into the place once, as the worker does. */
  const look = () => job.run({ ...tools(), service: luma, attempt: 1, signal: never() })
  const tools = () => ({
    db,
    keys,
    log,
    post: { send: async () => {} },
    subject: '',
    last: false,
    stillMine: async () => true,
    comeAgain() {},
  })
  /** A process that has not seen anything yet, and knows what is set now. */
  async function startAnew() {
    offices?.close()
    offices = await openOffices({ db, keys, defaults: { driver: 'embedded' }, log })
    const found = officeJobs(offices)['import-exports']
    assert.ok(found)
    job = found
  }
  async function takeAll() {
    await look()
    await look()
  }
  const alertOf = async (kind: string) => (await listAlerts(db)).find(alert => alert.kind === kind)
  const customers = async () =>
    await db.row<{ ids: string[]; changed: string }>(
      sql`select coalesce(array_agg(id order by id), '{}') as ids, max(changed_at)::text as changed from customer`,
    )
  const imports = (name: string) =>
    said.map(line => JSON.parse(line)).filter(({ file, place }) => file === name && place !== undefined)
  const changed = (change: Change) =>
    Object.fromEntries(
      Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined),
    ) as unknown as BackOfficeSettings
  async function set(change: Change) {
    await setBackOffice(db, keys, luma, changed(change))
    await startAnew()
  }
  const placed = async <T>(work: (place: ExportPlace) => Promise<T>, change: Change = {}) => {
    const place = await openExports(changed(change), never())
    try {
      return await work(place)
    } finally {
      await place.close()
    }
  }
  before(async () => {
    sshd = await startSshd()
    simulator = await startSimulator({ sizes: { persons: 10 } })
    database = await freshDatabase()
    db = database.db
    const made = await addService(db, 'luma', { currency: 'AUD' })
    assert.ok(made)
    luma = made
    settings = {
      driver: 'apparel21',
      url: simulator.url,
      country: 'AU',
      exports: `sftp://${sshd.user}@127.0.0.1:${sshd.port}${sshd.folder}`,
      exportsHostKey: sshd.hostKey,
      exportsKey: sshd.keyFile,
    }
    await setBackOffice(db, keys, luma, settings)
    await startAnew()
  })
  after(async () => {
    offices?.close()
    await database?.drop()
    await simulator?.close()
    await sshd?.remove()
  })
  beforeEach(() => settleKind(db, luma.id, 'export_refused'))

  test('files are taken once, customers first and the oldest name first, and are then in done', async () => {
    const orders = await (await fetch(`${simulator.controlUrl}/export/orders.csv`)).text()
    const names = ['customers_20260203T101500Z.csv', 'customers_20260204T101500Z.csv', 'orders_20260203T104500Z.csv']
    leave(names[2] ?? '', orders)
    leave(names[1] ?? '', head + person(2))
    leave(names[0] ?? '', head + person(1))
    await takeAll()
    assert.deepEqual(namesIn('done'), names)
    assert.deepEqual((await customers())?.ids, ['1', '2'])
    const order = said.map(line => JSON.parse(line)).flatMap(({ file, place }) => (place ? [file] : []))
    assert.deepEqual(order, names)
    assert.ok(await db.run(sql`select from retail_transaction`))
    assert.deepEqual(await listAlerts(db), [])
  })

  test('a file that is still being written waits, and so does one that changes while it is imported', async () => {
    const name = 'customers_20260205T101500Z.csv'
    writeFileSync(there(name), head)
    await placed(async place => {
      const first = await lookInto(place, undefined)
      appendFileSync(there(name), person(3))
      const second = await lookInto(place, first.look)
      assert.deepEqual([first.complete, second.complete, second.growing], [[], [], true])
      const [file] = (await lookInto(place, second.look)).complete
      assert.equal(file?.name, name)
    })
    const letGo = await holdStaff()
    await look()
    const looking = look()
    await untilKnown('3')
    appendFileSync(there(name), person(4))
    letGo()
    await looking
    assert.ok(existsSync(there(name)), 'it changed meanwhile')
    await takeAll()
    assert.deepEqual((await customers())?.ids, ['1', '2', '3', '4'])
    assert.deepEqual(
      imports(name).map(({ read }) => read),
      [2],
    )
  })

  test('a file that was imported by a process that died before it moved it is imported again, to the same end', async () => {
    const name = 'customers_20260206T101500Z.csv'
    leave(name, head + person(5))
    await placed(async place => {
      const { look: marks } = await lookInto(place, undefined)
      const [left] = (await lookInto(place, marks)).complete
      assert.equal(left?.name, name)
      if (left) await importExport(db, luma, { ...left, ...(await place.bring(left.name, left.mark)) }, never())
    })
    const before = await customers()
    assert.ok(before?.ids.includes('5') && existsSync(there(name)))
    await takeAll()
    assert.deepEqual(await customers(), before)
    assert.ok(namesIn('done').includes(name))
  })

  test('refused lines are there in failed, with their reasons, and there is an alert; a good file of that name takes them away', async () => {
    const name = 'customers_20260207T101500Z.csv'
    leave(name, head + person(6, '1980-02-30') + person(7))
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name, `${name}.rejected.csv`])
    assert.match(readFileSync(there('failed', `${name}.rejected.csv`), 'utf8'), /dateOfBirth,is no day.*\n?.*Sample/)
    const alert = await alertOf('export_refused')
    assert.deepEqual([alert?.subject, alert?.times], [name, 1])
    assert.ok((await customers())?.ids.includes('7'))
    leave(name, head + person(6))
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name])
    leave(name, 'name;place\r\nJo;here\r\n')
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name, `${name}.1`], 'the first one is kept')
    assert.match((await alertOf('export_refused'))?.detail ?? '', /^customers_\S+ has no column PERIDX/)
  })

  test('a file that is too large, or a line without an end, is refused without being read whole', async () => {
    const [large, endless] = ['customers_20260207T111500Z.csv', 'orders_20260207T111500Z.csv']
    leave(large, '')
    truncateSync(there(large), 2 * 1024 ** 3 + 1)
    leave(endless, `TRANSACTION_ID,SALE_DATE,SKUIDX,QUANTITY,PRICE\r\n"${'x'.repeat(1_200_000)}`)
    await takeAll()
    assert.ok(namesIn('failed').includes(large) && namesIn('failed').includes(endless))
    const details = new Map((await listAlerts(db)).map(({ subject, detail }) => [subject, detail]))
    assert.equal(details.get(large), 'It holds more than 2 GiB.')
    assert.match(details.get(endless) ?? '', /^orders_\S+ cannot be read: Max Record Size/)
  })

  test('with a server that goes in the middle of an import nothing is lost, and nothing is there twice', async () => {
    const name = 'customers_20260208T101500Z.csv'
    leave(name, head + person(8))
    const letGo = await holdStaff()
    await look()
    const looking = assert.rejects(look(), { message: /could not look at / })
    await untilKnown('8')
    const before = await customers()
    await sshd.kill()
    letGo()
    await looking
    assert.ok(existsSync(there(name)))
    await sshd.start()
    await takeAll()
    assert.deepEqual(await customers(), before)
    assert.equal(imports(name).length, 1)
  })

  test('of a file that does not come to its end nothing is taken', async () => {
    const name = 'customers_20260209T101500Z.csv'
    const long = randomBytes(450_000).toString('hex')
    leave(name, `${head.trim()},NOTE\r\n${person(10).trim()},\r\n${person(11).trim()},${long}\r\n`)
    const proxy = createServer(inward => {
      const outward = createConnection(sshd.port, '127.0.0.1')
      let bytes = 0
      outward.on('data', chunk => {
        bytes += chunk.length
        if (bytes > 400_000) inward.destroy()
      })
      const end = () => {
        inward.destroy()
        outward.destroy()
      }
      for (const each of [inward, outward]) each.on('error', () => {}).on('close', end)
      inward.pipe(outward).pipe(inward)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const exports = settings.exports?.replace(/:\d+/, `:${port}`) ?? ''
    await set({ exports })
    await look()
    await assert.rejects(look(), { message: new RegExp(`:${port}: could not read ${there(name)}: `) })
    proxy.close()
    assert.ok(!(await customers())?.ids.includes('10'))
    assert.ok(existsSync(there(name)))
    await set({})
    await takeAll()
    assert.ok((await customers())?.ids.includes('11'))
  })

  test('a server that shows another key is sent nothing: there is an alert at once, which ends with the right one', async () => {
    const name = 'customers_20260210T101500Z.csv'
    await set({ exportsHostKey: strangeKey, exportsKey: undefined, exportsPassword: canary })
    leave(name, head + person(9))
    await assert.rejects(look(), { name: 'ExportsUnreadable' })
    const alert = await alertOf('exports_unreadable')
    assert.ok(alert?.detail.includes(`showed the host key ${sshd.hostKey} (ssh-ed25519), which is not the one`))
    assert.ok(existsSync(there(name)))
    await set({ exportsHostKey: `${strangeKey},${sshd.hostKey}=` })
    await takeAll()
    assert.deepEqual(await listAlerts(db), [])
  })

  const wrong: [what: string, change: () => Change, reason: RegExp][] = [
    [
      'a wrong password',
      () => ({ exportsKey: undefined, exportsPassword: canary }),
      /refused the user, or its password\.$/,
    ],
    ['a wrong private key', () => ({ exportsKey: sshd.strangeKeyFile }), /refused the user, or its private key\.$/],
    ['a private key that is not there', () => ({ exportsKey: '/no/such/key' }), /cannot be read: ENOENT\.$/],
    ['a private key that is none', () => ({ exportsKey: '/etc/passwd' }), /is none, or needs another passphrase\.$/],
    [
      'a folder that is not there',
      () => ({ exports: `${settings.exports}/no` }),
      /could not list \S+\/no: there is no such/,
    ],
  ]
  for (const [what, change, reason] of wrong)
    test(`${what} is told as what it is`, async () => {
      await assert.rejects(
        placed(place => place.names(), change()),
        { message: reason, isLasting: true },
      )
    })

  test('a password that is refused is an alert, which does not hold it', async () => {
    await set({ exportsKey: undefined, exportsPassword: canary })
    await assert.rejects(look(), { name: 'ExportsUnreadable' })
    const alert = await alertOf('exports_unreadable')
    assert.match(alert?.detail ?? '', /^The SFTP server 127\.0\.0\.1:\d+ refused the user, or its password\.$/)
    await set({})
  })

  test('a private key that is locked is opened by its password', async () => {
    const exportsKey = there('.locked')
    copyFileSync(sshd.keyFile, exportsKey)
    chmodSync(exportsKey, 0o600)
    assert.equal(spawnSync('ssh-keygen', ['-p', '-q', '-P', '', '-N', canary, '-f', exportsKey]).status, 0)
    assert.ok((await placed(place => place.names(), { exportsKey, exportsPassword: canary })).includes('done'))
    await assert.rejects(
      placed(place => place.names(), { exportsKey }),
      { message: /or needs another passphrase\.$/ },
    )
  })

  test('a password signs in, and is kept encrypted', async () => {
    const server = new ssh2.Server({ hostKeys: [readFileSync(sshd.keyFile.replace(/user$/, 'host'))] }, client => {
      client.on('error', () => {})
      client.on('authentication', attempt => {
        const isRight = attempt.method === 'password' && attempt.username === 'luma' && attempt.password === canary
        return isRight ? attempt.accept() : attempt.reject(['password'])
      })
      client.on('session', accept =>
        accept().on('subsystem', (open: () => ssh2.ServerChannel) => {
          const program = spawn('/usr/lib/openssh/sftp-server', { stdio: ['pipe', 'pipe', 'ignore'] })
          const channel = open()
          channel.on('close', () => program.kill())
          channel.pipe(program.stdin)
          program.stdout.pipe(channel)
        }),
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const own = { exports: `sftp://luma@127.0.0.1:${port}${sshd.folder}`, exportsPassword: canary }
    await setBackOffice(db, keys, luma, changed({ ...own, exportsKey: undefined }))
    const row = await db.row<{ text: string }>(
      sql`select row_to_json(b)::text || encode(exports_password, 'escape') as text from back_office b`,
    )
    assert.ok(row?.text.includes(sshd.hostKey) && !row.text.includes(canary))
    const stored = await storedBackOffice(db, keys, luma)
    assert.ok(stored)
    const names = await placed(place => place.names(), { ...stored.settings, exportsKey: undefined })
    assert.ok(names.includes('done'))
    const elsewhere = await storedBackOffice(db, keysFrom(randomBytes(32)), luma)
    assert.deepEqual([elsewhere?.isLocked, elsewhere?.settings.exportsPassword], [true, undefined])
    await setBackOffice(db, keys, luma, settings)
    server.close()
  })

  test('the command line sets a server up, says whether it is reached, and never tells the password', async () => {
    const environment = { DATABASE_URL: database.connection, SECRET_KEY: secret }
    const passwordFile = there('.password')
    writeFileSync(passwordFile, `${canary}\n`)
    const reached = await done(['back-office', 'test', 'luma'], environment)
    assert.match(reached, /^Exports: sftp:\/\/\S+ is reached; files that wait there: 0\.$/m)
    const args = ['back-office', 'set', 'luma', `exports=${settings.exports}`]
    const set = await done([...args, '--exports-password-file', passwordFile], environment)
    assert.match(set, /^exportsPassword = \(set\)$/m)
    assert.doesNotMatch(set, /^exportsKey = /m)
    const refused = await run(['back-office', 'test', 'luma'], environment)
    assert.equal(refused.code, 1)
    assert.match(refused.err, /tillbridge: The SFTP server \S+ refused the user, or its password\.$/m)
    assert.match(refused.out, /^Reached: release /m)
    const open = await run(['back-office', 'set', 'luma', `exportsPassword=${canary}`], environment)
    assert.match(open.err, /A password on the command line is seen/)
    const folder = await done(['back-office', 'set', 'luma', `exports=${sshd.folder}`], environment)
    assert.doesNotMatch(folder, /exportsHostKey|exportsPassword/)
    const audit = await db.rows<{ record: string }>(sql`select record from audit`)
    assert.ok(audit.length >= 2)
    const all = [reached, set, refused.out, refused.err, open.err, folder, ...audit.map(({ record }) => record)]
    assert.doesNotMatch(all.join('\n'), new RegExp(canary))
  })

  test('the password is in nothing that was logged, and no copy of a file is left on this machine', async () => {
    assert.ok(said.length > 10)
    assert.doesNotMatch(said.join('\n'), new RegExp(canary))
    assert.deepEqual(
      temporary().filter(name => !takenBefore.includes(name)),
      [],
    )
  })

  /** Keeps imports from their second half, in which a file of customers is read for the staff, until the answer is called. */
  async function holdStaff() {
    const client = await db.pool.connect()
    await client.query(`select pg_advisory_lock($1, hashtext('import staff'))`, [luma.id])
    return () => client.release(true)
  }
  const untilKnown = (id: string) =>
    until(async () => (await customers())?.ids.includes(id), `customer ${id} is imported`)
})
