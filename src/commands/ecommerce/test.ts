import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { openConnection } from '../../ecommerce/connections.ts'
import type { CallLog, ProbeResult } from '../../ecommerce/port/platform.ts'
import type { StoredConnection } from '../../store/ecommerce/connections.ts'
import { checkSubscriptions } from './subscriptions.ts'

const timeoutMs = 120_000

/** Tests a connection and prints what it found. Throws an error that lists every problem. */
export async function testConnection(db: Database, keys: Keys, service: Service, stored: StoredConnection) {
  const log: CallLog = { warn: (facts, message) => console.error(message, JSON.stringify(facts)) }
  const result = await probe(db, keys, service, stored, log)
  const plan = result.plan === null ? undefined : `plan ${result.plan}`
  console.log(`Connected: ${[result.shop, plan, result.currency, result.timeZone].filter(Boolean).join(', ')}.`)
  console.log(`Prices ${result.taxesIncluded ? 'include' : "don't include"} tax.`)
  const { version } = result
  if (version) console.log(`API version ${version.name} is supported until ${version.endsOn}.`)
  const subscriptions = stored.settings.events === 'on' ? await checkSubscriptions(db, keys, service) : undefined
  if (subscriptions) console.log(subscriptions.description)
  const problems = [...findProblems(result, service), ...(subscriptions?.problems ?? [])]
  if (problems.length) throw new Error(problems.join('\n'))
  console.log(describeAccess[stored.settings.driver])
}

async function probe(
  db: Database,
  keys: Keys,
  service: Service,
  stored: StoredConnection,
  log: CallLog,
): Promise<ProbeResult> {
  try {
    return await openConnection(db, keys, service, stored, log).probe(AbortSignal.timeout(timeoutMs))
  } catch (error) {
    if (error instanceof PlatformFailure) throw new Error(`${stored.settings.url}: ${error.message} (${error.kind})`)
    throw error
  }
}

const describeAccess = {
  shopify: 'All scopes are granted, and the app can read customer emails.',
  medusa: 'The secret API key is valid.',
}

/** Returns one sentence for each problem. */
function findProblems(
  { missingScopes, hasProtectedData, currency }: ProbeResult,
  { settings, name }: Service,
): string[] {
  const problems = missingScopes.map(scope => `The app needs the scope ${scope}. Grant it, then run the test again.`)
  if (!hasProtectedData && !missingScopes.includes('read_customers'))
    problems.push('The app needs access to protected customer data, level 2 (name, email). Request it on the platform.')
  if (currency !== settings.currency)
    problems.push(
      `The shop's currency is ${currency}, but ${name} uses ${settings.currency}. To change it: tillbridge service set ${name} currency=${currency}`,
    )
  return problems
}
