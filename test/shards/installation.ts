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

/** The API on a control database with one service, and functions that run commands for this installation. */
export interface ShardedInstallation extends TestApi {
  environment: Environment
  /** Registers a database as a shard. `options` are additional arguments of `shard add`. */
  addShard(name: string, url: string, ...options: string[]): Promise<string>
  /** Creates a service and its admin in a shard. */
  createShardService(name: string, shard: string, ...settings: string[]): Promise<Credentials & { service: Service }>
  /** Runs a command. Returns its output. Fails if the exit code isn't 0. */
  runSuccessfully(...args: string[]): Promise<string>
  /** Moves a service. Repeats a move that was undone because a busy machine would have paused writes for too long. */
  moveService(name: string, to: string): Promise<string>
}

export async function startShardedInstallation(environment: Environment = {}): Promise<ShardedInstallation> {
  const api = await startTestApi({ environment })
  const home = createDirectory()
  const commandEnvironment = {
    ...environment,
    DATABASE_URL: api.database.connection,
    SECRET_KEY: api.secret,
    DATA_DIR: join(home, 'data'),
  }
  await api.db.run(sql`insert into installation (secret_digest) values (${api.keys.digest})`)
  const run = (...args: string[]) => runSuccessfully(args, commandEnvironment)
  return Object.assign(api, {
    environment: commandEnvironment,
    runSuccessfully: run,
    async moveService(name: string, to: string) {
      const args = ['service', 'move', name, '--to', to]
      for (let attempts = 0; attempts < 3; attempts++) {
        const { code, out, err } = await runCommand(args, commandEnvironment)
        if (code === 0) return out
        assert.match(err, /writes can't be paused for longer. Try again. The move was undone/)
      }
      return run(...args)
    },
    addShard(name: string, url: string, ...options: string[]) {
      const file = join(home, `${name}.url`)
      writeFileSync(file, `${url}\n`)
      return run('shard', 'add', name, '--url-file', file, ...options)
    },
    async createShardService(name: string, shard: string, ...settings: string[]) {
      await run('service', 'add', name, '--shard', shard, ...settings)
      const output = await run('account', 'add', `${name}-admin`, '--service', name, '--role', 'admin')
      const service = await api.db.row<Service>(sql`select service_id as id, name from service where name = ${name}`)
      if (!service) throw new Error('the service is missing')
      return { username: `${name}-admin`, password: findPassword(output), serviceName: name, service }
    },
  })
}

/** Returns a caller of the installation's API. */
export function createCaller(api: TestApi, access: Pick<Caller, 'username' | 'password' | 'service'>): Caller {
  const request: Caller['request'] = (path, options = {}) =>
    api.sendRaw(path, { ...options, headers: { ...buildCredentials(access), ...options.headers } })
  return { ...access, request, get: (path, headers) => request(path, headers ? { headers } : {}) }
}
