import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDirectory } from '../support/processes.ts'

const readRepositoryFile = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')

test('the upgrade commands can be repeated and install the new release', () => {
  const home = createDirectory()
  const opt = join(home, 'opt')
  mkdirSync(join(opt, 'tillbridge'), { recursive: true })
  const [section = ''] = /^## One process$.*?(?=^## )/ms.exec(readRepositoryFile('docs/operate/upgrade.md')) ?? []
  const blocks = [...section.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, lines = '']) => lines)
  // The commands about units need systemd, and the last one needs a running service.
  const script = blocks
    .filter(lines => /tar -xzf| mv /.test(lines))
    .join('')
    .replaceAll(/^ *sudo systemctl .*$/gm, '')
    .replaceAll('sudo ', '')
    .replaceAll('/opt/', `${opt}/`)
  assert.match(script, /tar -xzf tillbridge-0\.2\.0-linux-x64\.tar\.gz/)
  for (const release of ['1', '2', '3', '4']) {
    const created = join(home, 'tillbridge-0.2.0-linux-x64')
    mkdirSync(created, { recursive: true })
    writeFileSync(join(created, 'release'), release)
    execFileSync('tar', ['-czf', `${created}.tar.gz`, '-C', home, 'tillbridge-0.2.0-linux-x64'])
    execFileSync('sh', ['-c', 'sha256sum tillbridge-0.2.0-linux-x64.tar.gz > SHA256SUMS'], { cwd: home })
    execFileSync('sh', ['-e', '-c', script], { cwd: home })
    assert.equal(readFileSync(join(opt, 'tillbridge/release'), 'utf8'), release)
  }
  assert.equal(readFileSync(join(opt, 'tillbridge.old/release'), 'utf8'), '3')
})

const needsAnalyze = { skip: !existsSync('/usr/bin/systemd-analyze') && 'systemd-analyze is not installed' }

test('systemd accepts the commands for files elsewhere', needsAnalyze, () => {
  const sections = [
    ...readRepositoryFile('docs/operate/install-linux.md').matchAll(/^```\n\[Service\]\n(.*?)```$/gms),
  ].map(([, lines]) => lines)
  assert.equal(sections.length, 2)
  const file = join(createDirectory(), 'tillbridge.service')
  const unit = readRepositoryFile('deploy/tillbridge.service').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true')
  writeFileSync(file, unit.replace('[Install]', `${sections.join('')}[Install]`))
  const { status, stdout, stderr } = spawnSync('/usr/bin/systemd-analyze', ['verify', file], { encoding: 'utf8' })
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
})
