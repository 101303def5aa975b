import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startStandby, urlOf } from '../../scenarios/support/standby.ts'
import type { Postgres } from '../../src/postgres/postgres.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  runCommand,
  sendGet,
  serve,
  stopServer,
} from '../support/processes.ts'
import { type OwnDatabase, ownDatabase } from './own-postgres.ts'

describe('a primary and its standby', () => {
  const home = createDirectory()
  let primary: OwnDatabase
  let standby: Postgres
  const urlWith = (servers: readonly Postgres[], ...more: string[]) => {
    const url = urlOf(servers, primary.postgres.connection.database)
    return more.reduce((all, server) => all.replace('@', `@${server},`), url)
  }
  const settings = (url: string) => ({ DATABASE_URL: url, DATA_DIR: join(home, 'data') })

  before(async () => {
    primary = await ownDatabase(join(home, 'primary'), { max_wal_senders: '10' })
    standby = await startStandby(join(home, 'standby'), primary, { fsync: 'off' })
  })
  after(async () => {
    await standby?.stop()
    await primary?.drop()
  })

  test('start and commands leave a standby that is named first', async () => {
    const environment = settings(urlWith([standby, primary.postgres]))
    const access = await createServiceAccess(environment, 'first')
    const server = await serve(['--no-demo'], environment)
    const statuses = await Promise.all(Array.from({ length: 10 }, () => sendGet(server, '/stores', access)))
    assert.deepEqual(new Set(statuses.map(({ status }) => status)), new Set([200]))
    assert.doesNotMatch(server.err, /connection to the database broke/)
    await stopServer(server)
  })

  test('start and commands find the primary behind a dead server and a standby', async () => {
    const environment = settings(urlWith([standby, primary.postgres], `127.0.0.1:${pickPort()}`))
    const access = await createServiceAccess(environment, 'second')
    const server = await serve(['--no-demo'], environment)
    const statuses = await Promise.all(Array.from({ length: 10 }, () => sendGet(server, '/stores', access)))
    assert.deepEqual(new Set(statuses.map(({ status }) => status)), new Set([200]))
    await stopServer(server)
  })

  test('a command names the standby if no primary is there', async () => {
    const { code, err } = await runCommand(['service', 'list'], settings(urlWith([standby])))
    assert.equal(code, 1)
    assert.match(err, /^tillbridge: The database is unreachable: \S+ is a standby.* Check DATABASE_URL\.\n$/)
  })
})
