import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { readFrames, verifyFile, writeToStream } from '../../src/backup/file.ts'
import { encodeFrame } from '../../src/backup/frames.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { sql } from '../../src/database/db.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'

const home = createDirectory()
const file = join(home, 'small')
const secret = randomBytes(32).toString('hex')
const keys = deriveKeys(secret)
const verify = (path: string) => verifyFile(path, [keys.signing])
/** Writes a signed backup with these frames. */
const writeFrames = (path: string, frames: Buffer[]) =>
  writeToStream(fs.createWriteStream(path), Readable.from(frames), { keys, recipients: 'plain' })
let source: TestDatabase
let target: TestDatabase
const createEnvironment = ({ connection }: TestDatabase, SECRET_KEY = secret) => ({
  DATABASE_URL: connection,
  SECRET_KEY,
  DATA_DIR: join(home, 'data'),
})

before(async () => {
  source = await createTestDatabase()
  target = await createEmptyDatabase()
  await runSuccessfully(['service', 'add', 'luma'], createEnvironment(source))
  await runSuccessfully(['backup', file], createEnvironment(source))
})
after(async () => {
  await source?.drop()
  await target?.drop()
})

async function runRejected(path: string, environment: Record<string, string>) {
  const { code, err } = await runCommand(['restore', path], environment)
  assert.equal(code, 1)
  return err
}
const countTables = async ({ db }: TestDatabase) =>
  (await db.rows(sql`select from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`)).length

test('a backup with any missing or changed byte is rejected', async () => {
  const bytes = fs.readFileSync(file)
  const badFile = join(home, 'bad')
  const step = Math.ceil(bytes.length / 200)
  for (let at = 0; at < bytes.length; at += step) {
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8((bytes[at] ?? 0) ^ 0x10, at)
    fs.writeFileSync(badFile, flipped)
    await assert.rejects(
      verify(badFile),
      /is damaged: |is not a backup\. |by another version of Tillbridge/,
      `byte ${at}`,
    )
    fs.writeFileSync(badFile, bytes.subarray(0, at))
    await assert.rejects(verify(badFile), /is damaged: |is not a backup\. /, `cut after ${at}`)
  }
})

test('a backup whose rows do not match their count is rejected', async () => {
  const badFile = join(home, 'bad')
  const head = { release: '1', postgres: '18', takenAt: '', migrations: [], secret: '' }
  const end = { tables: [{ name: 'store', rows: 1, sha256: 'x' }], sequences: [] }
  const frames = [
    encodeFrame('H', head),
    encodeFrame('T', { name: 'store', columns: [] }),
    encodeFrame('D', Buffer.from('a\n')),
    encodeFrame('E', end),
  ]
  await writeFrames(badFile, frames)
  await assert.rejects(verify(badFile), /the rows of store differ from what was written/)
  await writeFrames(badFile, frames.slice(0, 3))
  await assert.rejects(verify(badFile), /its end is missing/)
})

test('a backup that another secret signed is rejected', async () => {
  const foreign = [deriveKeys(randomBytes(32)).signing]
  await assert.rejects(verifyFile(file, foreign), /its manifest was not signed with the secret of this installation/)
})

test('a damaged backup or wrong secret leaves the database unchanged', async () => {
  fs.writeFileSync(join(home, 'cut'), fs.readFileSync(file).subarray(0, -40))
  assert.match(await runRejected(join(home, 'cut'), createEnvironment(target)), /is damaged: .*Use another backup/)
  fs.writeFileSync(join(home, 'other'), 'something else')
  assert.match(
    await runRejected(join(home, 'other'), createEnvironment(target)),
    /is not a backup\. Create one with "tillbridge backup <file>"/,
  )
  const other = createEnvironment(target, randomBytes(32).toString('hex'))
  assert.match(await runRejected(file, other), /SECRET_KEY is not the secret that goes with this backup/)
  assert.match(await runRejected(join(home, 'nowhere'), createEnvironment(target)), /File .*nowhere not found/)
  assert.equal(await countTables(target), 0)
})

test('a database with a service or foreign tables is rejected and unchanged', async t => {
  assert.match(
    await runRejected(file, createEnvironment(source)),
    /already contains data \(luma\)\. .*DATABASE_URL to a new database/,
  )
  const foreignDatabase = await createEmptyDatabase()
  t.after(() => foreignDatabase.drop())
  await foreignDatabase.db.run(sql`create table theirs (a integer)`)
  assert.match(await runRejected(file, createEnvironment(foreignDatabase)), /already contains other tables \(theirs\)/)
  assert.equal(await countTables(foreignDatabase), 1)
  const listed = await runSuccessfully(['service', 'list'], createEnvironment(source))
  assert.match(listed, /^luma /m)
})

test('a newer backup is rejected; an initialised database without services is accepted', async () => {
  await source.db.run(sql`insert into migration (number, name, sha256) values (9999, '9999_later.sql', 'x')`)
  await runSuccessfully(['backup', join(home, 'newer')], createEnvironment(source))
  await source.db.run(sql`delete from migration where number = 9999`)
  const message = await runRejected(join(home, 'newer'), createEnvironment(target))
  assert.match(message, /made of migration 9999_later\.sql, which this version does not have/)
  assert.equal(await countTables(target), 0)
  await runSuccessfully(['migrate'], createEnvironment(target))
  await runSuccessfully(['restore', file], createEnvironment(target))
  assert.match(await runSuccessfully(['service', 'list'], createEnvironment(target)), /^luma /m)
})

test('a restore is rejected if the clock is behind the backup', async t => {
  const behind = await createEmptyDatabase()
  t.after(() => behind.drop())
  const [head, ...frames] = await Array.fromAsync(readFrames(file))
  const header = JSON.parse(head?.[1].toString() ?? '')
  const bytes = [
    encodeFrame('H', { ...header, takenAt: '2099-01-01T00:00:00Z' }),
    ...frames.map(([kind, body]) => encodeFrame(kind, body)),
  ]
  await writeFrames(join(home, 'future'), bytes)
  assert.match(
    await runRejected(join(home, 'future'), createEnvironment(behind)),
    /the clock of this database shows .* Correct the clock/,
  )
})
