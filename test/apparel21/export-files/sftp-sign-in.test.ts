import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import ssh2 from 'ssh2'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import { openSftp } from '../../../src/import/sources/sftp-session.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { lockStoredBackOffice, setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { runCommand, runSuccessfully } from '../../support/processes.ts'
import { sshdMissing } from '../../support/sshd.ts'
import { buildPersonLine, type Change, createSignal, csvHeader, startSftpFixture } from './sftp-fixture.ts'

const canary = 'kanarie-Wachtwoord-7'
const strangeKey = 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE'

test('a silent server times out', async () => {
  const server = createServer(socket => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address = { user: 'luma', host: '127.0.0.1', port, path: '/' }
  await assert.rejects(openSftp({ address, hostKeys: [], keyFile: undefined, password: canary }, createSignal(), 200), {
    message: `The SFTP server 127.0.0.1:${port} couldn't connect: no data for 0.2 seconds.`,
    isLasting: false,
  })
  server.close()
  await once(server, 'close')
})

describe('signing in to an SFTP server', { skip: sshdMissing }, async () => {
  const {
    pathTo,
    addFile,
    sshd,
    db,
    connection,
    luma,
    secret,
    keys,
    settings,
    buildSettings,
    setBackOfficeSettings,
    runJob,
    logLines,
    importAll,
    withExportFolder,
    findAlert,
    listCopies,
  } = await startSftpFixture()

  test('an unexpected host key prevents sign-in and raises an alert', async () => {
    const name = 'customers_20260210T101500Z.csv'
    await setBackOfficeSettings({ sftpHostKey: strangeKey, sftpKeyFile: undefined, sftpPassword: canary })
    addFile(name, csvHeader + buildPersonLine(9))
    await assert.rejects(runJob(), { name: 'ExportsUnreadable' })
    const alert = await findAlert('export_folder_unreadable')
    assert.ok(alert?.detail.includes(`has the host key ${sshd.hostKey} (ssh-ed25519), which is not in the settings`))
    assert.ok(existsSync(pathTo(name)))
    await setBackOfficeSettings({ sftpHostKey: `${strangeKey},${sshd.hostKey}=` })
    await importAll()
    assert.deepEqual(await listAlerts(db), [])
  })

  const wrong: [what: string, change: () => Change, reason: RegExp][] = [
    [
      'a wrong password',
      () => ({ sftpKeyFile: undefined, sftpPassword: canary }),
      /rejected the user, or its password\.$/,
    ],
    ['a wrong private key', () => ({ sftpKeyFile: sshd.unknownKeyFile }), /rejected the user, or its private key\.$/],
    ['a missing private key', () => ({ sftpKeyFile: '/no/such/key' }), /can't be read: ENOENT\.$/],
    ['an invalid private key', () => ({ sftpKeyFile: '/etc/passwd' }), /is invalid, or has another passphrase\.$/],
    [
      'a missing folder',
      () => ({ exportFolder: `${settings.exportFolder}/no` }),
      /couldn't list \S+\/no: the file or folder doesn't exist/,
    ],
  ]
  for (const [label, change, reason] of wrong)
    test(`${label} is reported as such`, async () => {
      await assert.rejects(
        withExportFolder(place => place.listNames(), change()),
        { message: reason, isLasting: true },
      )
    })

  test('a rejected password raises an alert without containing the password', async () => {
    await setBackOfficeSettings({ sftpKeyFile: undefined, sftpPassword: canary })
    await assert.rejects(runJob(), { name: 'ExportsUnreadable' })
    const alert = await findAlert('export_folder_unreadable')
    assert.match(alert?.detail ?? '', /^The SFTP server 127\.0\.0\.1:\d+ rejected the user, or its password\.$/)
    await setBackOfficeSettings({})
  })

  test('an encrypted private key is opened with its password', async () => {
    const sftpKeyFile = pathTo('.locked')
    copyFileSync(sshd.keyFile, sftpKeyFile)
    chmodSync(sftpKeyFile, 0o600)
    assert.equal(spawnSync('ssh-keygen', ['-p', '-q', '-P', '', '-N', canary, '-f', sftpKeyFile]).status, 0)
    assert.ok(
      (await withExportFolder(place => place.listNames(), { sftpKeyFile, sftpPassword: canary })).includes('done'),
    )
    await assert.rejects(
      withExportFolder(place => place.listNames(), { sftpKeyFile }),
      { message: /or has another passphrase\.$/ },
    )
  })

  test('a password can sign in and is stored encrypted', async () => {
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
    const ownSettings = { exportFolder: `sftp://luma@127.0.0.1:${port}${sshd.folder}`, sftpPassword: canary }
    await setBackOffice(db, keys, luma, buildSettings({ ...ownSettings, sftpKeyFile: undefined }))
    const row = await db.row<{ text: string }>(
      sql`select row_to_json(b)::text || encode(sftp_password, 'escape') as text from back_office b`,
    )
    assert.ok(row?.text.includes(sshd.hostKey) && !row.text.includes(canary))
    const stored = await lockStoredBackOffice(db, keys, luma)
    assert.ok(stored)
    const names = await withExportFolder(place => place.listNames(), { ...stored.settings, sftpKeyFile: undefined })
    assert.ok(names.includes('done'))
    const withOtherKey = await lockStoredBackOffice(db, deriveKeys(randomBytes(32)), luma)
    assert.deepEqual([withOtherKey?.isLocked, withOtherKey?.settings.sftpPassword], [true, undefined])
    await setBackOffice(db, keys, luma, settings)
    server.close()
  })

  test('the command line configures and tests a server without printing the password', async () => {
    const environment = { DATABASE_URL: connection, SECRET_KEY: secret }
    const passwordFile = pathTo('.password')
    writeFileSync(passwordFile, `${canary}\n`)
    const reached = await runSuccessfully(['back-office', 'test', 'luma'], environment)
    assert.match(reached, /^Export folder: sftp:\/\/\S+ can be read and written\. Waiting files: 0\.$/m)
    const args = ['back-office', 'set', 'luma', `exportFolder=${settings.exportFolder}`]
    const output = await runSuccessfully([...args, '--sftp-password-file', passwordFile], environment)
    assert.match(output, /^sftpPassword = \(set\)$/m)
    assert.doesNotMatch(output, /^sftpKeyFile = /m)
    const rejected = await runCommand(['back-office', 'test', 'luma'], environment)
    assert.equal(rejected.code, 1)
    assert.match(rejected.err, /tillbridge: The SFTP server \S+ rejected the user, or its password\.$/m)
    assert.match(rejected.out, /^Connected: version /m)
    const open = await runCommand(['back-office', 'set', 'luma', `sftpPassword=${canary}`], environment)
    assert.match(open.err, /A password can't be a command-line argument/)
    const folder = await runSuccessfully(['back-office', 'set', 'luma', `exportFolder=${sshd.folder}`], environment)
    assert.doesNotMatch(folder, /sftpHostKey|sftpPassword/)
    const audit = await db.rows<{ record: string }>(sql`select record from audit`)
    assert.ok(audit.length >= 2)
    const all = [reached, output, rejected.out, rejected.err, open.err, folder, ...audit.map(({ record }) => record)]
    assert.doesNotMatch(all.join('\n'), new RegExp(canary))
  })

  test('the password is never logged and no file copy is left behind', async () => {
    assert.ok(logLines.length)
    assert.doesNotMatch(logLines.join('\n'), new RegExp(canary))
    assert.deepEqual(listCopies(), [])
  })
})
