import { spawnSync } from 'node:child_process'
import { request } from 'node:https'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { type CheckResult, check } from '../support/expectations/check.ts'
import { type Installation, openInstallation } from '../support/installation.ts'
import { printChecks, say } from '../support/report.ts'
import { malformedJson } from './malformed-json.ts'
import { naughtyStrings } from './naughty-strings.ts'

// Tools and inputs of outsiders against a running server. Run it before each release: findings are zero or explained.

/** Milliseconds that a response can take on a busy machine. */
const maxMs = 5_000

/** The external programs, with the arguments for an address. Each is skipped by name if it isn't installed. */
const programs: Readonly<Record<string, (port: string) => string[]>> = {
  h2spec: port => ['-t', '-k', '-h', 'localhost', '-p', port],
  sslyze: port => ['--mozilla_config=intermediate', `localhost:${port}`],
}

const command = new Command('npm run scenario -- outsiders')
  .description(
    'Sends malformed JSON and naughty strings to each kind of operation, then runs h2spec, sslyze and Schemathesis if they are installed.\nA response is never a 5xx, and none takes longer than 5 s.',
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
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
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
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - begun })),
    )
    sent.on('error', reject)
    sent.end(body)
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
const places: readonly ((text: string) => [method: string, path: string, body?: string])[] = [
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
    for (const place of places) {
      const [method, path, body] = place(text.toWellFormed())
      const { status, ms } = await send(server, method, path, body)
      if (status >= 500 || ms > maxMs) wrong.push(`${name} at ${method} ${path.slice(0, 30)}: ${status}`)
    }
  return check('no string causes a 5xx', wrong, Object.keys(naughtyStrings).length * places.length)
}

/** Runs a program. Returns undefined if it isn't installed. */
function runProgram(name: string, port: string): CheckResult | undefined {
  const { status, error } = spawnSync(name, programs[name]?.(port) ?? [], { stdio: 'inherit' })
  if (error) return void say(`${name} is not installed: skipped.`)
  return check(`${name} has no findings`, status === 0 ? [] : [`exit code ${status}`])
}

const installation = await openInstallation({ environment: { HTTP2: 'true' } })
const checks: CheckResult[] = []
try {
  checks.push(await sendMalformedJson(installation), await sendNaughtyStrings(installation))
  const port = new URL(installation.apis[0]?.baseUrl ?? '').port
  for (const name of Object.keys(programs)) checks.push(...[runProgram(name, port) ?? []].flat())
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
