import { realpath } from 'node:fs/promises'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { importFile, type Summary } from '../backoffice/files/import.ts'
import { type Format, formats, openSource } from '../backoffice/files/source.ts'
import { ImportError } from '../backoffice/rows/import-error.ts'
import { kinds } from '../backoffice/rows/kinds.ts'
import type { Database } from '../db.ts'
import type { Service } from '../settings.ts'
import { examples } from './terminal/examples.ts'
import { progressDisplay } from './terminal/import-progress.ts'
import { withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

interface Options {
  service?: string
  map?: Map<string, string>
  ignore?: string[]
  format?: Format
  rejected?: string
  dryRun?: boolean
}

/** `tillbridge import`. Exit code: 0 nothing refused, 2 some lines refused, 1 a failure. */
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
    .option('--dry-run', 'find the faults, write nothing into the database')
    .addHelpText(
      'after',
      `${examples(
        ['import products products.csv', 'a file with our column names'],
        ['import transactions sales.csv.gz --map sku=StockCode --ignore Country', 'with those of the back office'],
        ['import products products.csv.rejected.csv', 'what was refused, mended'],
      )}
Exit code: 0 when nothing was refused, 2 when lines were refused, 1 when the import could not be done.
`,
    )
    .action((kind: string, files: string[], options: Options) =>
      withDatabase(async ({ db, services }) => {
        const service = await services.find(options.service)
        if (options.rejected && files.length > 1) throw new ImportError('--rejected takes one file at a time.')
        for (const file of files) await importNamed(db, service, kind, file, options)
      }),
    )

async function importNamed(db: Database, service: Service, kind: string, file: string, options: Options) {
  const rejected = options.rejected ?? (file === '-' ? `import-${kind}.rejected.csv` : `${file}.rejected.csv`)
  if (file !== '-' && (await isSame(file, rejected)))
    throw new ImportError(`${rejected} is the file to import: refused lines have to go elsewhere.`)
  const source = await openSource(file, options.format)
  const display = progressDisplay(source.name)
  const summary = await importFile(db, service, kind, source, {
    ...options,
    rejected,
    onProgress: progress => display.show(progress),
    onWait: () => console.error(`Another import of ${kind} into ${service.name} is under way; this one waits for it.`),
  }).finally(() => display.end())
  console.log(report(source.name, summary, rejected, options.dryRun))
  if (summary.refused) process.exitCode = 2
}

/** What became of the file, as a small table and remarks. */
function report(name: string, summary: Summary, rejected: string, dryRun = false) {
  const { read, inserted, changed, unchanged, refused, notes } = summary
  const counts = dryRun ? { read, good: read - refused, refused } : { read, new: inserted, changed, unchanged, refused }
  const figures = Object.values(counts).map(count => count.toLocaleString('en'))
  return [
    table(['file', ...Object.keys(counts)], [[name, ...figures]]),
    ...Object.entries(notes).map(([note, count]) => `${count.toLocaleString('en')} lines ${note}.`),
    ...(refused ? [`The refused lines are in ${rejected}, with reasons: mend and import that file.`] : []),
    ...(dryRun ? ['Nothing was written into the database.'] : []),
  ].join('\n')
}

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
