import { readFile } from 'node:fs/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Command } from 'commander'
import { type Access, createApi } from './api.ts'
import { customers } from './customers.ts'
import { endpoints, limits } from './endpoints.ts'
import { type Installation, startInstallation } from './installation.ts'
import { purpose, resources } from './resources.ts'
import { authentication, errors, rules, versioning } from './rules.ts'
import { createShop } from './shop.ts'
import type { Section, StatementContext } from './statement.ts'
import { Untestable } from './untestable.ts'

/** All sections of the specification, in order. */
const specification = [purpose, resources, customers, endpoints, rules, authentication, errors, limits, versioning]

interface Options {
  simulator?: boolean
  url?: string
  apiKey?: string
  service?: string
  ca?: string
  writes?: boolean
  voucher?: string
}

const program = new Command('npm run scenario -- specification')
  .description(
    'Tests each statement of the specification over HTTPS: ✔ it holds, ✖ it does not hold, – it could not be tested.\nWithout --url, it starts a temporary installation with the demo.',
  )
  .option('--simulator', 'use a simulated Apparel21 instead of the demo')
  .option('--url <url>', 'a running installation')
  .option('--api-key <key>', 'the API key of an account: the part after `Basic`')
  .option('--service <name>', 'the service (X-Service-Name)')
  .option('--ca <file>', 'the certificate authority (PEM), if it is not a public one')
  .option('--writes', 'also test writes: this creates customers, an order, a return and gift vouchers')
  .option('--voucher <number:PIN>', 'a voucher to look up and to lock briefly')
  .addHelpText(
    'after',
    `
Examples:
  npm run scenario -- specification                      the demo, on the embedded back office
  npm run scenario -- specification --simulator        in front of the simulator
  npm run scenario -- specification --url https://localhost:8443 --ca .data/tls/ca.pem \\
    --service demo --api-key ZGVtbzo… --writes --voucher 9100001:204816

Exit code: 0 if each tested statement holds, otherwise 1.
`,
  )

const options = program.parse().opts<Options>()

const installation = options.url === undefined ? await startInstallation({ simulator: !!options.simulator }) : undefined
try {
  await trustAuthority(installation?.ca ?? (options.ca === undefined ? undefined : await readFile(options.ca, 'utf8')))
  const failed = await checkAll(createContext(installation))
  process.exitCode = failed ? 1 : 0
} finally {
  await installation?.stop()
}

/** Makes `fetch` trust a certificate authority. */
async function trustAuthority(ca: string | undefined) {
  if (ca !== undefined) setDefaultCACertificates([...getCACertificates('default'), ca])
}

function createContext(own: Installation | undefined): StatementContext {
  const api = createApi(own?.access ?? readAccess(options))
  const [number = '', pin = ''] = options.voucher?.split(':') ?? []
  const voucher = own?.voucher ?? (pin ? { number, pin } : undefined)
  const writes = own !== undefined || options.writes === true
  return {
    api,
    shop: createShop(api, { writes, voucher, ship: own?.ship }),
    old: own && createApi(own.old),
    mails: own?.mails,
  }
}

function readAccess({ url = '', apiKey, service }: Options): Access {
  if (apiKey === undefined || service === undefined) return program.error('--url needs --api-key and --service.')
  return { url: url.replace(/\/$/, ''), apiKey, service }
}

/** Checks all statements in order and prints a line for each. Returns the number of failures. */
async function checkAll(context: StatementContext): Promise<number> {
  const counts = { holding: 0, failed: 0, untested: 0 }
  for (const { heading, statements } of specification satisfies readonly Section[]) {
    console.log(`\n${heading}`)
    for (const { sentence, check } of statements) {
      try {
        await check(context)
        counts.holding++
        console.log(`  ✔ ${sentence}`)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        if (error instanceof Untestable) counts.untested++
        else counts.failed++
        console.log(
          `  ${error instanceof Untestable ? '–' : '✖'} ${sentence} (${reason.replace(/\s+/g, ' ').slice(0, 300)})`,
        )
      }
    }
  }
  console.log(`\n${counts.holding} hold, ${counts.failed} do not, ${counts.untested} were not tested.`)
  return counts.failed
}
