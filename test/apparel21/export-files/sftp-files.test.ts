import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { scanFolder } from '../../../src/backoffice/apparel21/export-files/files.ts'
import { importExport } from '../../../src/backoffice/apparel21/export-files/import.ts'
import { sql } from '../../../src/database/db.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { waitUntil } from '../../support/processes.ts'
import { sshdMissing } from '../../support/sshd.ts'
import { head, never, person, sftpOfTests } from './sftp-office.ts'

describe('files on an SFTP server', { skip: sshdMissing }, async () => {
  const {
    there,
    namesIn,
    leave,
    sshd,
    simulator,
    db,
    luma,
    settings,
    set,
    look,
    logLines,
    takeAll,
    placed,
    alertOf,
    customers,
    copies,
  } = await sftpOfTests()
  const imports = (name: string) =>
    logLines.map(line => JSON.parse(line)).filter(({ file, place }) => file === name && place !== undefined)
  /** Keeps imports from their second half, in which a file of customers is read for the staff, until the answer is called. */
  async function holdStaff() {
    const client = await db.pool.connect()
    await client.query(`select pg_advisory_lock($1, hashtext('import staff'))`, [luma.id])
    return () => client.release(true)
  }
  const untilResolved = (id: string) =>
    waitUntil(async () => (await customers())?.ids.includes(id), `customer ${id} is imported`)

  test('files are imported once, customers first, and moved to done', async () => {
    const orders = await (await fetch(`${simulator.controlUrl}/export/orders.csv`)).text()
    const names = ['customers_20260203T101500Z.csv', 'customers_20260204T101500Z.csv', 'orders_20260203T104500Z.csv']
    leave(names[2] ?? '', orders)
    leave(names[1] ?? '', head + person(2))
    leave(names[0] ?? '', head + person(1))
    await takeAll()
    assert.deepEqual(namesIn('done'), names)
    assert.deepEqual((await customers())?.ids, ['1', '2'])
    const order = logLines.map(line => JSON.parse(line)).flatMap(({ file, place }) => (place ? [file] : []))
    assert.deepEqual(order, names)
    assert.ok(await db.run(sql`select from retail_transaction`))
    assert.deepEqual(await listAlerts(db), [])
  })

  test('a file waits while it is being written or changed', async () => {
    const name = 'customers_20260205T101500Z.csv'
    writeFileSync(there(name), head)
    await placed(async place => {
      const first = await scanFolder(place, undefined)
      appendFileSync(there(name), person(3))
      const second = await scanFolder(place, first.scan)
      assert.deepEqual([first.complete, second.complete, second.isGrowing], [[], [], true])
      const [file] = (await scanFolder(place, second.scan)).complete
      assert.equal(file?.name, name)
    })
    const letGo = await holdStaff()
    await look()
    const looking = look()
    await untilResolved('3')
    appendFileSync(there(name), person(4))
    letGo()
    await looking
    assert.ok(existsSync(there(name)), 'it changed during the import')
    await takeAll()
    assert.deepEqual((await customers())?.ids, ['1', '2', '3', '4'])
    assert.deepEqual(
      imports(name).map(({ read }) => read),
      [2],
    )
  })

  test('a file left by a killed process is imported from SFTP again', async () => {
    const name = 'customers_20260206T101500Z.csv'
    leave(name, head + person(5))
    await placed(async place => {
      const { scan: marks } = await scanFolder(place, undefined)
      const [file] = (await scanFolder(place, marks)).complete
      assert.equal(file?.name, name)
      if (file) await importExport(db, luma, { ...file, ...(await place.fetch(file.name, file.mark)) }, never())
    })
    const before = await customers()
    assert.ok(before?.ids.includes('5') && existsSync(there(name)))
    await takeAll()
    assert.deepEqual(await customers(), before)
    assert.ok(namesIn('done').includes(name))
  })

  test('rejected lines stay in failed until a good file replaces them', async () => {
    const name = 'customers_20260207T101500Z.csv'
    leave(name, head + person(6, '1980-02-30') + person(7))
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name, `${name}.rejected.ndjson`])
    assert.match(
      readFileSync(there('failed', `${name}.rejected.ndjson`), 'utf8'),
      /"dateOfBirth","reason":"must be an existing date.*Sample/,
    )
    const alert = await alertOf('export_file_rejected')
    assert.deepEqual([alert?.subject, alert?.times], [name, 1])
    assert.ok((await customers())?.ids.includes('7'))
    leave(name, head + person(6))
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name])
    leave(name, 'name;place\r\nJo;here\r\n')
    await takeAll()
    assert.deepEqual(namesIn('failed'), [name, `${name}.1`], 'the first one is kept')
    assert.match((await alertOf('export_file_rejected'))?.detail ?? '', /^customers_\S+ must have the columns PERIDX/)
  })

  test('an oversized file or endless line is rejected without reading it whole', async () => {
    const [large, endless] = ['customers_20260207T111500Z.csv', 'orders_20260207T111500Z.csv']
    leave(large, '')
    truncateSync(there(large), 2 * 1024 ** 3 + 1)
    leave(endless, `TRANSACTION_ID,SALE_DATE,SKUIDX,QUANTITY,PRICE\r\n"${'x'.repeat(1_200_000)}`)
    await takeAll()
    assert.ok(namesIn('failed').includes(large) && namesIn('failed').includes(endless))
    const details = new Map((await listAlerts(db)).map(({ subject, detail }) => [subject, detail]))
    assert.equal(details.get(large), 'The file must not be larger than 2 GiB.')
    assert.match(details.get(endless) ?? '', /^orders_\S+ can't be read: Max Record Size/)
  })

  test('a server failure during an import loses and repeats nothing', async () => {
    const name = 'customers_20260208T101500Z.csv'
    leave(name, head + person(8))
    const letGo = await holdStaff()
    await look()
    const looking = assert.rejects(look(), { message: /couldn't check / })
    await untilResolved('8')
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

  test('a truncated file is not imported', async () => {
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
      for (const socket of [inward, outward]) socket.on('error', () => {}).on('close', end)
      inward.pipe(outward).pipe(inward)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const exports = settings.exportFolder?.replace(/:\d+/, `:${port}`) ?? ''
    await set({ exportFolder: exports })
    await look()
    await assert.rejects(look(), { message: new RegExp(`:${port} couldn't read ${there(name)}: `) })
    proxy.close()
    assert.ok(!(await customers())?.ids.includes('10'))
    assert.ok(existsSync(there(name)))
    await set({})
    await takeAll()
    assert.ok((await customers())?.ids.includes('11'))
  })

  test('a local copy of a file is never left behind', () => assert.deepEqual(copies(), []))
})
