import { Command, InvalidArgumentError } from 'commander'
import { defaultSize, startShopifySimulator } from './simulator.ts'
import { countRecords } from './state.ts'

function toCount(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('It must be an integer.')
  return Number(value)
}

interface Options {
  port: number
  host: string
  seed: string
  locations: number
  variants: number
  customers: number
  now?: string
  tokenSeconds?: number
  restorePerSecond?: number
}

const program = new Command('simulator:shopify')
  .description('Simulates a Shopify shop with its Admin GraphQL API, and faults that can be switched on.')
  .option('--port <number>', 'the port', toCount, 8031)
  .option('--host <address>', 'the address to listen on; its clients can also control the simulator', '127.0.0.1')
  .option('--seed <text>', 'each seed generates another shop', '1')
  .option('--locations <number>', 'locations', toCount, defaultSize.locations)
  .option('--variants <number>', 'variants, each with a level at every location', toCount, defaultSize.variants)
  .option('--customers <number>', 'customers', toCount, defaultSize.customers)
  .option('--now <instant>', 'the start of its clock, such as 2026-02-03T10:00:00Z (default: now)')
  .option('--token-seconds <number>', 'the lifetime of a token (default: 24 hours)', toCount)
  .option('--restore-per-second <number>', 'points that the rate limit restores each second (default: 100)', toCount)
  .addHelpText(
    'after',
    `
Examples:
  npm run simulator:shopify                                       a small shop on port 8031
  npm run simulator:shopify -- --variants 100000 --locations 5    500,000 levels
  npm run simulator:shopify -- --token-seconds 60                 tokens that expire each minute`,
  )

async function run(): Promise<void> {
  const { port, host, seed, locations, variants, customers, now, tokenSeconds, restorePerSecond } = program
    .parse()
    .opts<Options>()
  const simulator = await startShopifySimulator({
    port,
    host,
    seed,
    size: { locations, variants, customers },
    settings: {
      ...(tokenSeconds !== undefined && { tokenSeconds }),
      ...(restorePerSecond !== undefined && { restorePerSecond }),
    },
    ...(now !== undefined && { now }),
  })
  const totals = Object.entries(countRecords(simulator.shop)).map(([name, number]) => `${number} ${name}`)
  console.log(`Shopify simulator: ${totals.join(', ')}`)
  console.log(`Connect:    url=${simulator.url} clientId=${simulator.settings.clientId}`)
  console.log(`            client secret ${simulator.settings.clientSecret}`)
  console.log(`Control:    ${simulator.controlUrl}/state`)
  console.log('Press Ctrl-C to stop.')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => simulator.close())
}

run().catch((error: unknown) => {
  console.error(`simulator: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
