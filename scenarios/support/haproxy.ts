import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Certificate } from '../../src/tls/tls.ts'
import { freePort } from './free-port.ts'

const program = '/usr/sbin/haproxy'
const example = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url))

export const noHaproxy = existsSync(program) ? undefined : `there is no ${program}: apt-get install haproxy`

/** What shifts the clock of a process. */
export const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
export const noFaketime = existsSync(faketime) ? undefined : `there is no ${faketime}: apt-get install libfaketime`

/** What HAProxy thinks of each server. */
async function statusesAt(socket: string): Promise<string[]> {
  const asked = connect(socket)
  try {
    asked.end('show stat\n')
    const lines = (await text(asked)).split('\n').map(line => line.split(','))
    const [names = []] = lines
    return lines.filter(([, server = '']) => server.startsWith('api-')).map(line => line[names.indexOf('status')] ?? '')
  } catch {
    return []
  }
}

interface Behind {
  directory: string
  /** Where processes serve on this machine. */
  ports: readonly number[]
  /** What both it and they show. */
  certificate: Certificate & { caFile: string }
}

/** HAProxy as `deploy/haproxy.cfg` has it, in front of processes of this machine. */
export async function startHaproxy({ directory, ports, certificate }: Behind) {
  const port = await freePort()
  const socket = join(directory, 'stats')
  const both = join(directory, 'haproxy.pem')
  writeFileSync(both, `${certificate.cert}\n${certificate.key}`, { mode: 0o600 })
  const lines = readFileSync(example, 'utf8').split('\n')
  const text = lines
    .flatMap(line =>
      line.includes(' server one ')
        ? ports.map((each, i) => line.replace('server one', `server api-${i + 1}`).replace(':8443', `:${each}`))
        : [line],
    )
    .join('\n')
    .replace('maxconn 4096', `maxconn 4096\n  stats socket ${socket} mode 600`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('/etc/ssl/tillbridge-with-key.pem', both)
    .replaceAll('/var/lib/tillbridge/tls/ca.pem', certificate.caFile)
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, text)
  const proxy: ChildProcess = spawn(program, ['-f', file, '-db'], { stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  return {
    baseUrl: `https://localhost:${port}`,
    /** Resolves once it sends requests to each of the processes. */
    async untilAllAreUp() {
      const begun = performance.now()
      while ((await statusesAt(socket)).filter(status => status === 'UP').length < ports.length) {
        if (performance.now() - begun > 120_000) throw new Error('HAProxy does not find all who serve')
        await delay(100)
      }
    },
    async end() {
      proxy.kill('SIGTERM')
      await ended
    },
  }
}
