import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, createDirectory, runCommand } from '../support/processes.ts'

const runDoctor = async (envFile: string, environment = {}) => {
  const cwd = createDirectory()
  fs.writeFileSync(join(cwd, '.env'), envFile)
  return (await runCommand(['doctor'], environment, { cwd })).out
}

test('.env accepts export, quotes, comments and CRLF', async () => {
  const out = await runDoctor(
    `export PORT=x1 \nWEB_CONCURRENCY=x2  # all of them\nHOST='x4'\nother_name=1\nDATA_DIR=/nowhere/a#b  # the big disk\nPUBLIC_URL= # none yet\r\nCA="one\nmore line"\n`,
  )
  assert.match(out, /PORT must be .*; it is "x1"\.$/m)
  assert.match(out, /WEB_CONCURRENCY must be .*; it is "x2"\.$/m)
  assert.match(out, /HOST must be .*; it is "x4"\.$/m)
  assert.doesNotMatch(out, /PUBLIC_URL/)
  assert.match(await runDoctor('DATA_DIR=/nowhere/a#b  # the big disk\n'), /Data +\/nowhere\/a#b must be a directory/)
  for (const quote of [`'`, '"'])
    assert.match(
      await runDoctor(`DATA_DIR=${quote}/nowhere/a #b${quote}  # the big disk\n`),
      /Data +\/nowhere\/a #b must be a directory/,
    )
})

test('an invalid line of .env is named but not repeated', async () => {
  const out = await runDoctor('# ours\nPORT=9000\nSECRET_KEY: hidden\n')
  assert.match(out, /^FAIL {2}Settings +\.env: line 3 must have the form NAME=value\./m)
  assert.doesNotMatch(out, /hidden/)
})

test('the example secret is rejected', async () => {
  const example = /^#(SECRET_KEY=.*)$/m.exec(fs.readFileSync(join(checkout, '.env.example'), 'utf8'))?.[1] ?? ''
  assert.match(
    await runDoctor(`${example}\n`),
    /SECRET_KEY can't contain whitespace: use the output of openssl rand -hex 32\./,
  )
})

test('an unreadable file is not reported as missing', async () => {
  const loop = join(createDirectory(), 'loop')
  fs.symlinkSync('loop', loop)
  const { out } = await runCommand(['doctor'], { TLS_CERT_FILE: loop, TLS_KEY_FILE: '/nowhere/key' })
  assert.match(out, /TLS_CERT_FILE must name a file that can be read \(ELOOP\)/)
  assert.match(out, /TLS_KEY_FILE must name an existing file/)
})

test('--version prints the version', async () => {
  const { version } = JSON.parse(fs.readFileSync(join(checkout, 'package.json'), 'utf8'))
  for (const option of ['--version', '-V']) {
    const { code, out } = await runCommand([option], {})
    assert.deepEqual([code, out], [0, `${version}\n`])
  }
  assert.match(
    (await runCommand(['doctor'], {}, { cwd: createDirectory() })).out,
    new RegExp(`^PASS {2}Release +${version}, Node `, 'm'),
  )
})

test('an empty input is reported', async () => {
  const { err } = await runCommand(['shard', 'add', 'eu-2'], {})
  assert.equal(err, "tillbridge: The URL can't be empty.\n")
})
