import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  connectToDatabase,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  stopServer,
} from '../processes.ts'
import { install } from './installations.ts'

/**
 * Prepares a server without jobs and runs commands that manage a connection of the service `luma`. Records all output,
 * to check that it doesn't contain the secret.
 */
export function openConnectionCommands(command: 'back-office' | 'ecommerce', secret: string) {
  const home = createDirectory()
  const environment = { DATA_DIR: join(home, 'data'), RUN_JOBS: 'false', LOG_LEVEL: 'debug' }
  const secretFile = join(home, 'secret')
  const outputs: string[] = []
  let server: RunningServer
  return {
    environment,
    secretFile,
    get server() {
      return server
    },
    async start() {
      writeFileSync(secretFile, `${secret}\n`)
      server = await serve(['--no-demo'], await install(environment))
      await runSuccessfully(['service', 'add', 'luma', 'currency=AUD'], environment)
    },
    async stop() {
      if (server) await stopServer(server)
    },
    async runSuccessfully(...args: string[]) {
      const output = await runSuccessfully([command, ...args], environment)
      outputs.push(output)
      return output
    },
    async runCommand(...args: string[]) {
      const result = await runCommand([command, ...args], environment)
      outputs.push(result.out, result.err)
      return result
    },
    async query<Row extends object>(text: string): Promise<Row[]> {
      const client = await connectToDatabase(environment.DATA_DIR)
      try {
        return (await client.query<Row>(text)).rows
      } finally {
        await client.end()
      }
    },
    /** Asserts that neither the outputs nor the log contain the secret. */
    assertSecretIsHidden() {
      assert.ok(outputs.length >= 5)
      assert.ok(![...outputs, server.out, server.err].join('\n').includes(secret))
    },
  }
}
