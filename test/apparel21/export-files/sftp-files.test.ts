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
import { buildPersonLine, createSignal, csvHeader, startSftpFixture } from './sftp-fixture.ts'

describe('files on an SFTP server', { skip: sshdMissing }, async () => {
  const {
    pathTo,
    listFolder,
    addFile,
    sshd,
    simulator,
    db,
    luma,
    settings,
    setBackOfficeSettings,
    runJob,
    logLines,
    importAll,
    withExportFolder,
    findAlert,
    loadCustomers,
    listCopies,
  } = await startSftpFixture()
  const findImportLogs = (name: string) =>
    logLines.map(line => JSON.parse(line)).filter(({ file, place }) => file === name && place !== undefined)
  /** Blocks the second half of a customer import, which reads the staff. The returned function ends the block. */
  async function blockStaffImport() {
    const client = await db.pool.connect()
    await client.query(`select pg_advisory_lock($1, hashtext('import staff'))`, [luma.id])
    return () => client.release(true)
  }
  const waitUntilImported = (id: string) =>
    waitUntil(async () => (await loadCustomers())?.ids.includes(id), `customer ${id} is imported`)

  test('files are imported once, customers first, and moved to done', async () => {
    const orders = await (await fetch(`${simulator.controlUrl}/export/orders.csv`)).text()
    const names = ['customers_20260203T101500Z.csv', 'customers_20260204T101500Z.csv', 'orders_20260203T104500Z.csv']
    addFile(names[2] ?? '', orders)
    addFile(names[1] ?? '', csvHeader + buildPersonLine(2))
    addFile(names[0] ?? '', csvHeader + buildPersonLine(1))
    await importAll()
    assert.deepEqual(listFolder('done'), names)
    assert.deepEqual((await loadCustomers())?.ids, ['1', '2'])
    const order = logLines.map(line => JSON.parse(line)).flatMap(({ file, place }) => (place ? [file] : []))
    assert.deepEqual(order, names)
    assert.ok(await db.run(sql`select from retail_transaction`))
    assert.deepEqual(await listAlerts(db), [])
  })

  test('a file waits while it is being written or changed', async () => {
    const name = 'customers_20260205T101500Z.csv'
    writeFileSync(pathTo(name), csvHeader)
    await withExportFolder(async place => {
      const first = await scanFolder(place, undefined)
      appendFileSync(pathTo(name), buildPersonLine(3))
      const second = await scanFolder(place, first.scan)
      assert.deepEqual([first.complete, second.complete, second.isGrowing], [[], [], true])
      const [file] = (await scanFolder(place, second.scan)).complete
      assert.equal(file?.name, name)
    })
    const release = await blockStaffImport()
    await runJob()
    const running = runJob()
    await waitUntilImported('3')
    appendFileSync(pathTo(name), buildPersonLine(4))
    release()
    await running
    assert.ok(existsSync(pathTo(name)), 'a file that changed during its import stays')
    await importAll()
    assert.deepEqual((await loadCustomers())?.ids, ['1', '2', '3', '4'])
    assert.deepEqual(
      findImportLogs(name).map(({ read }) => read),
      [2],
    )
  })

  test('a file left by a killed process is imported from SFTP again', async () => {
    const name = 'customers_20260206T101500Z.csv'
    addFile(name, csvHeader + buildPersonLine(5))
    await withExportFolder(async place => {
      const { scan: marks } = await scanFolder(place, undefined)
      const [file] = (await scanFolder(place, marks)).complete
      assert.equal(file?.name, name)
      if (file)
        await importExport(db, luma, { ...file, ...(await place.fetch(file.name, file.version)) }, createSignal())
    })
    const before = await loadCustomers()
    assert.ok(before?.ids.includes('5') && existsSync(pathTo(name)))
    await importAll()
    assert.deepEqual(await loadCustomers(), before)
    assert.ok(listFolder('done').includes(name))
  })

  test('rejected lines stay in failed until a good file replaces them', async () => {
    const name = 'customers_20260207T101500Z.csv'
    addFile(name, csvHeader + buildPersonLine(6, '1980-02-30') + buildPersonLine(7))
    await importAll()
    assert.deepEqual(listFolder('failed'), [name, `${name}.rejected.ndjson`])
    assert.match(
      readFileSync(pathTo('failed', `${name}.rejected.ndjson`), 'utf8'),
      /"dateOfBirth","reason":"must be an existing date.*Sample/,
    )
    const alert = await findAlert('export_file_rejected')
    assert.deepEqual([alert?.subject, alert?.times], [name, 1])
    assert.ok((await loadCustomers())?.ids.includes('7'))
    addFile(name, csvHeader + buildPersonLine(6))
    await importAll()
    assert.deepEqual(listFolder('failed'), [name])
    addFile(name, 'name;place\r\nJo;here\r\n')
    await importAll()
    assert.deepEqual(listFolder('failed'), [name, `${name}.1`], 'the first file is kept')
    assert.match((await findAlert('export_file_rejected'))?.detail ?? '', /^customers_\S+ must have the columns PERIDX/)
  })

  test('an oversized file or endless line is rejected without reading it whole', async () => {
    const [large, endless] = ['customers_20260207T111500Z.csv', 'orders_20260207T111500Z.csv']
    addFile(large, '')
    truncateSync(pathTo(large), 2 * 1024 ** 3 + 1)
    addFile(endless, `TRANSACTION_ID,SALE_DATE,SKUIDX,QUANTITY,PRICE\r\n"${'x'.repeat(1_200_000)}`)
    await importAll()
    assert.ok(listFolder('failed').includes(large) && listFolder('failed').includes(endless))
    const details = new Map((await listAlerts(db)).map(({ subject, detail }) => [subject, detail]))
    assert.equal(details.get(large), 'The file must not be larger than 2 GiB.')
    assert.match(details.get(endless) ?? '', /^orders_\S+ can't be read: Max Record Size/)
  })

  test('a server failure during an import loses and repeats nothing', async () => {
    const name = 'customers_20260208T101500Z.csv'
    addFile(name, csvHeader + buildPersonLine(8))
    const release = await blockStaffImport()
    await runJob()
    const running = assert.rejects(runJob(), { message: /couldn't check / })
    await waitUntilImported('8')
    const before = await loadCustomers()
    await sshd.kill()
    release()
    await running
    assert.ok(existsSync(pathTo(name)))
    await sshd.start()
    await importAll()
    assert.deepEqual(await loadCustomers(), before)
    assert.equal(findImportLogs(name).length, 1)
  })

  test('a truncated file is not imported', async () => {
    const name = 'customers_20260209T101500Z.csv'
    const long = randomBytes(450_000).toString('hex')
    addFile(
      name,
      `${csvHeader.trim()},NOTE\r\n${buildPersonLine(10).trim()},\r\n${buildPersonLine(11).trim()},${long}\r\n`,
    )
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
    await setBackOfficeSettings({ exportFolder: exports })
    await runJob()
    await assert.rejects(runJob(), { message: new RegExp(`:${port} couldn't read ${pathTo(name)}: `) })
    proxy.close()
    assert.ok(!(await loadCustomers())?.ids.includes('10'))
    assert.ok(existsSync(pathTo(name)))
    await setBackOfficeSettings({})
    await importAll()
    assert.ok((await loadCustomers())?.ids.includes('11'))
  })

  test('a local copy of a file is never left behind', () => assert.deepEqual(listCopies(), []))
})
