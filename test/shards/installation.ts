import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import {
  type Credentials,
  createDirectory,
  type Environment,
  findPassword,
  runCommand,
  runSuccessfully,
} from '../support/processes.ts'
import { buildCredentials } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'

/** A control database with one service in it, its API, and commands for it. */
export interface Spread extends TestApi {
  environment: Environment
  /** Makes a database known by a name; `more`: what else the command is given. */
  add(name: string, url: string, ...more: string[]): Promise<string>
  /** Creates a service with an admin in a shard. */
  place(name: string, database: string, ...settings: string[]): Promise<Credentials & { service: Service }>
  /** Runs a command that has to succeed; returns what it says. */
  command(...args: string[]): Promise<string>
  /** Moves a service; again where the machine was so busy that its writes would have paused for too long, which undoes all. */
  move(name: string, to: string): Promise<string>
}

export async function startSpread(environment: Environment = {}): Promise<Spread> {
  const api = await startTestApi({ environment })
  const home = createDirectory()
  const of = {
    ...environment,
    DATABASE_URL: api.database.connection,
    SECRET_KEY: api.secret,
    DATA_DIR: join(home, 'data'),
  }
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const command = (...args: string[]) => runSuccessfully(args, of)
  return Object.assign(api, {
    environment: of,
    command,
    async move(name: string, to: string) {
      const args = ['service', 'move', name, '--to', to]
      for (let tries = 0; tries < 3; tries++) {
        const { code, out, err } = await runCommand(args, of)
        if (code === 0) return out
        assert.match(err, /writes can't be paused for longer. Try again. The move was undone/)
      }
      return command(...args)
    },
    add(name: string, url: string, ...more: string[]) {
      const file = join(home, `${name}.url`)
      writeFileSync(file, `${url}\n`)
      return command('shard', 'add', name, '--url-file', file, ...more)
    },
    async place(name: string, database: string, ...settings: string[]) {
      await command('service', 'add', name, '--shard', database, ...settings)
      const output = await command('account', 'add', `${name}-admin`, '--service', name, '--role', 'admin')
      const service = await api.db.row<Service>(sql`select service_id as id, name from service where name = ${name}`)
      if (!service) throw new Error('the service was made')
      return { username: `${name}-admin`, password: findPassword(output), serviceName: name, service }
    },
  })
}

/** Returns a caller of the installation's API. */
export function callerOf(api: TestApi, access: Pick<Caller, 'username' | 'password' | 'service'>): Caller {
  const request: Caller['request'] = (path, options = {}) =>
    api.sendRaw(path, { ...options, headers: { ...buildCredentials(access), ...options.headers } })
  return { ...access, request, get: (path, headers) => request(path, headers ? { headers } : {}) }
}
