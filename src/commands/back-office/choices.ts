import { drivers } from '../../backoffice/drivers.ts'
import type { Db } from '../../database/db.ts'
import type { Feed } from '../../domain/sync/port.ts'
import {
  type BackOfficeSettings,
  type Merchant,
  most,
  paymentOrigins,
} from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { gatewayNames } from '../../store/tenancy/gateways.ts'
import { quietLog } from '../terminal/quiet-log.ts'

/** What is to change of the schedules and of the merchants of gateways; undefined takes one away. */
export interface ChoiceChange {
  every: ReadonlyMap<string, number | undefined>
  gateways: ReadonlyMap<string, Merchant>
}

/** What `back-office set` says of both. */
export const choicesHelp = [
  ['every.<feed>', 'How often a feed is pulled, from 1m to 7d, such as every.stock=1m. Shown by `show`.'],
  ['gateway.<name>.<part>', 'What it knows a payment gateway by: merchantId, cardType, origin, accountId.'],
] as const

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const bounds = { least: 60, most: 7 * 86_400 }

const parts: Readonly<Record<keyof Merchant, (text: string) => string | undefined>> = {
  origin: text =>
    (paymentOrigins as readonly string[]).includes(text) ? undefined : `is one of ${paymentOrigins.join(', ')}`,
  merchantId: most(100),
  cardType: most(250),
  accountId: most(100),
}

/** Reads the assignments of `every.` and `gateway.` (`every.stock=1m`); the others are given back. */
export function choicesAmong(assignments: readonly string[]) {
  const faults: string[] = []
  const rest: string[] = []
  const every = new Map<string, number | undefined>()
  const gateways = new Map<string, Merchant>()
  const refuse = (fault: string | undefined) => fault !== undefined && faults.push(`${fault}.`)
  for (const assignment of assignments) {
    const [, feed, time = ''] = /^every\.([^=]*)=(.*)$/s.exec(assignment) ?? []
    const [, gateway, part = '', text = ''] = /^gateway\.([^=]+)\.([^=.]*)=(.*)$/s.exec(assignment) ?? []
    if (feed !== undefined) {
      const wanted = time === '' ? undefined : secondsIn(time)
      if (time !== '' && wanted === undefined) refuse(`every.${feed} is a time from 1m to 7d, such as 5m, 1h or 1d`)
      else if (every.has(feed)) refuse(`every.${feed} is set twice`)
      else every.set(feed, wanted)
    } else if (gateway !== undefined) {
      const known = gateways.get(gateway) ?? {}
      const named = `gateway.${gateway}.${part}`
      if (!Object.hasOwn(parts, part)) refuse(`${named} is none of ${Object.keys(parts).join(', ')}`)
      else if (Object.hasOwn(known, part)) refuse(`${named} is set twice`)
      else {
        const unfit = text === '' ? undefined : parts[part as keyof Merchant](text)
        refuse(unfit && `${named} ${unfit}`)
        gateways.set(gateway, { ...known, [part]: text === '' ? undefined : text })
      }
    } else rest.push(assignment)
  }
  return { rest, faults, choices: { every, gateways } satisfies ChoiceChange }
}

function secondsIn(time: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(time) ?? []
  const found = Number(count) * (seconds[unit] ?? Number.NaN)
  return found >= bounds.least && found <= bounds.most ? found : undefined
}

/** Seconds as they are set: 300 is `5m`. */
function timeOf(wanted: number): string {
  const [unit, size] = Object.entries(seconds).findLast(([, each]) => wanted % each === 0) ?? ['s', 1]
  return `${wanted / size}${unit}`
}

const given = (entries: Iterable<readonly [string, unknown]>): object | undefined => {
  const left = [...entries].filter(([, value]) => value !== undefined)
  return left.length ? Object.fromEntries(left) : undefined
}

/** What is chosen when the change is made; undefined where nothing is. */
export function withChoices(before: BackOfficeSettings | undefined, { every, gateways }: ChoiceChange) {
  const merchants = new Map(Object.entries(before?.gateways ?? {}))
  for (const [name, change] of gateways)
    merchants.set(name, given(Object.entries({ ...merchants.get(name), ...change })) as Merchant)
  return {
    every: given([...Object.entries(before?.every ?? {}).filter(([feed]) => !every.has(feed)), ...every]),
    gateways: given(merchants),
  } as Pick<BackOfficeSettings, 'every' | 'gateways'>
}

/** What is pulled of a back office that is set so. Nothing is asked of it. */
function feedsBehind(settings: BackOfficeSettings, service: Service): readonly Feed[] {
  const driver = drivers[settings.driver](settings, service, quietLog())
  try {
    return driver.feeds
  } finally {
    driver.close()
  }
}

/** Schedules of feeds that there are not, a sentence each. */
export function unknownFeeds({ every }: ChoiceChange, settings: BackOfficeSettings, service: Service): string[] {
  const names = every.size ? feedsBehind(settings, service).map(({ name }) => name) : []
  return [...every.entries()]
    .filter(([feed, wanted]) => wanted !== undefined && !names.includes(feed))
    .map(([feed]) => `every.${feed}: there is no feed ${feed}; there are: ${names.join(', ')}.`)
}

/** Merchants of gateways that the service does not have, a line each. */
export async function unlistedGateways({ gateways }: ChoiceChange, db: Db, service: Service): Promise<string[]> {
  const names = await gatewayNames(db, service)
  return [...gateways.keys()]
    .filter(gateway => !names.includes(gateway))
    .map(
      gateway =>
        `${service.name} has no payment gateway ${gateway} yet: tillbridge service set ${service.name} gateways=…`,
    )
}

/** What is changed, by its names, as the audit tells it. */
export const fieldsOf = ({ every, gateways }: ChoiceChange) => ({
  ...(every.size && { every: Object.fromEntries([...every.keys()].map(feed => [feed, true])) }),
  ...(gateways.size && { gateway: Object.fromEntries(gateways) }),
})

/** The schedule of each feed, and what gateways are known by, as they are set. */
export function choiceLines(settings: BackOfficeSettings, service: Service): string[] {
  const { every = {}, gateways = {} } = settings
  return [
    ...feedsBehind(settings, service).map(
      ({ name, everySeconds }) =>
        `every.${name} = ${timeOf(everySeconds)}${Object.hasOwn(every, name) ? '' : ' (default)'}`,
    ),
    ...Object.entries(gateways).flatMap(([name, merchant]) =>
      Object.entries(merchant).map(([part, value]) => `gateway.${name}.${part} = ${value}`),
    ),
  ]
}
