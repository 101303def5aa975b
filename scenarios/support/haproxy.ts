import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Certificate } from '../../src/tls/tls.ts'
import { findFreePort } from './free-port.ts'

const program = '/usr/sbin/haproxy'
const exampleFile = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url))

export const haproxyMissing = existsSync(program) ? undefined : `${program} is missing: apt-get install haproxy`

/** A library that shifts the clock of a process. */
export const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
export const faketimeMissing = existsSync(faketime) ? undefined : `${faketime} is missing: apt-get install libfaketime`

/** Reads the status of each server from HAProxy's socket. */
async function readStatuses(socket: string): Promise<string[]> {
  const connection = connect(socket)
  try {
    connection.end('show stat\n')
    const lines = (await text(connection)).split('\n').map(line => line.split(','))
    const [names = []] = lines
    return lines.filter(([, server = '']) => server.startsWith('api-')).map(line => line[names.indexOf('status')] ?? '')
  } catch {
    return []
  }
}

interface HaproxyOptions {
  directory: string
  /** Ports of the API processes on this machine. */
  ports: readonly number[]
  /** The certificate of HAProxy and of the processes. */
  certificate: Certificate & { caFile: string }
}

/** Starts HAProxy with `deploy/haproxy.cfg` in front of processes of this machine. */
export async function startHaproxy({ directory, ports, certificate }: HaproxyOptions) {
  const port = await findFreePort()
  const socket = join(directory, 'stats')
  const certificateFile = join(directory, 'haproxy.pem')
  writeFileSync(certificateFile, `${certificate.cert}\n${certificate.key}`, { mode: 0o600 })
  const lines = readFileSync(exampleFile, 'utf8').split('\n')
  const configuration = lines
    .flatMap(line =>
      line.includes(' server one ')
        ? ports.map((apiPort, i) => line.replace('server one', `server api-${i + 1}`).replace(':8443', `:${apiPort}`))
        : [line],
    )
    .join('\n')
    .replace('maxconn 4096', `maxconn 4096\n  stats socket ${socket} mode 600`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('/etc/ssl/tillbridge-with-key.pem', certificateFile)
    .replaceAll('/var/lib/tillbridge/tls/ca.pem', certificate.caFile)
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, configuration)
  const proxy: ChildProcess = spawn(program, ['-f', file, '-db'], { stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  return {
    baseUrl: `https://localhost:${port}`,
    /** Resolves when HAProxy sends requests to each process. Throws after 120 s. */
    async untilAllAreUp() {
      const startedAt = performance.now()
      while ((await readStatuses(socket)).filter(status => status === 'UP').length < ports.length) {
        if (performance.now() - startedAt > 120_000)
          throw new Error('HAProxy did not find all processes up within 120 s')
        await delay(100)
      }
    },
    async end() {
      proxy.kill('SIGTERM')
      await ended
    },
  }
}
