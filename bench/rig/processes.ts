import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A running Tillbridge in a separate process, as users start it. */
export interface RunningService {
  pid: number
  port: number
  ca: string
  /** The certificate of the server, in PEM. */
  certificate: { cert: string; key: string }
  stop(): Promise<void>
}

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** Runs `tillbridge start` on a free port, under `directory`. Resolves when the service is ready. */
export async function startService(
  directory: string,
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const child = spawn(cli, ['start', '--no-demo'], {
    // In this folder, the service doesn't read the .env file of the checkout.
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
  const readTlsFile = (name: string) => readFile(join(directory, 'tls', name), 'utf8')
  return {
    pid: child.pid ?? 0,
    port,
    ca: await readTlsFile('ca.pem'),
    certificate: { cert: await readTlsFile('cert.pem'), key: await readTlsFile('key.pem') },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
