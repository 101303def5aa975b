import { InvalidArgumentError, Option } from 'commander'
import type { Profile } from '../../import/formats/profile.ts'
import { decimalMarks } from '../../import/pipeline/numbers.ts'
import { formats } from '../../import/sources/file.ts'
import type { Command } from './command.ts'

/** The options that describe the format of the files. */
export interface DialectOptions extends Omit<Profile, 'map' | 'set' | 'time'> {
  map?: Map<string, string>
  set?: Map<string, string>
  time?: Map<string, string>
}

/** Adds the options that describe the format of the files. */
export const addDialectOptions = (command: Command) =>
  command
    .option(
      '--map <name=column>',
      'map a column: `--map sku=StockCode`; can be repeated',
      parsePairs('map', 'sku=StockCode'),
    )
    .option('--ignore <column>', 'ignore a column, or `*` for all unknown ones; can be repeated', collect)
    .option(
      '--set <name=value>',
      'set a constant: `--set channel=store`; can be repeated',
      parsePairs('set', 'channel=store', true),
    )
    .option('--date-format <format>', 'date format, such as DD.MM.YYYY or "M/D/YY H:MM AM"')
    .option('--time <[name=]column>', 'column holding the time of day; can be repeated', parseTimeColumn)
    .addOption(new Option('--decimal <mark>', 'decimal separator').choices(decimalMarks))
    .option('--delimiter <character>', 'CSV delimiter, such as ";" or tab (default: comma)')
    .option('--encoding <name>', 'character encoding (default: detected)')
    .addOption(
      new Option('--format <format>', 'file format (default: from the file name; csv for standard input)').choices(
        formats,
      ),
    )

/** Returns the options in the form of a profile. */
export function toProfile(options: DialectOptions): Profile {
  const { map, ignore, set, time, dateFormat, decimal, delimiter, encoding, format } = options
  const dayTime = time?.get('')
  const values = {
    map: map && Object.fromEntries(map),
    set: set && Object.fromEntries(set),
    time: dayTime ?? (time && Object.fromEntries(time)),
    ignore,
    dateFormat,
    decimal,
    delimiter,
    encoding,
    format,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Parses `name=column` of an option that can be repeated. Throws if the form is wrong or the name is repeated. */
const parsePairs =
  (option: string, example: string, allowsEmpty = false) =>
  (value: string, previous = new Map<string, string>()) => {
    const at = value.indexOf('=')
    const [name, column] = [value.slice(0, at), value.slice(at + 1)]
    if (at < 1 || !(column || allowsEmpty))
      throw new InvalidArgumentError(`It must have the form name=…, for example ${example}.`)
    if (previous.has(name))
      throw new InvalidArgumentError(`${name} can't be ${option === 'map' ? 'mapped' : 'set'} twice.`)
    return new Map(previous).set(name, column)
  }

function parseTimeColumn(value: string, previous = new Map<string, string>()) {
  const [column = '', name = ''] = value.split('=').reverse()
  if (!column || previous.has(name) || previous.has(''))
    throw new InvalidArgumentError('It must have the form saleDate=Time, once per column.')
  return new Map(previous).set(name, column)
}

const collect = (value: string, previous: string[] = []) => [...previous, value]
