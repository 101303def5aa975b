import { readFile, writeFile } from 'node:fs/promises'
import { type Static, Type } from '../../schemas/schemas.ts'
import { ImportError, OptionError } from '../pipeline/import-error.ts'
import { decimalMarks } from '../pipeline/numbers.ts'
import { momentsLike } from '../pipeline/times.ts'
import { formats, notRead } from '../sources/file.ts'
import type { Dialect } from './dialect.ts'
import { isEncoding } from './encoding.ts'

const columns = Type.Optional(Type.Record(Type.String(), Type.String()))
const everyOther = '*'
const text = Type.Optional(Type.String({ minLength: 1 }))

/** How the files of one source are, as it is saved: each field is an option of `tillbridge import`. */
export type Profile = Static<typeof Profile>
export const Profile = Type.Object(
  {
    type: text,
    format: Type.Optional(Type.Enum([...formats])),
    map: columns,
    /** `*`: all that are not known. */
    ignore: Type.Optional(Type.Array(Type.String())),
    set: columns,
    /** The column with the clock of the only time, or those of several by our names. */
    time: Type.Optional(Type.Union([Type.String(), Type.Record(Type.String(), Type.String())])),
    dateFormat: text,
    decimal: Type.Optional(Type.Enum([...decimalMarks])),
    /** A character, or `tab`. */
    delimiter: text,
    encoding: text,
  },
  { additionalProperties: false },
)

/** Reads a profile; throws `ImportError` with all that is wrong with it, also where it is of another type. */
export async function readProfile(path: string, type: string): Promise<Profile> {
  const content = await readFile(path, 'utf8').catch(error => {
    throw new ImportError(notRead(path, error))
  })
  return profileIn(content, type, path)
}

/** The profile that a text says; throws `ImportError`, which calls the text so. */
export async function profileIn(content: string, type: string, path: string): Promise<Profile> {
  // Loaded for the few who have one: it is larger than all that a start needs besides.
  const { Value } = await import('typebox/value')
  const profile = parsed(content)
  const faults = [...Value.Errors(Profile, profile)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  if (faults.length)
    throw new ImportError(
      `${path} is not a valid profile: ${faults.join(', ')}. A profile can have ${Object.keys(Profile.properties).join(', ')}. To write one, use --save-profile.`,
    )
  const sound = profile as Profile
  if (sound.type !== undefined && sound.type !== type)
    throw new ImportError(`${path} is a profile for ${sound.type}, not for ${type}.`)
  return sound
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return
  }
}

export const saveProfile = (path: string, profile: Profile) => writeFile(path, `${JSON.stringify(profile, null, 2)}\n`)

type Columns = Readonly<Record<string, string>>

const clocksIn = ({ time = {} }: Profile): Columns => (typeof time === 'string' ? { '': time } : time)
const without = (allColumns: Columns, isOutranked: (ours: string, theirs: string) => boolean) =>
  Object.fromEntries(Object.entries(allColumns).filter(([ours, theirs]) => !isOutranked(ours, theirs)))

/** A profile with what is said besides: that outranks it, column by column. */
export function joined(profile: Profile, said: Profile): Profile {
  const { map = {}, set = {}, ignore = [] } = said
  const isSet = (ours: string) => Object.hasOwn(set, ours)
  const isOutranked = (ours: string, theirs: string) => isSet(ours) || ignore.includes(theirs)
  const all = { ...profile, ...said }
  if (profile.map) all.map = { ...without(profile.map, isOutranked), ...map }
  if (profile.set) all.set = { ...without(profile.set, ours => Object.hasOwn(map, ours)), ...set }
  if (profile.time) all.time = { ...without(clocksIn(profile), isOutranked), ...clocksIn(said) }
  // The column that a constant takes the place of may still be in the file.
  const replaced = Object.values(without(profile.map ?? {}, ours => !isSet(ours)))
  const read = new Set([...Object.values(all.map ?? {}), ...Object.values(clocksIn(all))])
  const passedOver = [...(profile.ignore ?? []), ...replaced].filter(theirs => !read.has(theirs))
  if (profile.ignore || replaced.length) all.ignore = [...new Set([...passedOver, ...ignore])]
  return all
}

/** What a profile says of files; throws `ImportError` where it cannot be. */
export function dialectOf(profile: Profile): Dialect {
  const { map, ignore, set, time, dateFormat, decimal, encoding } = profile
  const delimiter = profile.delimiter === 'tab' ? '\t' : profile.delimiter
  if (delimiter !== undefined && !/^[\t\x20-\x7e]$/.test(delimiter))
    throw new OptionError('delimiter', `${delimiter}: it is one character, such as ";", or tab.`)
  if (delimiter !== undefined && /^["\w]$/.test(delimiter))
    throw new OptionError('delimiter', `${delimiter}: no letter, digit or quotation mark can be one.`)
  if (encoding !== undefined && !isEncoding(encoding))
    throw new OptionError('encoding', `${encoding} is not known. Such as utf-8, windows-1252, iso-8859-15, utf-16le.`)
  if (dateFormat !== undefined) requireDay(dateFormat)
  const clocks = typeof time === 'string' ? { '': time } : time
  return {
    ...(map && { map: new Map(Object.entries(map)) }),
    ...(set && { set: new Map(Object.entries(set)) }),
    ...(clocks && { clocks: new Map(Object.entries(clocks)) }),
    ...(ignore && { ignore: ignore.filter(name => name !== everyOther), ignoresUnknown: ignore.includes(everyOther) }),
    dateFormat,
    decimal,
    delimiter,
    encoding,
  }
}

function requireDay(format: string) {
  try {
    momentsLike(format)
  } catch (error) {
    throw new OptionError('date-format', (error as Error).message)
  }
}
