import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { installWithAccess } from '../support/installations/installations.ts'
import { cli, createDirectory, findPassword, runCommand, runSuccessfully } from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data'), LOG_LEVEL: 'warn', WEBHOOK_NETWORKS: '127.0.0.0/8' }
before(() => installWithAccess(environment))

/** Runs a command with a shell redirection of its standard output. The redirected output is lost. */
const runWithOutput = (redirection: string, args: readonly string[]) =>
  runCommand(args, environment, {
    program: ['bash', '-c', `set -o pipefail; "${process.execPath}" "${cli}" "$@" ${redirection}`, 'bash'],
  })

/** Pipes the output to a program that ends before the command writes. */
const closedReader = '| true'

for (const args of [['import', '--help'], ['doctor'], ['account', 'list']])
  test(`\`tillbridge ${args.join(' ')}\` ends the same way if its output is closed`, async () => {
    const { code, err } = await runCommand(args, environment)
    assert.deepEqual(await runWithOutput(closedReader, args), { code, signal: null, out: '', err })
  })

test('a failed write to standard output is reported as a failure', async () => {
  for (const args of [
    ['account', 'list'],
    ['import', '--help'],
  ]) {
    const { code, err } = await runWithOutput('> /dev/full', args)
    assert.equal(code, 1, args.join(' '))
    assert.match(err, /^tillbridge: Standard output can't be written: ENOSPC: no space left on device, write\.\n$/)
  }
})

test('an unprinted password is a failure that explains how to rotate', async () => {
  for (const [redirection, username] of [
    [closedReader, 'unread'],
    ['> /dev/full', 'unwritten'],
  ] as const) {
    const remedy = `tillbridge: The password can't be printed. To issue another one: tillbridge account rotate ${username}\n`
    for (const verb of [['add', '--service', 'luma'], ['rotate']]) {
      const { code, err } = await runWithOutput(redirection, ['account', ...verb, username])
      assert.equal(code, 1)
      assert.ok(err.endsWith(remedy), err)
    }
    assert.match(findPassword(await runSuccessfully(['account', 'rotate', username], environment)), /^.{20,}$/)
  }
})

test('an unprinted webhook secret is a failure that explains how to rotate', async () => {
  const { code, err } = await runWithOutput(closedReader, ['webhook', 'add', 'https://127.0.0.1/hooks'])
  const [, remedy = '', id = ''] =
    /^tillbridge: The secret can't be printed\. To issue another one: tillbridge (webhook rotate (\S+) --service luma)\n$/.exec(
      err,
    ) ?? []
  assert.deepEqual([code, id.length], [1, 36], err)
  const repeated = await runWithOutput('> /dev/full', remedy.split(' '))
  assert.equal(repeated.code, 1)
  assert.match(
    repeated.err,
    new RegExp(
      `The secret can't be printed\\. To issue another one: tillbridge webhook rotate ${id} --service luma\\n$`,
    ),
  )
  assert.match(await runSuccessfully(remedy.split(' '), environment), /^Secret: whsec_/m)
})

test('listen delivers nothing if its secret could not be printed', async () => {
  const { code, err } = await runWithOutput('> /dev/full', ['listen', '--forward', 'http://127.0.0.1:8080/hooks'])
  assert.equal(code, 1)
  assert.match(err, /tillbridge: The secret can't be printed\. Use your own with --secret-file\.\n$/)
})

test('a backup with a closed output is a failure', async () => {
  const { code, err } = await runWithOutput(closedReader, ['backup', '-'])
  assert.equal(code, 1)
  assert.match(err, /^tillbridge: Standard output was closed by the reading program\.$/m)
})
