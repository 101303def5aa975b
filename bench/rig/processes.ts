import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The service in a separate process, as users start it. */
export interface Running {
  pid: number
  port: number
  ca: string
  /** The certificate that it serves with. */
  certificate: { cert: string; key: string }
  stop(): Promise<void>
}

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** `tillbridge start` on a free port, under `directory`. Returns when the service is ready. */
export async function startService(directory: string, environment: Record<string, string> = {}): Promise<Running> {
  const child = spawn(cli, ['start', '--no-demo'], {
    // No .env of the checkout is read in this folder.
    cwd: directory,
    env: { PATH: process.env.PATH, DATA_DIR: '.', PORT: '0', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
      const servedPort = /serves https:\/\/localhost:(\d+)/.exec(output)?.[1]
      if (servedPort) resolve(Number(servedPort))
    })
    ended.then(([code]) => reject(new Error(`The service ended with code ${code}.`)))
  })
  const read = (name: string) => readFile(join(directory, 'tls', name), 'utf8')
  return {
    pid: child.pid ?? 0,
    port,
    ca: await read('ca.pem'),
    certificate: { cert: await read('cert.pem'), key: await read('key.pem') },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
