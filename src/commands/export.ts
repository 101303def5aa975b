import { Argument } from 'commander'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { exportPages } from '../http/streaming/export-chunks.ts'
import { type Command, formatExamples, serviceOption } from './terminal/command.ts'
import { exportTypes, loadRecordCount } from './terminal/export-types.ts'
import { getCompression, pipeTo, writeNdjsonFile } from './terminal/outgoing-file.ts'
import { createLinesDisplay } from './terminal/progress.ts'
import { withDatabase } from './terminal/session.ts'
import { stopBySignal } from './terminal/stop.ts'

type Kind = keyof typeof exportTypes

interface Options {
  out?: string
  service?: string
}

/** `tillbridge export`. Exit codes: 0 complete, 1 failure, 130 and 143 stopped by a signal. */
export const buildExportCommand = (program: Command) =>
  program
    .command('export')
    .description('Export a list as NDJSON')
    .addArgument(new Argument('<kind>', 'the list to export').choices(Object.keys(exportTypes)))
    .option('--out <file>', 'output file (`.gz` or `.zst` to compress; default: standard output)')
    .option(...serviceOption)
    .addHelpText(
      'after',
      `${formatExamples(
        ['export customers --out customers.ndjson.gz', 'exports all customers, compressed'],
        ['export stock --service luma --out stock.ndjson.zst', 'exports the stock of one service'],
        ['export products | jq -r .name', 'pipes the records to another program'],
        ['import customers customers.ndjson.gz --service other', 'imports the file into another service'],
      )}
Exit codes: 0 complete, 1 failure, 130 Ctrl-C. An incomplete export never replaces or creates the output file.
`,
    )
    .action((kind: Kind, { out, service: name }: Options) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        if (out !== undefined) getCompression(out)
        const stop = stopBySignal()
        await exportList(db, service, kind, out, stop.signal).catch(error => {
          // The reading program closed the pipe, for example `| head`.
          if (out === undefined && error.code === 'EPIPE') return
          if (!stop.signal.aborted) throw error
          console.error(out === undefined ? 'Stopped.' : `Stopped. ${out} was not changed.`)
        })
        stop.end()
      }),
    )

async function exportList(db: Db, service: Service, kind: Kind, out: string | undefined, signal: AbortSignal) {
  const size = await loadRecordCount(db, service, kind)
  const { headers, chunks } = await exportPages(
    service,
    work => work(),
    async page => ({ page: await exportTypes[kind].page(db, service, page), meta: {} }),
  )
  const display = createLinesDisplay(out ?? kind)
  let records = 0
  async function* countRecords() {
    for await (const chunk of chunks) {
      yield chunk
      records += chunk.split('\n').length - 1
      display.show({ lines: records, bytes: records, size })
    }
  }
  const writing =
    out === undefined
      ? pipeTo(countRecords(), undefined, process.stdout, signal)
      : writeNdjsonFile(out, countRecords(), signal)
  await writing.finally(() => display.end())
  // The summary goes to standard error, because the records may go to standard output.
  console.error(
    `${kind} of ${service.name}: ${countNoun(records, 'record')}, as of ${headers['x-as-of']}${out === undefined ? '' : `, written to ${out}`}.`,
  )
}
