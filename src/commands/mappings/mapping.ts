import { InvalidArgumentError, Option } from 'commander'
import type { Database } from '../../database/db.ts'
import { issueStates, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { checkMappings } from '../../store/mappings/check-all.ts'
import { type Command, formatExamples } from '../terminal/command.ts'
import { createDisplay } from '../terminal/progress.ts'
import { withDatabase } from '../terminal/session.ts'
import { stopBySignal } from '../terminal/stop.ts'
import { printReport, type ReportOptions, writeCsv } from './report.ts'

interface Options extends ReportOptions {
  csv?: boolean
}

/** `tillbridge mapping`. */
export function buildMappingCommand(program: Command) {
  const mapping = program
    .command('mapping')
    .description('Manage mappings to the e-commerce platform')
    .examples(['mapping check luma', 'list mapping issues'])

  mapping
    .command('check')
    .argument('[service]', 'the service; optional if there is only one')
    .description('Check mappings against the e-commerce platform')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(mappedKinds))
    .addOption(new Option('--state <state>', 'only this state').choices(issueStates))
    .option('--limit <n>', 'rows of each kind, 1 to 100', parseLimit, 20)
    .option('--json', 'counts and rows as JSON')
    .option('--csv', 'all rows of one kind as CSV, with suggestions: edit and import it')
    .addHelpText(
      'after',
      `${formatExamples(
        ['import ecommerce-variants products_export.csv', 'first, import a product export of the platform'],
        ['mapping check luma', 'counts, and the most important issues'],
        ['mapping check luma --kind skus --state nearMatch', 'SKUs with a similar platform SKU'],
        [
          'mapping check luma --kind skus --state nearMatch --csv > skus.csv',
          'the same as CSV, to review and then import:',
        ],
        ['import sku-mapping skus.csv --service luma', 'apply the mappings of the file'],
      )}
Exit code: 2 if there are unmapped, duplicate, orphaned or nearMatch records, whatever --state shows; otherwise 0. platformOnly and unverified don't affect the exit
code. With --csv: 0 when all rows are written. 1 if the check fails.
`,
    )
    .action((name: string | undefined, options: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        if (options.csv && !options.kind)
          throw new Error(`--csv requires one kind: --kind ${mappedKinds.join(', --kind ')}.`)
        await runCheck(db, service)
        if (options.csv && options.kind) return writeCsv(db, service, options.kind, options.state)
        await printReport(db, service, options)
      }),
    )
}

function parseLimit(text: string) {
  if (!/^[1-9]\d?$|^100$/.test(text)) throw new InvalidArgumentError('It must be an integer from 1 to 100.')
  return Number(text)
}

async function runCheck(db: Database, service: Service) {
  const stop = stopBySignal(new Error('Stopped before all mappings were checked. Issues found so far are stored.'))
  const display = createDisplay<{ label: string; done: number }>('checking', ({ label, done }) => ({
    share: undefined,
    text: `${done.toLocaleString('en')} ${label}`,
  }))
  try {
    await checkMappings(db, service, { signal: stop.signal, onProgress: progress => display.show(progress) })
  } finally {
    display.end()
    stop.end()
  }
}
