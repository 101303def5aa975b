import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import { Decrypter } from 'age-encryption'
import { writeToStream } from '../../src/backup/file.ts'
import { encodeFrame } from '../../src/backup/frames.ts'
import { sql } from '../../src/database/db.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { digestTables } from './installation.ts'

const home = createDirectory()
const [file, identity, otherIdentity] = ['a.tillbridge', 'identity', 'other'].map(name => join(home, name)) as [
  string,
  string,
  string,
]
let api: TestApi
let target: TestDatabase
let recipient = ''
let contents: Awaited<ReturnType<typeof digestTables>>
const createEnvironment = ({ connection }: Pick<TestDatabase, 'connection'>) => ({
  DATABASE_URL: connection,
  SECRET_KEY: api.secret,
  DATA_DIR: join(home, 'data'),
  BACKUP_RECIPIENTS: recipient,
})

before(async () => {
  api = await startTestApi()
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  target = await createEmptyDatabase()
})
after(async () => {
  await target?.drop()
  await api?.stop()
})

const createKey = async (path: string) => {
  const output = await runSuccessfully(['backup', 'keygen', path], {})
  return /^BACKUP_RECIPIENTS=(age1\w+)$/m.exec(output)?.[1] ?? ''
}

test('a backup without recipients needs an explicit flag', async () => {
  const environment = createEnvironment(api.database)
  const { code, err } = await runCommand(['backup', file], environment)
  assert.equal(code, 1)
  assert.match(err, /must be encrypted, but BACKUP_RECIPIENTS is not set\. .* or add --plain\./)
  const removal = await runCommand(['service', 'remove', api.service.name, '--yes', api.service.name], environment)
  assert.match(removal.err, /must be encrypted, but BACKUP_RECIPIENTS is not set/)
  assert.match(await runSuccessfully(['backup', file, '--plain'], environment), /^Plain backup written to /)
  assert.match(
    await runSuccessfully(['backup', 'verify', file], environment),
    /Signature, digest and every row match\.\n$/,
  )
})

test('an invalid recipient is rejected before the backup', async () => {
  const environment = createEnvironment(api.database)
  const wrong = `age1${'q'.repeat(58)}`
  for (const value of ['age1', 'ssh-ed25519 AAAA', wrong]) {
    const { code, err } = await runCommand(['backup', join(home, 'none')], { ...environment, BACKUP_RECIPIENTS: value })
    assert.equal(code, 1)
    assert.match(err, /BACKUP_RECIPIENTS (must be age public keys|has an invalid age public key: age1q+)/)
  }
  assert.ok(!fs.existsSync(join(home, 'none')))
  let isRead = false
  const frames = (async function* () {
    isRead = true
    yield encodeFrame('D', Buffer.from('a\n'))
  })()
  await assert.rejects(writeToStream(new PassThrough(), frames, { keys: api.keys, recipients: [wrong] }), /invalid age/)
  assert.equal(isRead, false, 'the database must not be read')
})

test('a backup is encrypted to its recipients and contains no plain text', async () => {
  recipient = await createKey(identity)
  assert.equal(fs.statSync(identity).mode & 0o777, 0o600)
  const repeated = await runCommand(['backup', 'keygen', identity], {})
  assert.match(repeated.err, /identity can't be written: EEXIST/)
  contents = await digestTables(api.db)
  const output = await runSuccessfully(['backup', file], createEnvironment(api.database))
  assert.match(output, /^Encrypted backup written to \S+ and verified: [\d,]+ rows as of \S+Z/)
  assert.match(output, new RegExp(`^To restore it you need the identity file of ${recipient}\\.$`, 'm'))
  const bytes = fs.readFileSync(file)
  const start = bytes.indexOf('age-encryption.org/v1\n')
  assert.equal(start, 'Tillbridge backup 1\n'.length)
  // The file has one recipient, so no key of this process can decrypt it later.
  assert.equal(bytes.toString('latin1', start, start + 400).match(/^-> /gm)?.length, 1)
})

test('the payload is a file of age, which any age program decrypts', async () => {
  const bytes = fs.readFileSync(file)
  const manifest = JSON.parse(bytes.toString('latin1').split('\n').at(-4) ?? '')
  assert.deepEqual(manifest.recipients, [recipient])
  const decrypter = new Decrypter()
  decrypter.addIdentity(fs.readFileSync(identity, 'utf8').split('\n')[2] ?? '')
  const start = 'Tillbridge backup 1\n'.length
  const plain = await decrypter.decrypt(bytes.subarray(start, start + manifest.payload.bytes))
  assert.equal(Buffer.from(plain.subarray(0, 4)).toString('hex'), '28b52ffd')
})

test('backup verify checks the signature, and the rows with the identity', async () => {
  const environment = createEnvironment(api.database)
  const { DATABASE_URL, ...offline } = environment
  const without = await runSuccessfully(['backup', 'verify', file], offline)
  assert.match(
    without,
    /is valid: [\d,]+ rows as of .*\nSignature and digest match\. It was not decrypted: add --ident/,
  )
  const complete = await runSuccessfully(['backup', 'verify', file, '--identity', identity], offline)
  assert.match(complete, /Signature, digest and every row match\.\n$/)
  const foreign = await runCommand(['backup', 'verify', file], { ...offline, SECRET_KEY: 'x'.repeat(40) })
  assert.match(foreign.err, /SECRET_KEY is not the secret that goes with this backup/)
})

test('damaged and truncated encrypted backups are reported', async () => {
  const bytes = fs.readFileSync(file)
  const badFile = join(home, 'bad')
  const environment = createEnvironment(api.database)
  for (const [content, reason] of [
    [bytes.subarray(0, -200), 'its end is missing'],
    [Buffer.concat([bytes.subarray(0, 500), bytes.subarray(600)]), 'its content has \\d+ bytes instead of \\d+'],
    [flipBit(bytes, 2_000), 'its content differs from its manifest'],
    [flipBit(bytes, bytes.length - 200), '(its manifest|its content has|its end)'],
  ] as const) {
    fs.writeFileSync(badFile, content)
    const { code, err } = await runCommand(['backup', 'verify', badFile], environment)
    assert.equal(code, 1)
    assert.match(err, new RegExp(`bad is damaged: ${reason}.*\\. Use another backup\\.`))
  }
  fs.writeFileSync(badFile, flipBit(bytes, 2_000))
  const { err } = await runCommand(['backup', 'verify', badFile, '--identity', identity], environment)
  assert.match(
    err,
    /bad is damaged: (it can't be decrypted|its content differs from its manifest)\. Use another backup\./,
  )
})

const flipBit = (bytes: Buffer, at: number) => {
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8((bytes[at] ?? 0) ^ 1, at)
  return flipped
}

test('a restore needs the identity of a recipient', async () => {
  const environment = createEnvironment(target)
  await createKey(otherIdentity)
  fs.writeFileSync(join(home, 'text'), 'no key\n')
  for (const [options, reason] of [
    [[], new RegExp(`is encrypted\\. Add --identity <file> with the private key of ${recipient}`)],
    [
      ['--identity', otherIdentity],
      new RegExp(`can't be decrypted with this identity\\. It is encrypted to ${recipient}\\.`),
    ],
    [['--identity', join(home, 'text')], /text must be an identity file/],
    [['--identity', join(home, 'nowhere')], /Identity file .*nowhere can't be read: not found/],
  ] as const) {
    const { code, err } = await runCommand(['restore', file, ...options], environment)
    assert.equal(code, 1)
    assert.match(err, reason)
    assert.doesNotMatch(err, /AGE-SECRET-KEY-1\w/)
  }
  const output = await runSuccessfully(['restore', '--keep-cursors', '--identity', identity, file], environment)
  assert.match(output, /^Restored [\d,]+ rows/)
  assert.deepEqual(await digestTables(target.db), contents)
})
