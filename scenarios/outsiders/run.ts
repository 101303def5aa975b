import { spawnSync } from 'node:child_process'
import { request } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { type CheckResult, check } from '../support/expectations/check.ts'
import { installPipTools } from '../support/install-tools.ts'
import { type Installation, openInstallation } from '../support/installation.ts'
import { printChecks, say } from '../support/report.ts'
import { malformedJson } from './malformed-json.ts'
import { naughtyStrings } from './naughty-strings.ts'

// Sends hostile inputs to a running server and runs external tools against it. Run it before each release: every finding must be fixed or explained.

/** The longest response time in milliseconds, also on a busy machine. */
const maxMs = 5_000

interface Program {
  args(port: string): string[]
  /** Returns the folder of the program. Undefined if it can't be installed. Absent: it must be on the PATH. */
  install?: () => Promise<string | undefined>
  /** Matches each finding in the output. Group 1 is its name. */
  finding: RegExp
  /** Findings that contributing/testing.md explains. */
  explained: readonly string[]
}

/** The external programs. Each is skipped by name if it isn't installed. */
const programs: Readonly<Record<string, Program>> = {
  h2spec: {
    args: port => ['-t', '-k', '-h', 'localhost', '-p', port],
    finding: /^ *× \d+: (.+)$/gm,
    explained: [
      'closed: Sends a DATA frame after sending RST_STREAM frame',
      'closed: Sends a HEADERS frame after sending RST_STREAM frame',
      'closed: Sends a DATA frame',
      'closed: Sends a HEADERS frame',
      'Sends stream identifier that is numerically smaller than previous',
      'Sends PRIORITY frame that depend on itself',
      'Sends a PRIORITY frame with 0x0 stream identifier',
      'Sends a PING frame with ACK',
      // Only on a busy machine: the response is complete before the body arrives.
      'Sends a HEADERS frame with the "content-length" header field which does not equal the DATA frame payload length',
      'Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream',
    ],
  },
  sslyze: {
    args: port => ['--mozilla_config=intermediate', `localhost:${port}`],
    install: () => installPipTools('sslyze==6.3.1'),
    // The other lists of sslyze have capital letters.
    finding: /^ +\* ([a-z]\w*): /gm,
    explained: ['certificate_path_validation', 'maximum_certificate_lifespan', 'tls_curves'],
  },
}

const command = new Command('npm run scenario -- outsiders')
  .description(
    'Sends malformed JSON and naughty strings to each kind of operation, then runs h2spec, sslyze and Schemathesis if they are installed.\nRequires that no response is a 5xx or takes longer than 5 s.',
  )
  .option('--no-schemathesis', 'skip Schemathesis, which takes ten minutes')
  .addHelpText('after', '\nExample:\n  npm run scenario -- outsiders --no-schemathesis')
  .parse()
const { schemathesis } = command.opts<{ schemathesis: boolean }>()

interface Response {
  status: number
  ms: number
}

function send(
  { apis: [api], credentials }: Installation,
  method: string,
  path: string,
  body?: string | Buffer,
): Promise<Response> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${api?.baseUrl}${path}`,
      {
        method,
        rejectUnauthorized: false,
        headers: {
          authorization: `Basic ${credentials.apiKey}`,
          'x-service-name': credentials.service,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
      },
      response =>
        response
          .resume()
          .on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - startedAt })),
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const operations = [
  ['POST', '/customers'],
  ['PUT', '/settings'],
  ['POST', '/orders'],
  ['POST', '/console/session'],
] as const

async function sendMalformedJson(server: Installation): Promise<CheckResult> {
  const wrong: string[] = []
  for (const [name, body] of Object.entries(malformedJson))
    for (const [method, path] of operations) {
      const { status, ms } = await send(server, method, path, body)
      // A write of the console is rejected without an `Origin`.
      const expected = path === '/console/session' ? [400, 403] : [400]
      if (!expected.includes(status) || ms > maxMs) wrong.push(`${name} at ${path}: ${status} in ${Math.round(ms)} ms`)
    }
  return check('malformed JSON is rejected with 400', wrong, Object.keys(malformedJson).length * operations.length)
}

/** Requests that contain a string: in the path, in each kind of parameter, in a body. */
const requestBuilders: readonly ((text: string) => [method: string, path: string, body?: string])[] = [
  text => ['GET', `/customers/${encodeURIComponent(text)}`],
  text => ['GET', `/customers?email=${encodeURIComponent(text)}`],
  text => ['GET', `/customers/search?updated_after=${encodeURIComponent(text)}`],
  text => ['GET', `/customers/search?surname=${encodeURIComponent(text)}`],
  text => ['GET', `/stores?after_cursor=${encodeURIComponent(text)}`],
  text => ['GET', `/stores?limit=${encodeURIComponent(text)}`],
  text => ['GET', `/orders/transactions/search?sold_after=${encodeURIComponent(text)}`],
  text => ['GET', `/errors/${encodeURIComponent(text)}`],
  text => ['GET', `/console/${encodeURIComponent(text)}`],
  text => [
    'POST',
    '/customers',
    JSON.stringify({ surname: text, firstname: text, dateOfBirth: text, contact: { email: text } }),
  ],
  text => ['POST', '/accounts', JSON.stringify({ username: text, role: text })],
  text => ['POST', '/vouchers/lookup', JSON.stringify({ number: text, pin: text })],
  text => ['POST', `/imports?type=${encodeURIComponent(text)}`, text],
]

async function sendNaughtyStrings(server: Installation): Promise<CheckResult> {
  const wrong: string[] = []
  for (const [name, text] of Object.entries(naughtyStrings))
    for (const buildRequest of requestBuilders) {
      const [method, path, body] = buildRequest(text.toWellFormed())
      const { status, ms } = await send(server, method, path, body)
      if (status >= 500 || ms > maxMs) wrong.push(`${name} at ${method} ${path.slice(0, 30)}: ${status}`)
    }
  return check('no string causes a 5xx', wrong, Object.keys(naughtyStrings).length * requestBuilders.length)
}

/** Runs a program. Returns undefined if it isn't installed. */
async function runProgram(name: string, program: Program, port: string): Promise<CheckResult | undefined> {
  const folder = await program.install?.()
  const { status, stdout, error } = spawnSync(folder ? join(folder, name) : name, program.args(port), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) return void say(`${name} is not installed: skipped.`)
  process.stdout.write(stdout)
  const findings = [...new Set(Array.from(stdout.matchAll(program.finding), ([, finding = '']) => finding.trim()))]
  const unexplained = findings.filter(finding => !program.explained.includes(finding))
  // A program that fails without a finding has not tested anything.
  if (status !== 0 && !findings.length) unexplained.push(`exit code ${status}`)
  for (const finding of findings)
    if (!unexplained.includes(finding)) say(`${name}: ${finding} is explained in contributing/testing.md.`)
  return check(`${name} has no findings that are not explained`, unexplained)
}

const installation = await openInstallation({ environment: { HTTP2: 'true' } })
const checks: CheckResult[] = []
try {
  checks.push(await sendMalformedJson(installation), await sendNaughtyStrings(installation))
  const port = new URL(installation.apis[0]?.baseUrl ?? '').port
  for (const [name, program] of Object.entries(programs)) {
    const result = await runProgram(name, program, port)
    if (result) checks.push(result)
  }
  checks.push(check('the server logs no error', installation.log))
} finally {
  await installation.close()
}
if (schemathesis) {
  const script = fileURLToPath(new URL('../../scripts/schemathesis/run.ts', import.meta.url))
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' })
  checks.push(check('Schemathesis has no findings', status === 0 ? [] : [`exit code ${status}`]))
}
printChecks(checks)
