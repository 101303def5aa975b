import { Command, InvalidArgumentError, Option } from 'commander'
import { type SizeName, sizes } from './generate/shop.ts'
import { countRecords } from './shop/shop.ts'
import { startSimulator } from './simulator.ts'
import { parseRelease } from './world/release.ts'
import type { Settings } from './world/settings.ts'

const parseCount = (text: string) => {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be an integer with at most 7 digits.')
  return Number(text)
}
const parseReleaseOption = (text: string) => {
  try {
    parseRelease(text)
    return text
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

interface Options {
  port: number
  host: string
  release: string
  seed: string
  size: SizeName
  stores?: number
  styles?: number
  skus?: number
  persons?: number
  vouchers?: number
  now?: string
  zone?: string
  user?: string
  password?: string
}

const program = new Command('simulator')
  .description('Simulates an Apparel21 Retail API, with faults that can be switched on.')
  .option('--port <number>', 'the port', parseCount, 8021)
  .option('--host <address>', 'the address to listen on; its clients can also control the simulator', '127.0.0.1')
  .option('--release <release>', 'the installed release', parseReleaseOption, '2025.1')
  .option('--seed <text>', 'each seed generates another shop', '1')
  .addOption(new Option('--size <size>', 'the size of the shop').choices(Object.keys(sizes)).default('small'))
  .option('--stores <number>', 'locations with stock', parseCount)
  .option('--styles <number>', 'styles', parseCount)
  .option('--skus <number>', 'SKUs; the number of styles follows', parseCount)
  .option('--persons <number>', 'persons', parseCount)
  .option('--vouchers <number>', 'vouchers, in addition to those of every shop', parseCount)
  .option('--now <instant>', 'the start of its clock, such as 2026-02-03T10:00:00Z (default: now)')
  .option('--zone <zone>', "the back office's time zone (default: Australia/Melbourne)")
  .option('--user <name>', 'require this user (Basic authentication)')
  .option('--password <text>', 'require this password')
  .addHelpText(
    'after',
    `
Examples:
  npm run simulator                                         a small shop on port 8021
  npm run simulator -- --release 2021.3                     as installed before 2022.1
  npm run simulator -- --user retail --password secret      with Basic authentication
  npm run simulator -- --stores 83 --skus 60000             525,000 rows of stock`,
  )

async function run(): Promise<void> {
  const {
    port,
    host,
    release: version,
    seed,
    size,
    now,
    zone,
    user,
    password,
    ...options
  } = program.parse().opts<Options>()
  const settings: Partial<Settings> = {
    ...(zone !== undefined && { zone }),
    ...(user !== undefined && { credentials: { user, password: password ?? '' } }),
  }
  const simulator = await startSimulator({
    port,
    host,
    release: version,
    seed,
    size,
    sizes: options,
    settings,
    ...(now !== undefined && { now }),
  })
  const totals = Object.entries(countRecords(simulator.state)).map(([name, number]) => `${number} ${name}`)
  console.log(`Apparel21 simulator, release ${version}: ${totals.join(', ')}`)
  console.log(`Connect:    BACK_OFFICE_URL=${simulator.url}   (countryCode AU or NZ)`)
  if (user !== undefined) console.log(`            Basic authentication as ${user}`)
  console.log(`Control:    ${simulator.controlUrl}`)
  console.log('Vouchers:   6000001 with PIN 1234, 6000002 with PIN 0042')
  console.log('Press Ctrl-C to stop.')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => simulator.close())
}

run().catch((error: unknown) => {
  console.error(`simulator: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
