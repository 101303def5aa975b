import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Profile } from '../../import/formats/profile.ts'
import { decimalMarks } from '../../import/pipeline/numbers.ts'
import { formats } from '../../import/sources/file.ts'

/** What options say of the files. */
export interface DialectOptions extends Omit<Profile, 'kind' | 'map' | 'set' | 'time'> {
  map?: Map<string, string>
  set?: Map<string, string>
  time?: Map<string, string>
}

/** Adds the options that say how files are written. */
export const withDialect = (command: Command) =>
  command
    .option(
      '--map <ours=theirs>',
      'a column that the file calls otherwise; may be repeated',
      pairs('map', 'sku=StockCode'),
    )
    .option(
      '--ignore <theirs>',
      'a column of the file that is not needed, or "*": all that are not known; may be repeated',
      listed,
    )
    .option(
      '--set <ours=value>',
      'a column that the file lacks: what it is in every line; may be repeated',
      pairs('set', 'channel=store', true),
    )
    .option('--date-format <format>', 'how days and times are written, such as DD.MM.YYYY or "M/D/YY H:MM AM"')
    .option(
      '--time <[ours=]theirs>',
      'the column with the time of day, where another one has the day; may be repeated',
      clocks,
    )
    .addOption(new Option('--decimal <mark>', 'what stands before the decimals').choices(decimalMarks))
    .option('--delimiter <character>', 'what separates the cells of CSV, such as ";" or tab; a comma, unless given')
    .option('--encoding <name>', 'such as windows-1252 or utf-16; unless given, the bytes tell')
    .addOption(
      new Option(
        '--format <format>',
        'where the file name does not tell it; of standard input: csv, unless given',
      ).choices(formats),
    )

/** The options as a profile has them. */
export function profileFrom(options: DialectOptions): Profile {
  const { map, ignore, set, time, dateFormat, decimal, delimiter, encoding, format } = options
  const clock = time?.get('')
  const given = {
    map: map && Object.fromEntries(map),
    set: set && Object.fromEntries(set),
    time: clock ?? (time && Object.fromEntries(time)),
    ignore,
    dateFormat,
    decimal,
    delimiter,
    encoding,
    format,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Reads `ours=theirs` of an option that may be repeated. */
const pairs =
  (option: string, example: string, emptyToo = false) =>
  (value: string, before = new Map<string, string>()) => {
    const at = value.indexOf('=')
    const [ours, theirs] = [value.slice(0, at), value.slice(at + 1)]
    if (at < 1 || !(theirs || emptyToo)) throw new InvalidArgumentError(`Write it as ours=…, such as ${example}.`)
    if (before.has(ours)) throw new InvalidArgumentError(`${ours} is ${option === 'map' ? 'mapped' : 'set'} twice.`)
    return new Map(before).set(ours, theirs)
  }

function clocks(value: string, before = new Map<string, string>()) {
  const [theirs = '', ours = ''] = value.split('=').reverse()
  if (!theirs || before.has(ours) || before.has(''))
    throw new InvalidArgumentError('Write it as saleDate=Time, once a column.')
  return new Map(before).set(ours, theirs)
}

const listed = (value: string, before: string[] = []) => [...before, value]
