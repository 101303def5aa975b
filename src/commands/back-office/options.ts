import { listSyncs } from '../../backoffice/list-syncs.ts'
import type { Db } from '../../database/db.ts'
import {
  type BackOfficeSettings,
  type Merchant,
  maxCharacters,
  paymentOrigins,
} from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { listGatewayNames } from '../../store/tenancy/gateways.ts'
import { formatInterval, parseInterval } from '../terminal/interval.ts'

/** Changed sync intervals and gateway mappings. Undefined removes one. */
export interface OptionsChange {
  syncIntervals: ReadonlyMap<string, number | undefined>
  gateways: ReadonlyMap<string, Merchant>
}

/** The help of `back-office set` for these options. */
export const optionsHelp = [
  ['interval.<sync>', 'The interval of a sync, from 1m to 7d, for example interval.stock=1m.'],
  [
    'gateway.<name>.<part>',
    'How the back office identifies a payment gateway: merchantId, cardType, origin, accountId.',
  ],
] as const

const merchantParts: Readonly<Record<keyof Merchant, (value: string) => string | undefined>> = {
  origin: value =>
    (paymentOrigins as readonly string[]).includes(value) ? undefined : `must be one of ${paymentOrigins.join(', ')}`,
  merchantId: maxCharacters(100),
  cardType: maxCharacters(250),
  accountId: maxCharacters(100),
}

/**
 * Parses the `interval.…` and `gateway.…` assignments (`interval.stock=1m`). Returns their change, the problems, and the other assignments.
 */
export function parseOptions(assignments: readonly string[]) {
  const problems: string[] = []
  const otherAssignments: string[] = []
  const syncIntervals = new Map<string, number | undefined>()
  const gateways = new Map<string, Merchant>()
  const reject = (problem: string | undefined) => problem !== undefined && problems.push(`${problem}.`)
  for (const assignment of assignments) {
    const [, sync, time = ''] = /^interval\.([^=]*)=(.*)$/s.exec(assignment) ?? []
    const [, gateway, part = '', value = ''] = /^gateway\.([^=]+)\.([^=.]*)=(.*)$/s.exec(assignment) ?? []
    if (sync !== undefined) {
      const interval = time === '' ? undefined : parseInterval(time)
      if (time !== '' && interval === undefined)
        reject(`interval.${sync} must be an interval from 1m to 7d, for example 5m, 1h or 1d`)
      else if (syncIntervals.has(sync)) reject(`interval.${sync} can't be set twice`)
      else syncIntervals.set(sync, interval)
    } else if (gateway !== undefined) {
      const merchant = gateways.get(gateway) ?? {}
      const path = `gateway.${gateway}.${part}`
      if (!Object.hasOwn(merchantParts, part))
        reject(`${path} must end in one of ${Object.keys(merchantParts).join(', ')}`)
      else if (Object.hasOwn(merchant, part)) reject(`${path} can't be set twice`)
      else {
        const problem = value === '' ? undefined : merchantParts[part as keyof Merchant](value)
        reject(problem && `${path} ${problem}`)
        gateways.set(gateway, { ...merchant, [part]: value === '' ? undefined : value })
      }
    } else otherAssignments.push(assignment)
  }
  return { otherAssignments, problems, choices: { syncIntervals, gateways } satisfies OptionsChange }
}

const toDefinedObject = (entries: Iterable<readonly [string, unknown]>): object | undefined => {
  const defined = [...entries].filter(([, value]) => value !== undefined)
  return defined.length ? Object.fromEntries(defined) : undefined
}

/** Returns the options after a change. Undefined if none is left. */
export function applyOptions(before: BackOfficeSettings | undefined, { syncIntervals, gateways }: OptionsChange) {
  const merchants = new Map(Object.entries(before?.gateways ?? {}))
  for (const [name, change] of gateways)
    merchants.set(name, toDefinedObject(Object.entries({ ...merchants.get(name), ...change })) as Merchant)
  return {
    syncIntervals: toDefinedObject([
      ...Object.entries(before?.syncIntervals ?? {}).filter(([sync]) => !syncIntervals.has(sync)),
      ...syncIntervals,
    ]),
    gateways: toDefinedObject(merchants),
  } as Pick<BackOfficeSettings, 'syncIntervals' | 'gateways'>
}

/** Returns one sentence per interval of a sync that doesn't exist. */
export function findUnknownSyncs(
  { syncIntervals }: OptionsChange,
  settings: BackOfficeSettings,
  service: Service,
): string[] {
  const names = syncIntervals.size ? listSyncs(settings, service).map(({ name }) => name) : []
  return [...syncIntervals.entries()]
    .filter(([sync, interval]) => interval !== undefined && !names.includes(sync))
    .map(([sync]) => `interval.${sync}: sync ${sync} not found. Syncs: ${names.join(', ')}.`)
}

/** Returns one line per mapped gateway that the service doesn't have. */
export async function findUnlistedGateways({ gateways }: OptionsChange, db: Db, service: Service): Promise<string[]> {
  const names = await listGatewayNames(db, service)
  return [...gateways.keys()]
    .filter(gateway => !names.includes(gateway))
    .map(
      gateway =>
        `Payment gateway ${gateway} not found in ${service.name}. Add it: tillbridge service set ${service.name} gateways=…`,
    )
}

export const toAuditedFields = ({ syncIntervals, gateways }: OptionsChange) => ({
  ...(syncIntervals.size && { interval: Object.fromEntries([...syncIntervals.keys()].map(sync => [sync, true])) }),
  ...(gateways.size && { gateway: Object.fromEntries(gateways) }),
})

/** Formats the interval of each sync and the gateway mappings, one per line. */
export function formatOptions(settings: BackOfficeSettings, service: Service): string[] {
  const { syncIntervals = {}, gateways = {} } = settings
  return [
    ...listSyncs(settings, service).map(
      ({ name, intervalSeconds }) =>
        `interval.${name} = ${formatInterval(intervalSeconds)}${Object.hasOwn(syncIntervals, name) ? '' : ' (default)'}`,
    ),
    ...Object.entries(gateways).flatMap(([name, merchant]) =>
      Object.entries(merchant).map(([part, value]) => `gateway.${name}.${part} = ${value}`),
    ),
  ]
}
