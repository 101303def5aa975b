import {
  type ConnectionField,
  type ConnectionSettings,
  connectionFields,
  fixedFields,
  type PlatformSyncName,
  platformSyncs,
  toShopOrigin,
} from '../../domain/ecommerce/connection-settings.ts'
import { parseInterval } from '../terminal/interval.ts'

/** The settings that a command changes. An undefined value restores the default. */
export interface ConnectionChange {
  fields: Partial<Record<ConnectionField, string | undefined>>
  intervals: Partial<Record<PlatformSyncName, number | undefined>>
}

const fieldNames = Object.keys(connectionFields) as ConnectionField[]
const intervalPrefix = 'interval.'
const settingNames = [...fieldNames, ...platformSyncs.map(sync => `${intervalPrefix}${sync}`)]

const includesName = <T extends string>(names: readonly T[], name: string): name is T =>
  (names as readonly string[]).includes(name)

/** Parses `setting=value` arguments. An empty value restores the default. Throws an error that lists every problem. */
export function parseAssignments(assignments: readonly string[]): ConnectionChange {
  const problems: string[] = []
  const change: ConnectionChange = { fields: {}, intervals: {} }
  for (const assignment of assignments) {
    const [, name = '', value = ''] = /^([A-Za-z][\w.-]*)=(.*)$/s.exec(assignment) ?? []
    const sync = name.startsWith(intervalPrefix) ? name.slice(intervalPrefix.length) : ''
    if (/secret|token|password/i.test(name))
      problems.push(
        "A secret can't be a command-line argument: every user of this machine can see it. Use --secret-file or standard input.",
      )
    else if (includesName(fieldNames, name)) {
      const problem = value === '' ? undefined : connectionFields[name].findProblem(value)
      if (problem !== undefined) problems.push(`${name} ${problem}.`)
      else if (Object.hasOwn(change.fields, name)) problems.push(`${name} can't be set twice.`)
      else change.fields[name] = value === '' ? undefined : name === 'url' ? toShopOrigin(value) : value
    } else if (includesName(platformSyncs, sync)) {
      const seconds = value === '' ? undefined : parseInterval(value)
      if (value !== '' && seconds === undefined) problems.push(`${name} must be from 1m to 7d, such as 5m.`)
      else change.intervals[sync] = seconds
    } else
      problems.push(
        `${JSON.stringify(assignment.slice(0, 40))} must have the form setting=value. Settings: ${settingNames.join(', ')}.`,
      )
  }
  if (problems.length) throw new Error(problems.join('\n'))
  return change
}

/** False for a value that restores the default, and for a setting that the previous platform didn't have. */
const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== null

/** Applies a change to the stored settings. Throws if a required setting is missing, or if the platform doesn't have a setting. */
export function applyChange(
  before: ConnectionSettings | undefined,
  defaults: Partial<ConnectionSettings>,
  { fields, intervals }: ConnectionChange,
): ConnectionSettings {
  const { nettingDelayMinutes, ...texts } = fields
  const merged = {
    ...before,
    ...texts,
    ...('nettingDelayMinutes' in fields && {
      nettingDelayMinutes: nettingDelayMinutes === undefined ? undefined : Number(nettingDelayMinutes),
    }),
    intervals: { ...before?.intervals, ...intervals },
  }
  const settings = {
    ...defaults,
    ...Object.fromEntries(Object.entries(merged).filter(isSet)),
    intervals: Object.fromEntries(Object.entries(merged.intervals).filter(isSet)),
  } as ConnectionSettings
  const { driver } = settings
  const fixed: Partial<ConnectionSettings> = fixedFields[driver]
  const unusable = fieldNames.filter(name => name in fixed && (fields[name] ?? fixed[name]) !== fixed[name])
  if (unusable.length) throw new Error(`${unusable.join(' and ')} can't be set for the driver ${driver}.`)
  Object.assign(settings, fixed)
  const missing = (['url', 'clientId'] as const).filter(name => settings[name] === undefined)
  if (missing.length) throw new Error(`${missing.join(' and ')} must be set.`)
  return settings
}
