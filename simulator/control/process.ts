import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectSimulator } from './remote.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/** Starts a simulator of the back office in a separate process. Resolves when it responds. */
export async function startSimulatorProcess(args: readonly string[] = []) {
  const child = spawn(process.execPath, [main, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
      const printedUrl = /BACK_OFFICE_URL=(\S+)/.exec(output)?.[1]
      if (printedUrl) resolve(printedUrl)
    })
    ended.then(([code]) => reject(new Error(`The simulator ended with code ${code}.`)))
  })
  const remote = connectSimulator(`${new URL(url).origin}/_simulator`)
  return {
    url,
    remote,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
