import { realpath } from 'node:fs/promises'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { importFile, type Summary } from '../backoffice/files/import.ts'
import { type Format, formats, openSource } from '../backoffice/files/source.ts'
import { ImportError } from '../backoffice/rows/import-error.ts'
import { kindNamed, kinds } from '../backoffice/rows/kinds.ts'
import { readConfig } from '../config.ts'
import type { Database } from '../db.ts'
import type { Keys } from '../secrets.ts'
import type { Service } from '../settings.ts'
import { storedBackOffice } from '../store/running/back-office.ts'
import { examples } from './terminal/examples.ts'
import { progressDisplay } from './terminal/import-progress.ts'
import { withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'
import { table } from './terminal/table.ts'

interface Options {
  service?: string
  map?: Map<string, string>
  ignore?: string[]
  format?: Format
  rejected?: string
  overwriteRejected?: boolean
  dryRun?: boolean
}

/** `tillbridge import`. Exit code: 0 nothing refused, 2 some lines refused, 1 a failure, 130 and 143 stopped by a signal. */
export const importCommand = (program: Command) =>
  program
    .command('import')
    .description('Import files of a back office: what is new is added, what differs is changed (docs/feeds.md).')
    .addArgument(new Argument('<kind>', 'what the files hold').choices(Object.keys(kinds)))
    .argument('<file...>', 'CSV or NDJSON, plain or gzip; - is standard input')
    .option('--service <name>', 'the service; not needed where there is only one')
    .option('--map <ours=theirs>', 'a column that the file calls otherwise; may be repeated', mapped)
    .option('--ignore <theirs>', 'a column of the file that is not needed; may be repeated', listed)
    .addOption(
      new Option(
        '--format <format>',
        'where the file name does not tell it; of standard input: csv, unless given',
      ).choices(formats),
    )
    .option('--rejected <file>', 'where refused lines go (default: <file>.rejected.csv)')
    .option(
      '--overwrite-rejected',
      'write over refused lines of an earlier import, also where somebody has edited them',
    )
    .option('--dry-run', 'find the faults, write nothing into the database')
    .addHelpText(
      'after',
      `${examples(
        ['import products products.csv', 'a file with our column names'],
        ['import transactions sales.csv.gz --map sku=StockCode --ignore Country', 'with those of the back office'],
        ['import products products.csv.rejected.csv', 'what was refused, mended'],
        ['import vouchers vouchers.csv --map pin=PinCode', 'gift vouchers of an earlier system; PINs are kept hashed'],
      )}
Exit code: 0 when nothing was refused, 2 when lines were refused, 1 when the import could not be done, 130 after Ctrl-C.
`,
    )
    .action((kind: string, files: string[], options: Options) =>
      withDatabase(async ({ db, keys, services }) => {
        const service = await services.find(options.service)
        await requireOwnTables(db, keys, service, kind)
        if (options.rejected && files.length > 1) throw new ImportError('--rejected takes one file at a time.')
        const stop = stopBySignal()
        for (const file of files)
          if (!stop.signal.aborted) await importNamed(db, keys, service, kind, file, options, stop.signal)
        stop.end()
      }),
    )

/** What an earlier system had is of use to the embedded back office: one behind us keeps its own. */
async function requireOwnTables(db: Database, keys: Keys, service: Service, kind: string) {
  if (!kindNamed(kind)?.movesIn) return
  const driver = (await storedBackOffice(db, keys, service))?.settings.driver ?? readConfig().backOffice
  if (driver !== 'embedded')
    throw new ImportError(`${kind} of ${service.name} are those of its back office (${driver}): they are not imported.`)
}

async function importNamed(
  db: Database,
  keys: Keys,
  service: Service,
  kind: string,
  file: string,
  options: Options,
  signal: AbortSignal,
) {
  const rejected = options.rejected ?? (file === '-' ? `import-${kind}.rejected.csv` : `${file}.rejected.csv`)
  if (file !== '-' && (await isSame(file, rejected)))
    throw new ImportError(`${rejected} is the file to import: refused lines have to go elsewhere.`)
  const source = await openSource(file, options.format)
  const display = progressDisplay(source.name)
  const summary = await importFile(db, service, kind, source, {
    ...options,
    keys,
    rejected,
    edited: options.overwriteRejected ? 'written over' : 'left',
    signal,
    onProgress: progress => display.show(progress),
    onWait: () => console.error(`Another import of ${kind} into ${service.name} is under way; this one waits for it.`),
  }).finally(() => display.end())
  console.log(report(source.name, summary, options.dryRun))
  if (summary.refused) process.exitCode ??= 2
}

/** What became of the file, as a small table and remarks. */
function report(name: string, summary: Summary, dryRun = false) {
  const { read, inserted, changed, unchanged, refused, notes, refusedIn, edited, stoppedAfter } = summary
  const counts = dryRun ? { read, good: read - refused, refused } : { read, new: inserted, changed, unchanged, refused }
  const figures = Object.values(counts).map(whole)
  return [
    table(['file', ...Object.keys(counts)], [[name, ...figures]]),
    ...Object.entries(notes).map(([note, count]) => `${whole(count)} lines ${note}.`),
    ...(refusedIn ? [`The refused lines are in ${refusedIn}, with reasons: mend and import that file.`] : []),
    ...(edited ? [`${edited} was edited, and is left as it is (--overwrite-rejected would write over it).`] : []),
    ...(stoppedAfter === undefined
      ? []
      : [`Stopped after line ${whole(stoppedAfter)} of ${name}${dryRun ? '' : went}.`]),
    ...(dryRun ? ['Nothing was written into the database.'] : []),
  ].join('\n')
}

const went = ': what went in stays, and importing it again is safe'
const whole = (count: number) => count.toLocaleString('en')

async function isSame(file: string, other: string) {
  const [a, b] = await Promise.all([file, other].map(path => realpath(path).catch(() => undefined)))
  return a !== undefined && a === b
}

function mapped(value: string, before = new Map<string, string>()) {
  const at = value.indexOf('=')
  const [ours, theirs] = [value.slice(0, at), value.slice(at + 1)]
  if (at < 1 || !theirs) throw new InvalidArgumentError('Write it as ours=theirs, such as sku=StockCode.')
  if (before.has(ours)) throw new InvalidArgumentError(`${ours} is mapped twice.`)
  return new Map(before).set(ours, theirs)
}

const listed = (value: string, before: string[] = []) => [...before, value]
