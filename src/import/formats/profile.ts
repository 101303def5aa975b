import { readFile, writeFile } from 'node:fs/promises'
import { type Static, Type } from '../../schemas/schemas.ts'
import { ImportError, OptionError } from '../pipeline/import-error.ts'
import { decimalMarks } from '../pipeline/numbers.ts'
import { createDateReader } from '../pipeline/times.ts'
import { describeReadError, formats } from '../sources/file.ts'
import type { Dialect } from './dialect.ts'
import { isEncoding } from './encoding.ts'
import { lineConverterNames } from './line-converters.ts'
import { type PlatformProfileName, platformProfiles } from './platform-profiles.ts'

const columns = Type.Optional(Type.Record(Type.String(), Type.String()))
const allUnknown = '*'
const text = Type.Optional(Type.String({ minLength: 1 }))

/** The format of files from one source, as `--save-profile` saves it. Each field is an option of `tillbridge import`. */
export type Profile = Static<typeof Profile>
export const Profile = Type.Object(
  {
    type: text,
    format: Type.Optional(Type.Enum([...formats])),
    map: columns,
    /** `*`: all unknown columns. */
    ignore: Type.Optional(Type.Array(Type.String())),
    set: columns,
    /** The time column of the only date column, or time columns by our names of the date columns. */
    time: Type.Optional(Type.Union([Type.String(), Type.Record(Type.String(), Type.String())])),
    dateFormat: text,
    decimal: Type.Optional(Type.Enum([...decimalMarks])),
    /** A character, or `tab`. */
    delimiter: text,
    encoding: text,
    /** Values of the file by our column names: `{ status: { fulfilled: 'shipped' } }`. */
    values: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.String()))),
    /** Mapped columns can be missing, unless the import type requires them. */
    allowMissing: Type.Optional(Type.Boolean()),
    /** The layout of an export whose lines are not one record each. */
    lines: Type.Optional(Type.Enum([...lineConverterNames])),
  },
  { additionalProperties: false },
)

/** Reads a profile: one of the product by its name, or a file. Throws an `ImportError` with all errors, also if it is for another type. */
export async function readProfile(path: string, type: string): Promise<Profile> {
  const platformProfile = findPlatformProfile(path, type)
  if (platformProfile) return platformProfile
  const content = await readFile(path, 'utf8').catch(error => {
    throw new ImportError(describeReadError(path, error))
  })
  return parseProfile(content, type, path)
}

/** Parses a profile, or finds it by its name. Throws an `ImportError` with all errors. `path` names the text in messages. */
export async function parseProfile(content: string, type: string, path: string): Promise<Profile> {
  const platformProfile = findPlatformProfile(content, type)
  if (platformProfile) return platformProfile
  // Loaded on first use, because it is large and few imports have a profile.
  const { Value } = await import('typebox/value')
  const json = parseJson(content)
  const errors = [...Value.Errors(Profile, json)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  if (errors.length)
    throw new ImportError(
      `${path} is not a valid profile: ${errors.join(', ')}. A profile can have ${Object.keys(Profile.properties).join(', ')}. To write one, use --save-profile.`,
    )
  const profile = json as Profile
  if (profile.type !== undefined && profile.type !== type)
    throw new ImportError(`${path} is a profile for ${profile.type}, not for ${type}.`)
  return profile
}

/** Returns the profile of this name. Throws `ImportError` if it is for another type. */
function findPlatformProfile(name: string, type: string): Profile | undefined {
  if (!Object.hasOwn(platformProfiles, name)) return
  const { profile } = platformProfiles[name as PlatformProfileName]
  if (profile.type !== type) throw new ImportError(`${name} is a profile for ${profile.type}, not for ${type}.`)
  return profile
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return
  }
}

export const saveProfile = (path: string, profile: Profile) => writeFile(path, `${JSON.stringify(profile, null, 2)}\n`)

type Columns = Readonly<Record<string, string>>

const getTimeColumns = ({ time = {} }: Profile): Columns => (typeof time === 'string' ? { '': time } : time)
const withoutColumns = (allColumns: Columns, isOverridden: (field: string, title: string) => boolean) =>
  Object.fromEntries(Object.entries(allColumns).filter(([field, title]) => !isOverridden(field, title)))

/** Merges a profile with other options, which override it column by column. */
export function mergeProfiles(profile: Profile, overrides: Profile): Profile {
  const { map = {}, set = {}, ignore = [] } = overrides
  const isSet = (field: string) => Object.hasOwn(set, field)
  const isOverridden = (field: string, title: string) => isSet(field) || ignore.includes(title)
  const all = { ...profile, ...overrides }
  if (profile.map) all.map = { ...withoutColumns(profile.map, isOverridden), ...map }
  if (profile.set) all.set = { ...withoutColumns(profile.set, field => Object.hasOwn(map, field)), ...set }
  if (profile.time)
    all.time = { ...withoutColumns(getTimeColumns(profile), isOverridden), ...getTimeColumns(overrides) }
  // A column that a constant replaces can still be in the file.
  const replaced = Object.values(withoutColumns(profile.map ?? {}, field => !isSet(field)))
  const read = new Set([...Object.values(all.map ?? {}), ...Object.values(getTimeColumns(all))])
  const ignored = [...(profile.ignore ?? []), ...replaced].filter(title => !read.has(title))
  if (profile.ignore || replaced.length) all.ignore = [...new Set([...ignored, ...ignore])]
  return all
}

/** Converts a profile to a dialect. Throws `OptionError` if an option is invalid. */
export function toDialect(profile: Profile): Dialect {
  const { map, ignore, set, time, dateFormat, decimal, encoding, values, allowMissing, lines } = profile
  const delimiter = profile.delimiter === 'tab' ? '\t' : profile.delimiter
  if (delimiter !== undefined && !/^[\t\x20-\x7e]$/.test(delimiter))
    throw new OptionError('delimiter', `${delimiter} must be one ASCII character, such as ";", or tab.`)
  if (delimiter !== undefined && /^["\w]$/.test(delimiter))
    throw new OptionError('delimiter', `${delimiter} can't be a letter, a digit or a quotation mark.`)
  if (encoding !== undefined && !isEncoding(encoding))
    throw new OptionError(
      'encoding',
      `${encoding} is unknown. Use an encoding such as utf-8, windows-1252, iso-8859-15 or utf-16le.`,
    )
  if (dateFormat !== undefined) requireDay(dateFormat)
  const timeColumns = typeof time === 'string' ? { '': time } : time
  return {
    ...(map && { map: new Map(Object.entries(map)) }),
    ...(set && { set: new Map(Object.entries(set)) }),
    ...(timeColumns && { timeColumns: new Map(Object.entries(timeColumns)) }),
    ...(ignore && { ignore: ignore.filter(name => name !== allUnknown), ignoreUnknown: ignore.includes(allUnknown) }),
    dateFormat,
    decimal,
    delimiter,
    encoding,
    values,
    allowMissing,
    lines,
  }
}

function requireDay(format: string) {
  try {
    createDateReader(format)
  } catch (error) {
    throw new OptionError('date-format', (error as Error).message)
  }
}
