import { realpath } from 'node:fs/promises'
import { Argument, InvalidArgumentError } from 'commander'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { isPlatformSync } from '../domain/ecommerce/connection-settings.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Dialect } from '../import/formats/dialect.ts'
import { platformProfiles } from '../import/formats/platform-profiles.ts'
import { mergeProfiles, readProfile, saveProfile, toDialect } from '../import/formats/profile.ts'
import { importFile } from '../import/import-file.ts'
import { ImportError } from '../import/pipeline/import-error.ts'
import { findImportType, importTypes } from '../import/pipeline/import-types.ts'
import { type Format, openSource } from '../import/sources/file.ts'
import { hasConnection } from '../store/ecommerce/connections.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { type Command, formatExamples, serviceOption } from './terminal/command.ts'
import { addDialectOptions, type DialectOptions, toProfile } from './terminal/import-options.ts'
import { formatImportReport } from './terminal/import-report.ts'
import { createLinesDisplay } from './terminal/progress.ts'
import { requireEmbeddedBackOffice } from './terminal/require-embedded.ts'
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
  forceOlder?: boolean
  complete?: boolean
  removeMost?: boolean
  clearSharedEmail?: boolean
}

/** `tillbridge import`. Exit codes: 0 all lines accepted, 2 some lines rejected, 1 failure, 130 and 143 stopped by a signal. */
export const buildImportCommand = (program: Command) =>
  addDialectOptions(
    program
      .command('import')
      .description('Import CSV or NDJSON files')
      .addArgument(new Argument('<type>', 'the import type').choices(Object.keys(importTypes)))
      .argument('<file...>', 'CSV or NDJSON, optionally .gz or .zst; - is standard input')
      .option(...serviceOption),
  )
    .option('--profile <file>', 'load saved options, or a platform profile by its name (other options override them)')
    .option('--save-profile <file>', 'save these options after a successful import')
    .option('--rejected <file>', 'write rejected lines to this file (default: <file>.rejected.csv or .ndjson)')
    .option('--overwrite-rejected', 'overwrite rejected lines of an earlier import, even if they were edited')
    .option('--dry-run', 'validate without importing')
    .option('--stop-after <n>', 'stop after this many rejected lines', parseCount)
    .option('--force-older', 'import lines that are older than the stored record, which are skipped otherwise')
    .option('--complete', 'remove what the file lacks: stock of its stores becomes 0, SKUs and customers are removed')
    .option('--remove-most', 'with --complete: remove what the file lacks even if it is more than half of the list')
    .option('--clear-shared-email', 'store the second customer with an email address without it')
    .option('--resume', 'resume an interrupted import')
    .addHelpText(
      'after',
      `${formatExamples(
        ['import products products.csv', 'imports a file with the standard column names'],
        [
          'import transactions sales.csv.gz --map sku=StockCode --ignore Country',
          "maps the back office's column names",
        ],
        [
          'import transactions sales.csv --delimiter ";" --decimal , --date-format DD.MM.YYYY --time Uhrzeit --set channel=store --save-profile tills.json',
          'imports a German till export and saves the options',
        ],
        ['import transactions sunday.csv --profile tills.json --stop-after 100', 'uses the saved options'],
        ['import transactions sunday.csv --profile tills.json --resume', 'resumes the interrupted import'],
        ['import products products.csv.rejected.csv', 'imports corrected rejected lines'],
        [
          'import vouchers vouchers.csv --map pin=PinCode',
          'imports gift vouchers from another system; PINs are hashed',
        ],
      )}
Platform profiles:
${formatPlatformProfiles()}

Exit codes: 0 all lines accepted, 2 some lines rejected, 1 import failed, 130 Ctrl-C.
`,
    )
    .action(async (type: string, files: string[], options: Options) => {
      const saved = options.profile === undefined ? {} : await readProfile(options.profile, type)
      const profile = mergeProfiles(saved, toProfile(options))
      const dialect = toDialect(profile)
      await withDatabase(async ({ keys, services }) => {
        const located = await services.find(options.service)
        const { service, db } = located
        // Only the embedded back office can use records of an earlier system.
        if (findImportType(type)?.isOnboarding)
          await requireEmbeddedBackOffice({ keys }, located, type, "they can't be imported")
        if (isPlatformSync(type) && (await hasConnection(db, service)))
          throw new ImportError(
            `${type} can't be imported from a file, because the e-commerce connection of ${service.name} syncs them.`,
          )
        if (options.rejected && files.length > 1) throw new ImportError("--rejected can't be used with several files.")
        if (findImportType(type)?.replacesPrevious && files.length > 1)
          throw new ImportError(
            `Only one ${type} file can be imported, because each file replaces all earlier records. Join the files into one.`,
          )
        if (options.complete && files.length > 1)
          throw new ImportError('--complete needs one file, because a file removes what it lacks. Join the files.')
        const stop = stopBySignal()
        const importing = { db, keys, service, type, options, dialect, format: profile.format, signal: stop.signal }
        for (const file of files) if (!stop.signal.aborted) await importOneFile(file, importing)
        stop.end()
        if (options.saveProfile && !stop.signal.aborted) await saveProfile(options.saveProfile, { ...profile, type })
      })
    })

interface Importing {
  db: Database
  keys: Keys
  service: Service
  type: string
  options: Options
  dialect: Dialect
  format: Format | undefined
  signal: AbortSignal
}

async function importOneFile(file: string, importing: Importing) {
  const { db, keys, service, type, options, dialect, format, signal } = importing
  const source = await openSource(file, format)
  const rejected = options.rejected ?? `${source.path ?? `import-${type}`}.rejected.${source.format}`
  if (file !== '-' && (await isSameFile(file, rejected)))
    throw new ImportError(`--rejected must name another file: ${rejected} is the file to import.`)
  const display = createLinesDisplay(source.name)
  const summary = await importFile(db, service, type, source, {
    ...dialect,
    keys,
    rejectedPath: rejected,
    edited: options.overwriteRejected ? 'overwritten' : 'kept',
    dryRun: options.dryRun,
    resume: options.resume,
    forceOlder: options.forceOlder,
    complete: options.complete,
    removeMost: options.removeMost,
    clearSharedEmail: options.clearSharedEmail,
    stopAfter: options.stopAfter,
    signal,
    onProgress: progress => display.show(progress),
    onRemark: remark => console.error(remark),
    onWait: () => console.error(`Waiting for another import of ${type} into ${service.name} to end.`),
  }).finally(() => display.end())
  console.log(formatImportReport(source.name, summary, options.dryRun))
  if (summary.rejected) process.exitCode ??= 2
}

async function isSameFile(file: string, other: string) {
  const [a, b] = await Promise.all([file, other].map(path => ignoreError(realpath(path), 'file does not exist')))
  return a !== undefined && a === b
}

const formatPlatformProfiles = () =>
  Object.entries(platformProfiles)
    .map(([name, { profile, description }]) => `  ${name} (${profile.type})\n      ${description}`)
    .join('\n')

function parseCount(text: string) {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be an integer of at least 1.')
  return Number(text)
}
