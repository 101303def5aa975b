import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { isInstalled } from '../../scenarios/packaging/image/requirements.ts'
import { readConfig } from '../../src/config/config.ts'
import { findBinaries } from '../../src/postgres/binaries.ts'
import { needsOpenCheckout } from '../support/postgres/processes.ts'
import { checkout, createDirectory } from '../support/processes.ts'

const project = `tillbridge-test-${process.pid}`
// A dry run of podman-compose creates the volumes.
after(() => {
  const volumes = ['database', 'tillbridge'].map(name => `${project}_${name}`)
  spawnSync('podman', ['volume', 'rm', '--force', ...volumes])
})

const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'

const environment: Record<string, string> = { BACKUP_INTERVAL_HOURS: '12', BACKUP_RECIPIENTS: recipient }

const hasCompose = spawnSync('podman-compose', ['--help']).status === 0

test('podman-compose accepts Tillbridge next to PostgreSQL, with secrets in files', {
  skip: !hasCompose && 'podman-compose is not installed',
}, () => {
  const home = createDirectory()
  cpSync(join(checkout, 'deploy'), join(home, 'deploy'), { recursive: true })
  mkdirSync(join(home, 'dist'))
  mkdirSync(join(home, 'deploy/secrets'))
  for (const name of ['database_password', 'database_url', 'secret_key'])
    writeFileSync(join(home, 'deploy/secrets', name), name)
  const planUp = (file: string) => {
    const { stderr, stdout } = spawnSync(
      'podman-compose',
      ['--dry-run', '-p', project, '-f', `deploy/${file}`, 'up', '-d'],
      {
        cwd: home,
        encoding: 'utf8',
        env: { ...process.env, ...environment },
      },
    )
    return `${stdout}${stderr}`
  }
  const plan = planUp('compose.yaml')
  const [database = '', tillbridge = ''] = plan.split('\n').filter(line => / run --name=/.test(line))
  assert.match(database, /postgres:18 postgres -c wal_level=logical/)
  assert.match(
    database,
    /--healthcheck-command .*pg_isready.* -v .*database:\/var\/lib\/postgresql|-v .*database:\/var\/lib\/postgresql.*pg_isready/,
  )
  assert.match(tillbridge, /DATABASE_URL_FILE=\/run\/secrets\/database_url/)
  assert.match(tillbridge, /SECRET_KEY_FILE=\/run\/secrets\/secret_key/)
  assert.match(tillbridge, /--read-only/)
  // A variable without a value is taken from the environment of the command.
  const settings = [...tillbridge.matchAll(/-e (BACKUP_\w+)(?:=(\S+))?/g)].map(([, name = '', value]) => [
    name,
    value ?? environment[name],
  ])
  const config = readConfig({ DATABASE_URL: 'postgres://database', ...Object.fromEntries(settings) })
  assert.deepEqual(
    [config.backupStorage, config.backupIntervalHours, config.backupKeep, config.backupRecipients],
    [{ type: 'folder', path: '/var/lib/tillbridge/backups' }, 12, 14, [recipient]],
  )
  assert.doesNotMatch(planUp('compose.evaluation.yaml'), /postgres:18/)
})

test('PostgreSQL 18 accepts the options of initdb in compose.yaml', {
  skip: process.geteuid?.() === 0 && needsOpenCheckout,
}, () => {
  const { services } = parse(readFileSync(join(checkout, 'deploy/compose.yaml'), 'utf8'))
  const options: string[] = services.database.environment.POSTGRES_INITDB_ARGS.split(' ')
  const data = join(createDirectory(), 'data')
  mkdirSync(data)
  const uid = process.geteuid?.() === 0 ? 65_534 : process.geteuid?.()
  if (uid !== undefined) chownSync(data, uid, -1)
  // The image postgres:18 has this locale.
  const env = { LANG: 'en_US.utf8' }
  const { status, stderr } = spawnSync(findBinaries().initdb, ['--no-sync', `--pgdata=${data}`, ...options], {
    encoding: 'utf8',
    env,
    uid,
  })
  assert.equal(status, 0, stderr)
})

test('a program that rejects --version counts as installed', t => {
  const home = createDirectory()
  const program = join(home, 'ip-of-debian-12')
  writeFileSync(program, '#!/bin/sh\necho \'Option "--version" is unknown, try "ip -help".\' >&2\nexit 255\n')
  chmodSync(program, 0o755)
  const { PATH } = process.env
  t.after(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = `${home}:${PATH}`
  assert.equal(isInstalled('ip-of-debian-12'), true)
  assert.equal(isInstalled('ip-of-no-distribution'), false)
})
