import { type Database, type Db, sql } from '../db.ts'
import { isRelease } from '../domain/release.ts'
import { type Service, Settings } from '../settings.ts'
import { beginChange, localTime } from './change.ts'
import { renderProducts } from './products.ts'
import { renderStock } from './stock.ts'

const formats: Record<string, (text: string) => boolean> = {
  'time-zone': text => /^[A-Z]/.test(text) && accepts(() => new Intl.DateTimeFormat('en', { timeZone: text })),
  currency: text => Intl.supportedValuesOf('currency').includes(text),
  release: isRelease,
}

const accepts = (attempt: () => unknown) => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

/** What the shape of a setting says, as JSON Schema. */
interface Shape {
  type?: string
  anyOf?: Shape[]
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  const?: string
  examples?: unknown[]
}

/** A setting's value from its text, or what is wrong with it. */
export function readSetting(name: string, text: string): { value: unknown } | { fault: string } {
  const shapes: Record<string, Shape> = Settings.properties
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
  if (!shape) return { fault: `There is no setting ${name}; there are ${Object.keys(shapes).join(', ')}.` }
  for (const choice of shape.anyOf ?? [shape]) {
    const value = choice.type === 'integer' && /^\d{1,9}$/.test(text) ? Number(text) : text
    if (choice.const !== undefined ? value === choice.const : fits(choice, value)) return { value }
  }
  return { fault: `${name} cannot be ${JSON.stringify(text)}; an example: ${name}=${shape.examples?.[0]}.` }
}

function fits(
  { type, format, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength = 250 }: Shape,
  value: string | number,
) {
  if (type === 'integer') return typeof value === 'number' && value >= minimum && value <= maximum
  return (
    typeof value === 'string' && value !== '' && value.length <= maxLength && (formats[format ?? '']?.(value) ?? true)
  )
}

/** Changes settings of a service, and with them what its records say. */
export function changeSettings(db: Database, service: Service, settings: Partial<Settings>): Promise<Service> {
  return db.transaction(async tx => {
    const changed = { ...service, settings: { ...service.settings, ...settings } }
    await tx.run(
      sql`update service set settings = settings || ${JSON.stringify(settings)}::jsonb where service_id = ${service.id}`,
    )
    const differs = (name: keyof Settings) => changed.settings[name] !== service.settings[name]
    if (differs('timeZone')) await restamp(tx, changed)
    if (differs('currency') || differs('inventoryBuffer')) {
      const change = await beginChange(tx, changed, ['product', 'stock'])
      await renderProducts(tx, changed, change, sql``)
      await renderStock(tx, changed, change, sql``)
    }
    return changed
  })
}

/** The same moments on another wall clock: no record has changed, so none is stamped anew. */
async function restamp(tx: Db, service: Service) {
  const stamp = sql`format('"%s"', ${localTime(sql`changed_at`, service)})`
  const stampLength = '"YYYY-MM-DD HH:MM:SS"'.length
  for (const [table, closed] of [
    [sql`product`, 1],
    [sql`stock`, 1],
    [sql`retail_transaction`, 1],
    [sql`customer`, 0],
  ] as const)
    await tx.run(sql`
      update ${table} set record = left(record, ${-(stampLength + closed)}::integer) || ${stamp} || right(record, ${closed}::integer)
       where service_id = ${service.id}`)
}
