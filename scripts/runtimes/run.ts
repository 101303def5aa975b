import { spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNpmTools } from '../../scenarios/support/install-tools.ts'
import { issueCertificate } from '../../src/tls/issue-certificate.ts'
import type { Outcome } from './program.ts'

// Runs a program that uses the client in Node, Deno and Bun, against the demo shop. Reports and skips runtimes that
// can't be installed.

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-runtimes-'))
const dataDir = join(directory, 'data')
const platform = `${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`

function writeTextFile(name: string, text: string) {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

const createKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

/** Returns the command that runs a program with the certificates of a file, or undefined if the runtime can't be installed. */
const runtimes: Record<string, (main: string, caFile: string) => Promise<string[] | undefined>> = {
  node: async main => [process.execPath, main],
  deno: async (main, authorityFile) => {
    const programs = await installNpmTools('deno@2.9.6')
    return programs === undefined
      ? undefined
      : [join(programs, 'deno'), 'run', '--quiet', '--no-config', '--allow-net', '--cert', authorityFile, main]
  },
  bun: async main => {
    const programs = await installNpmTools(`@oven/bun-${platform}@1.4.5`)
    return programs === undefined
      ? undefined
      : [join(programs, '..', '@oven', `bun-${platform}`, 'bin', 'bun'), 'run', main]
  },
}

const isExpected = ({ stores, title, customersWritten, missing, followed, rejectedSignature }: Outcome) =>
  stores > 0 &&
  [title, customersWritten, missing, followed, rejectedSignature].join(' ') === 'Dr 1 not_found changed timestamp_off'

async function passesIn(name: string, main: string, authorityFile: string): Promise<boolean> {
  const [command, ...args] = (await runtimes[name]?.(main, authorityFile)) ?? []
  if (command === undefined) {
    console.error(`SKIPPED: ${name} cannot be installed.`)
    return true
  }
  const env = { PATH: process.env.PATH, HOME: directory, NODE_EXTRA_CA_CERTS: authorityFile, NO_COLOR: '1' }
  const { stdout, stderr } = spawnSync(command, args, { cwd: directory, env, encoding: 'utf8', timeout: 120_000 })
  const [, outcome] = /^OUTCOME (.*)$/m.exec(stdout) ?? []
  const passed = outcome !== undefined && isExpected(JSON.parse(outcome))
  console.log(passed ? `${name}: ${outcome}` : `${name} FAILED:\n${stdout}${stderr}`)
  return passed
}

// Bun's TLS (BoringSSL) rejects an authority whose name constraints include IP addresses.
const hosts = { names: ['localhost'], addresses: [] }
const [caKey, key] = [createKey(), createKey()]
const authority = { subject: 'Runtime test', key: caKey }
const times = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) }
const caFile = writeTextFile('ca.pem', issueCertificate({ ...authority, hosts, ...times }))
const certFile = writeTextFile('cert.pem', issueCertificate({ subject: 'localhost', key, hosts, authority, ...times }))
const keyFile = writeTextFile('key.pem', key.export({ type: 'pkcs8', format: 'pem' }).toString())

const env = {
  PATH: process.env.PATH,
  HOME: directory,
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  TLS_CERT_FILE: certFile,
  TLS_KEY_FILE: keyFile,
}
const server = spawn(process.execPath, [join(checkout, 'src/cli.js'), 'start'], {
  cwd: directory,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(server, 'exit')
try {
  console.log('Starting a demo shop.')
  let output = ''
  for await (const chunk of server.stdout.setEncoding('utf8')) {
    output += chunk
    if (output.includes('Press Ctrl-C to stop.')) break
  }
  const access = JSON.parse(readFileSync(join(dataDir, 'access.json'), 'utf8'))
  const { baseUrl: url, username, password, serviceName } = access
  const connection = { url, apiKey: Buffer.from(`${username}:${password}`).toString('base64'), service: serviceName }
  const main = join(directory, 'main.ts')
  const program = join(checkout, 'scripts/runtimes/program.ts')
  writeFileSync(
    main,
    `import { program } from ${JSON.stringify(program)}
console.log('OUTCOME ' + JSON.stringify(await program(${JSON.stringify(connection)})))
`,
  )
  for (const name of Object.keys(runtimes)) if (!(await passesIn(name, main, caFile))) process.exitCode = 1
} finally {
  server.kill('SIGTERM')
  await ended
  rmSync(directory, { recursive: true, force: true })
}
