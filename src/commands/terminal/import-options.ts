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
      '--map <name=column>',
      'map a column: `--map sku=StockCode`; can be repeated',
      pairs('map', 'sku=StockCode'),
    )
    .option('--ignore <column>', 'ignore a column, or `*` for all unknown ones; can be repeated', listed)
    .option(
      '--set <name=value>',
      'set a constant: `--set channel=store`; can be repeated',
      pairs('set', 'channel=store', true),
    )
    .option('--date-format <format>', 'date format, such as DD.MM.YYYY or "M/D/YY H:MM AM"')
    .option('--time <[name=]column>', 'column holding the time of day; can be repeated', clocks)
    .addOption(new Option('--decimal <mark>', 'decimal separator').choices(decimalMarks))
    .option('--delimiter <character>', 'CSV delimiter, such as ";" or tab (default: comma)')
    .option('--encoding <name>', 'character encoding (default: detected)')
    .addOption(
      new Option('--format <format>', 'file format (default: from the file name; csv for standard input)').choices(
        formats,
      ),
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
    if (at < 1 || !(theirs || emptyToo))
      throw new InvalidArgumentError(`It must have the form name=…, for example ${example}.`)
    if (before.has(ours))
      throw new InvalidArgumentError(`${ours} can't be ${option === 'map' ? 'mapped' : 'set'} twice.`)
    return new Map(before).set(ours, theirs)
  }

function clocks(value: string, before = new Map<string, string>()) {
  const [theirs = '', ours = ''] = value.split('=').reverse()
  if (!theirs || before.has(ours) || before.has(''))
    throw new InvalidArgumentError('It must have the form saleDate=Time, once per column.')
  return new Map(before).set(ours, theirs)
}

const listed = (value: string, before: string[] = []) => [...before, value]
