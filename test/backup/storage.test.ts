import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { formatName } from '../../src/commands/backups/storage/storage.ts'
import { sql } from '../../src/database/db.ts'
import {
  createDirectory,
  type Environment,
  runCommand,
  runSuccessfully,
  startCommand,
  waitUntil,
} from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { sshdMissing, startSshd } from '../support/sshd.ts'

/** An S3-compatible server of npm. Its access key and secret key are both S3RVER. */
interface S3Server {
  run(): Promise<unknown>
  close(): Promise<void>
}
const S3rver: new (options: object) => S3Server = createRequire(import.meta.url)('s3rver')

const home = createDirectory()
const identity = join(home, 'identity')
let api: TestApi
let environment: Environment

before(async () => {
  api = await startTestApi()
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const created = await runSuccessfully(['backup', 'keygen', identity], {})
  environment = {
    DATABASE_URL: api.database.connection,
    SECRET_KEY: api.secret,
    DATA_DIR: join(home, 'data'),
    BACKUP_RECIPIENTS: /age1\w+/.exec(created)?.[0] ?? '',
    BACKUP_KEEP: '1',
  }
})
after(() => api?.stop())

/** Stores two backups, of which one is kept, and lists, fetches and verifies it. Checks that no other file is left or deleted. */
async function testStorage(storage: Environment, list: () => string[]) {
  const settings = { ...environment, ...storage }
  assert.match(await runSuccessfully(['backup'], settings), /^Backup control-\d{8}T\d{6}Z\.tillbridge stored\.$/m)
  const [first] = list().filter(isBackup)
  await waitUntil(() => formatName('control') !== first, 'the next second begins', 2_000)
  const output = await runSuccessfully(['backup'], settings)
  assert.match(
    output,
    /^Encrypted backup taken and verified: [\d,]+ rows/m,
    'the output must not name a temporary file',
  )
  assert.match(output, new RegExp(`^Backup ${first} deleted, because BACKUP_KEEP is 1\\.$`, 'm'))
  const [name = '', ...otherBackups] = list().filter(isBackup)
  assert.deepEqual(otherBackups, [])
  assert.notEqual(name, first)
  assert.ok(list().includes('notes.txt'), 'a file of another program must be kept')
  assert.match(await runSuccessfully(['backup', 'list'], settings), new RegExp(`^${name} +0\\.0 MB$`, 'm'))
  const copy = join(home, `copy-${name}`)
  const { DATABASE_URL, ...offline } = settings
  await runSuccessfully(['backup', 'fetch', name, copy], offline)
  assert.match(
    await runSuccessfully(['backup', 'verify', copy, '--identity', identity], offline),
    /Signature, digest and every row match/,
  )
  const repeated = await runCommand(['backup', 'fetch', name, copy], offline)
  assert.match(repeated.err, /can't be written: EEXIST/)
  const missing = await runCommand(['backup', 'fetch', first ?? '', join(home, 'none')], offline)
  assert.match(missing.err, /not found\. Run "tillbridge backup list"/)
  const uploads = join(home, 'data/backup-upload')
  assert.deepEqual(fs.existsSync(uploads) ? fs.readdirSync(uploads) : [], [])
}

const isBackup = (name: string) => /^control-.*\.tillbridge$/.test(name)

test('a folder keeps, lists and returns backups', async () => {
  const folder = join(home, 'folder')
  fs.mkdirSync(folder)
  fs.writeFileSync(join(folder, 'notes.txt'), '')
  const draft = '.control-20260101T000000Z.tillbridge.other.1.part'
  fs.writeFileSync(join(folder, draft), '')
  fs.utimesSync(join(folder, draft), 1, 1)
  // Broken links, like files that another process has renamed or deleted since the folder was read.
  for (const name of ['.east-20260101T000000Z.tillbridge.other.2.part', 'east-20260101T000000Z.tillbridge'])
    fs.symlinkSync('gone', join(folder, name))
  await testStorage({ BACKUP_STORAGE: folder }, () => fs.readdirSync(folder))
  assert.ok(!fs.readdirSync(folder).includes(draft))
})

test('an SFTP server keeps, lists and returns backups', { skip: sshdMissing }, async t => {
  const sshd = await startSshd()
  t.after(sshd.remove)
  const folder = join(sshd.folder, 'shop')
  fs.mkdirSync(folder)
  fs.writeFileSync(join(folder, 'notes.txt'), '')
  const storage = {
    BACKUP_STORAGE: `sftp://${sshd.user}@127.0.0.1:${sshd.port}${folder}`,
    BACKUP_SFTP_HOST_KEY: sshd.hostKey,
    BACKUP_SFTP_KEY_FILE: sshd.keyFile,
  }
  await testStorage(storage, () => fs.readdirSync(folder))
  const wrongKey = { ...environment, ...storage, BACKUP_SFTP_KEY_FILE: sshd.unknownKeyFile }
  assert.match((await runCommand(['backup'], wrongKey)).err, /rejected the user, or its private key/)
  await sshd.kill()
  assert.match((await runCommand(['backup'], { ...environment, ...storage })).err, /couldn't connect: ECONNREFUSED/)
})

test('an S3-compatible bucket keeps, lists and returns backups', async t => {
  const directory = join(home, 's3')
  const port = await findFreePort()
  const server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'backups' }],
  })
  await server.run()
  t.after(() => server.close())
  const folder = join(directory, 'backups/shop')
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(join(folder, 'notes.txt'), '')
  const storage = {
    BACKUP_STORAGE: 's3://backups/shop',
    BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    BACKUP_S3_ACCESS_KEY: 'S3RVER',
    BACKUP_S3_SECRET_KEY: 'S3RVER',
  }
  const list = () => fs.readdirSync(folder).map(name => name.replace(/\._S3rver_object$/, ''))
  await testStorage(storage, list)
  await testSimultaneous({ ...environment, ...storage })
  const wrongKey = { ...environment, ...storage, BACKUP_S3_ACCESS_KEY: 'WRONG' }
  assert.match((await runCommand(['backup'], wrongKey)).err, /The S3 bucket backups at \S+ couldn't list backups: \S/)
  const missing = { ...environment, ...storage, BACKUP_STORAGE: 's3://nowhere/shop' }
  assert.match((await runCommand(['backup', 'list'], missing)).err, /The S3 bucket nowhere at \S+ doesn't exist\. /)
})

/** Runs two backups at the same time, such as a manual one and one of a worker that lost its lease. */
async function testSimultaneous(settings: Environment) {
  const commands = await api.db.transaction(async tx => {
    await tx.run(sql`lock table store in access exclusive mode`)
    const started = [1, 2].map(() => startCommand(['backup'], settings))
    const blocked = sql`
      select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`
    await waitUntil(async () => (await api.db.run(blocked)) === 2, 'both backups have begun')
    return started
  })
  for (const { ended } of commands) await ended
  assert.deepEqual(
    commands.map(({ child, err }) => [child.exitCode, err]),
    [
      [0, ''],
      [0, ''],
    ],
  )
}

test('settings that contradict each other are reported', async () => {
  const { code, err } = await runCommand(['backup', 'list'], {
    BACKUP_STORAGE: 'sftp://me@127.0.0.1/',
    BACKUP_INTERVAL_HOURS: '24',
    BACKUP_RECIPIENTS: '',
  })
  assert.equal(code, 1)
  assert.match(err, /BACKUP_INTERVAL_HOURS requires BACKUP_STORAGE and BACKUP_RECIPIENTS\./)
  assert.match(err, /BACKUP_SFTP_HOST_KEY must be set/)
  assert.match(err, /BACKUP_SFTP_PASSWORD or BACKUP_SFTP_KEY_FILE must be set/)
})

test('a worker takes scheduled backups, and doctor and metrics report their age', async () => {
  const settings = { ...environment, BACKUP_STORAGE: join(home, 'scheduled'), BACKUP_INTERVAL_HOURS: '1' }
  await api.db.run(sql`update installation set backed_up_at = null`)
  const without = await runCommand(['doctor'], settings)
  assert.match(without.out, /FAIL +Backups +No backup exists, although one is scheduled every 1 hour\./)
  const undeletable = 'control-20260101T000000Z.tillbridge'
  fs.mkdirSync(join(settings.BACKUP_STORAGE, undeletable), { recursive: true })
  const port = await findFreePort()
  const worker = startCommand(['worker'], { ...settings, METRICS_PORT: String(port) })
  await waitUntil(
    async () => (await api.db.row(sql`select from installation where backed_up_at is not null`)) !== undefined,
    'a backup is taken',
    60_000,
  )
  await waitUntil(() => /"backup stored"/.test(worker.err), 'the backup is logged', 60_000)
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  assert.match(metrics, /^tillbridge_backup_schedule_seconds\{database="control"\} 3600$/m)
  assert.match(metrics, /^tillbridge_backup_timestamp_seconds\{database="control"\} \d{10}/m)
  worker.child.kill('SIGTERM')
  assert.equal((await worker.ended).code, 0)
  assert.match(worker.err, new RegExp(`"warning":"Backup ${undeletable} couldn't be deleted: `))
  assert.equal(fs.readdirSync(settings.BACKUP_STORAGE).filter(isBackup).length, 2)
  const row = await api.db.row<{ minutes: number }>(sql`
    select extract(epoch from due_at - now())::float8 / 60 as minutes from job where name = 'take-backup'`)
  assert.ok((row?.minutes ?? 0) > 55 && (row?.minutes ?? 0) <= 60)
  assert.match(
    (await runCommand(['doctor'], settings)).out,
    /PASS +Backups +newest backup: \S+, 0 hours ago, scheduled every 1 h/,
  )
  await api.db.run(sql`update installation set backed_up_at = now() - interval '3 hours'`)
  assert.match(
    (await runCommand(['doctor'], settings)).out,
    /FAIL +Backups +newest backup: \S+, 3 hours ago, scheduled/,
  )
})

test('a backup no longer scheduled does not wait for a worker', async () => {
  const { BACKUP_RECIPIENTS, ...settings } = environment
  await api.db.run(sql`
    insert into job (service_id, name) values (null, 'take-backup') on conflict (service_id, name, subject) do update set due_at = now()`)
  const worker = startCommand(['worker'], settings)
  await waitUntil(
    async () => (await api.db.run(sql`select from job where name = 'take-backup' and due_at > now()`)) === 1,
    'the job is rescheduled',
    20_000,
  )
  worker.child.kill('SIGTERM')
  assert.equal((await worker.ended).code, 0)
})
