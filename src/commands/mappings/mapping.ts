import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Database } from '../../database/db.ts'
import { findingStates, mappedKinds } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { judgeMappings } from '../../store/mappings/check-all.ts'
import { examples } from '../terminal/examples.ts'
import { display } from '../terminal/progress.ts'
import { withDatabase } from '../terminal/session.ts'
import { stopBySignal } from '../terminal/stop.ts'
import { report, type Shown, writeCsv } from './report.ts'

interface Options extends Shown {
  csv?: boolean
}

/** `tillbridge mapping`. */
export function mappingCommand(program: Command) {
  const mapping = program
    .command('mapping')
    .description('Mappings: what stores, SKUs and customers are in the e-commerce platform.')
    .addHelpText('after', examples(['mapping doctor luma', 'what is wrong with them']))

  mapping
    .command('doctor')
    .argument('[service]', 'the service; not needed where there is only one')
    .description('Compare the mappings with what the e-commerce platform has, and show what is wrong, the worst first.')
    .addOption(new Option('--kind <kind>', 'of these alone').choices(mappedKinds))
    .addOption(new Option('--state <state>', 'only what is in this state').choices(findingStates))
    .option('--limit <n>', 'rows of each kind, 1 to 100', rows, 20)
    .option('--json', 'counts and rows as JSON')
    .option('--csv', 'all rows of one kind as CSV, with what is suggested: to be mended and imported')
    .addHelpText(
      'after',
      `${examples(
        [
          'import ecommerce-variants products_export.csv',
          'first, tell it what the platform has: a product export of Shopify',
        ],
        ['mapping doctor luma', 'how all of it stands, and the worst rows'],
        ['mapping doctor luma --kind skus --state nearMiss', 'SKUs that are almost the same there'],
        [
          'mapping doctor luma --kind skus --state nearMiss --csv > skus.csv',
          'the same to be looked through, and then:',
        ],
        ['import sku-mapping skus.csv --service luma', 'mapped as the file says'],
      )}
Exit code: 2 when something is missing, mapped twice, to what is gone (orphan) or almost right (nearMiss), whatever --state shows; otherwise 0: what only the platform
has (unclaimed) may be meant so, and what no file has told of (unchecked) nobody knows. With --csv 0 once all rows are written. 1 when it could not be found out.
`,
    )
    .action((name: string | undefined, options: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        if (options.csv && !options.kind)
          throw new Error(`--csv takes one kind: --kind ${mappedKinds.join(', --kind ')}.`)
        await judge(db, service)
        if (options.csv && options.kind) return writeCsv(db, service, options.kind, options.state)
        await report(db, service, options)
      }),
    )
}

function rows(text: string) {
  if (!/^[1-9]\d?$|^100$/.test(text)) throw new InvalidArgumentError('It is a number of rows, 1 to 100.')
  return Number(text)
}

async function judge(db: Database, service: Service) {
  const stop = stopBySignal(new Error('Stopped before all mappings were judged: what was found before still counts.'))
  const shown = display<{ what: string; done: number }>('judging', ({ what, done }) => ({
    share: undefined,
    text: `${done.toLocaleString('en')} ${what}`,
  }))
  try {
    await judgeMappings(db, service, { signal: stop.signal, onPortion: portion => shown.show(portion) })
  } finally {
    shown.end()
    stop.end()
  }
}
