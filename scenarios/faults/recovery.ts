import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { openDatabase, sql } from '../../src/database/db.ts'
import { check } from '../support/expectations/check.ts'
import { findFreePort } from '../support/free-port.ts'
import { cli } from '../support/processes.ts'
import { printChecks } from '../support/report.ts'

new Command('npm run scenario -- recovery')
  .description(
    "Follows the point-in-time recovery of docs/operate/backup-and-restore.md with Debian's PostgreSQL: adds a service, deletes it, and restores it.",
  )
  .addHelpText('after', '\nExample:\n  npm run scenario -- recovery\n')
  .parse()

const debian = '/usr/lib/postgresql'
const versions = readdirSync(debian).sort((a, b) => Number(b) - Number(a))
if (!versions[0]) throw new Error(`There is no PostgreSQL in ${debian}: apt-get install postgresql`)
const programs = join(debian, versions[0], 'bin')
const home = mkdtempSync(join(tmpdir(), 'tillbridge-recovery-'))
chmodSync(home, 0o777)
const [data, archive, base] = ['data', 'archive', 'base'].map(name => join(home, name)) as [string, string, string]
const port = await findFreePort()
const url = `postgres://tillbridge@127.0.0.1:${port}/postgres`
const isRoot = process.geteuid?.() === 0

function run(program: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
  const needsPostgresUser = program.startsWith(debian) && isRoot
  const [command, ...commandArgs] = needsPostgresUser
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--', program, ...args]
    : [program, ...args]
  const { status, stdout, stderr } = spawnSync(command ?? '', commandArgs, {
    cwd: home,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...environment },
    // A started server keeps running, and would keep pipes open.
    stdio: program.endsWith('pg_ctl') ? 'ignore' : 'pipe',
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout ?? ''}${stderr ?? ''}`)
  return stdout ?? ''
}
const runPgCtl = (...args: string[]) => run(join(programs, 'pg_ctl'), ['-D', data, '-w', '-t', '60', ...args])
const tillbridge = (...args: string[]) =>
  run(process.execPath, [cli, ...args], {
    DATABASE_URL: url,
    DATA_DIR: join(home, 'tillbridge'),
    SECRET_KEY: 'x'.repeat(64),
  })

const settings = `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${home}'
archive_mode = on
archive_timeout = 60
archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'
`
try {
  mkdirSync(archive)
  chmodSync(archive, 0o777)
  run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'tillbridge', '--encoding=UTF8', '--locale=C.UTF-8'])
  appendFileSync(join(data, 'postgresql.conf'), settings)
  runPgCtl('-l', join(home, 'log'), 'start')
  tillbridge('service', 'add', 'before')
  run(join(programs, 'pg_basebackup'), [
    '-D',
    base,
    '-X',
    'none',
    '-c',
    'fast',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'tillbridge',
  ])
  tillbridge('service', 'add', 'after-the-base')
  const db = openDatabase(url, { max: 1 })
  const restoreTime = (await db.row<{ at: string }>(sql`select clock_timestamp()::text as at`))?.at ?? ''
  await delay(1_000)
  await db.run(sql`delete from service where name = 'after-the-base'`)
  await db.run(sql`select pg_switch_wal()`)
  await db.close()
  runPgCtl('-m', 'fast', 'stop')

  rmSync(data, { recursive: true })
  run('cp', ['-a', base, data])
  appendFileSync(
    join(data, 'postgresql.conf'),
    `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${restoreTime}'\nrecovery_target_action = promote\n`,
  )
  writeFileSync(join(data, 'recovery.signal'), '')
  runPgCtl('-l', join(home, 'log'), 'start')
  const services = tillbridge('service', 'list')
  const acknowledgement = tillbridge('restore', 'acknowledge')
  printChecks([
    check(
      'a service that existed at the restore time is restored',
      /^after-the-base /m.test(services) ? [] : [services],
    ),
    check('a service from before the base backup is restored', /^before /m.test(services) ? [] : [services]),
    check('cursors of clients expire', /expired/.test(acknowledgement) ? [] : [acknowledgement]),
  ])
} finally {
  try {
    runPgCtl('-m', 'immediate', 'stop')
  } catch {
    // The server wasn't running.
  }
  rmSync(home, { recursive: true, force: true })
}
