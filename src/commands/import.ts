import { realpath } from 'node:fs/promises'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Dialect } from '../import/formats/dialect.ts'
import { dialectOf, joined, readProfile, saveProfile } from '../import/formats/profile.ts'
import { importFile } from '../import/import-file.ts'
import { ImportError } from '../import/pipeline/import-error.ts'
import { kindNamed, kinds } from '../import/pipeline/import-types.ts'
import { type Format, openSource } from '../import/sources/file.ts'
import { examples } from './terminal/examples.ts'
import { type DialectOptions, profileFrom, withDialect } from './terminal/import-options.ts'
import { progressDisplay } from './terminal/import-progress.ts'
import { importReport } from './terminal/import-report.ts'
import { requireOwnTables } from './terminal/require-embedded.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

interface Options extends DialectOptions {
  service?: string
  profile?: string
  saveProfile?: string
  rejected?: string
  overwriteRejected?: boolean
  dryRun?: boolean
  stopAfter?: number
  resume?: boolean
}

/** `tillbridge import`. Exit code: 0 nothing refused, 2 some lines refused, 1 a failure, 130 and 143 stopped by a signal. */
export const importCommand = (program: Command) =>
  withDialect(
    program
      .command('import')
      .description('Import files of a back office: what is new is added, what differs is changed (docs/reference/import-formats.md).')
      .addArgument(new Argument('<kind>', 'what the files hold').choices(Object.keys(kinds)))
      .argument('<file...>', 'CSV or NDJSON, plain or packed; - is standard input')
      .option(...serviceOption),
  )
    .option('--profile <file>', 'how the files are written, as --save-profile has kept it; options outrank it')
    .option('--save-profile <file>', 'keeps what these options say of the files, once an import has gone to its end')
    .option('--rejected <file>', 'where refused lines go (default: <file>.rejected.csv, or .ndjson of NDJSON)')
    .option(
      '--overwrite-rejected',
      'write over refused lines of an earlier import, also where somebody has edited them',
    )
    .option('--dry-run', 'find the faults, write nothing into the database')
    .option('--stop-after <n>', 'stop once so many lines are refused', count)
    .option('--resume', 'go on where an import of the same file was interrupted')
    .addHelpText(
      'after',
      `${examples(
        ['import products products.csv', 'a file with our column names'],
        ['import transactions sales.csv.gz --map sku=StockCode --ignore Country', 'with those of the back office'],
        [
          'import transactions sales.csv --delimiter ";" --decimal , --date-format DD.MM.YYYY --time Uhrzeit --set channel=store --save-profile tills.json',
          'a file as a till in Germany writes it; what is said of it is kept',
        ],
        ['import transactions sunday.csv --profile tills.json --stop-after 100', 'the next one'],
        ['import transactions sunday.csv --profile tills.json --resume', 'it was interrupted: the rest of it'],
        ['import products products.csv.rejected.csv', 'what was refused, mended'],
        ['import vouchers vouchers.csv --map pin=PinCode', 'gift vouchers of an earlier system; PINs are kept hashed'],
      )}
Exit code: 0 when nothing was refused, 2 when lines were refused, 1 when the import could not be done, 130 after Ctrl-C.
`,
    )
    .action(async (kind: string, files: string[], options: Options) => {
      const saved = options.profile === undefined ? {} : await readProfile(options.profile, kind)
      const profile = joined(saved, profileFrom(options))
      const dialect = dialectOf(profile)
      await withDatabase(async ({ keys, services }) => {
        const placed = await services.find(options.service)
        const { service, db } = placed
        // What an earlier system had is of use to the embedded back office alone.
        if (kindNamed(kind)?.movesIn) await requireOwnTables({ keys }, placed, kind, 'they are not imported')
        if (options.rejected && files.length > 1) throw new ImportError('--rejected takes one file at a time.')
        if (kindNamed(kind)?.replaces && files.length > 1)
          throw new ImportError(
            `A file of ${kind} is all that there is: of several, what is not in the last one would be gone. Join them into one.`,
          )
        const stop = stopBySignal()
        const importing = { db, keys, service, kind, options, dialect, format: profile.format, signal: stop.signal }
        for (const file of files) if (!stop.signal.aborted) await importNamed(file, importing)
        stop.end()
        if (options.saveProfile && !stop.signal.aborted) await saveProfile(options.saveProfile, { ...profile, kind })
      })
    })

interface Importing {
  db: Database
  keys: Keys
  service: Service
  kind: string
  options: Options
  dialect: Dialect
  format: Format | undefined
  signal: AbortSignal
}

async function importNamed(file: string, importing: Importing) {
  const { db, keys, service, kind, options, dialect, format, signal } = importing
  const source = await openSource(file, format)
  const rejected = options.rejected ?? `${source.path ?? `import-${kind}`}.rejected.${source.format}`
  if (file !== '-' && (await isSame(file, rejected)))
    throw new ImportError(`${rejected} is the file to import: refused lines have to go elsewhere.`)
  const display = progressDisplay(source.name)
  const summary = await importFile(db, service, kind, source, {
    ...dialect,
    keys,
    rejected,
    edited: options.overwriteRejected ? 'written over' : 'left',
    dryRun: options.dryRun,
    resume: options.resume,
    stopAfter: options.stopAfter,
    signal,
    onProgress: progress => display.show(progress),
    onRemark: remark => console.error(remark),
    onWait: () => console.error(`Another import of ${kind} into ${service.name} is under way; this one waits for it.`),
  }).finally(() => display.end())
  console.log(importReport(source.name, summary, options.dryRun))
  if (summary.refused) process.exitCode ??= 2
}

async function isSame(file: string, other: string) {
  const [a, b] = await Promise.all([file, other].map(path => realpath(path).catch(() => undefined)))
  return a !== undefined && a === b
}

function count(text: string) {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a number of lines, 1 or more.')
  return Number(text)
}
