import { startSimulatorProcess } from '../simulator/control/process.ts'
import { sql } from '../src/database/db.ts'
import type { Service } from '../src/domain/tenancy/service-settings.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { addService } from '../src/store/tenancy/services.ts'
import type { Bench } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { formatTenths, formatWhole, type Section } from './rig/report.ts'

const name = 'bench-sync'
const maxMegabytes = 400

/** The size of the back office's stock. */
export interface StockSize {
  stores: number
  skus: number
}

/** Measures full and incremental syncs of stock by `tillbridge sync` from a simulator, each in a separate process. */
export async function measureSync(bench: Bench, loaded: LoadedDatabase, { stores, skus }: StockSize): Promise<Section> {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess(['--stores', String(stores), '--skus', String(skus), '--persons', '10'])
  await db.run(sql`delete from service where name = ${name}`)
  const service = await addService(db, name, { currency: 'AUD' })
  if (!service) throw new Error(`the service ${name} already exists`)
  await setBackOffice(db, keys, service, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  const sync = (...args: string[]) => runSync(bench, loaded, args)
  /** Counts the rows that were written since, in all tables that a stock sync writes. */
  const countWritten = async (since: string) =>
    (
      await db.row<{ n: number }>(
        sql`select count(*)::integer as n from stock where service_id = ${service.id} and changed_at > ${since}::timestamptz`,
      )
    )?.n ?? 0
  const readTimestamp = async () =>
    (await db.row<{ now: string }>(sql`select clock_timestamp()::text as now`))?.now ?? ''
  try {
    const runs: { label: string; seconds: number; read: number; peak: number; written: number }[] = []
    const measure = async (label: string, ...args: string[]) => {
      bench.say(`  ${label}`)
      const since = await readTimestamp()
      runs.push({ label, ...(await sync(...args)), written: await countWritten(since) })
    }
    await sync('stores', 'products')
    await measure('all stock, the first time', 'stock', '--full')
    const landed = await countLanded(loaded, service)
    await measure('all stock again', 'stock', '--full')
    await measure('changes, the first time: items that are out of stock', 'stock')
    await measure('changes again: nothing', 'stock')
    const rewritten = [runs[1], runs[3]].reduce((sum, run) => sum + (run?.written ?? Number.NaN), 0)
    const peak = Math.max(...runs.map(run => run.peak))
    return {
      title: 'Stock sync',
      about: `\`tillbridge sync stock\` from a simulator with ${formatWhole(stores)} stores and ${formatWhole(skus)} SKUs, which also needs the machine. Records are rows of stock, and locations that only stock names. Peak is the most memory that the process had at a time.`,
      tables: [
        {
          caption: 'Runs',
          head: ['run', 'records', 'seconds', 'records/s', 'rows written', 'peak MB'],
          rows: runs.map(({ label, seconds, read, peak: peakMegabytes, written: writtenBytes }) => [
            ...[
              label,
              formatWhole(read),
              formatTenths(seconds),
              formatWhole(read / seconds),
              formatWhole(writtenBytes),
              formatWhole(peakMegabytes),
            ],
          ]),
        },
      ],
      targets: [
        {
          label: 'memory of a full sync',
          expected: `less than ${maxMegabytes} MB`,
          actual: `${formatWhole(peak)} MB`,
          met: peak < maxMegabytes,
        },
        {
          label: 'a sync without changes writes no row',
          expected: '0',
          actual: formatWhole(rewritten),
          met: rewritten === 0,
        },
        {
          label: 'all stock, the first time: records that are stored or skipped with a reason',
          expected: formatWhole(runs[0]?.read ?? Number.NaN),
          actual: formatWhole(landed),
          met: landed === runs[0]?.read,
        },
      ],
    }
  } finally {
    await simulator.stop()
    await db.run(sql`delete from service where name = ${name}`)
  }
}

/** Counts the stored rows of stock, the locations that only stock names, and the records that the last run skipped with a reason. */
async function countLanded({ db }: LoadedDatabase, { id }: Service): Promise<number> {
  const row = await db.row<{ n: number }>(sql`
    select ((select count(*) from stock where service_id = ${id})
            + (select count(*) from store where service_id = ${id} and kind <> 'store')
            + (select coalesce(sum(count::bigint), 0)
                 from (select notes from sync_run where service_id = ${id} and sync = 'stock' order by changed_at desc limit 1) run,
                      jsonb_each_text(notes) note (reason, count)))::integer as n`)
  return row?.n ?? Number.NaN
}

/** Runs `tillbridge sync` once. Returns its seconds, the number of records, and its peak memory in MB. */
async function runSync(bench: Bench, loaded: LoadedDatabase, args: readonly string[]) {
  const { out, seconds, peak } = await runCommand(bench, loaded, ['sync', ...args, '--service', name])
  const cells =
    out
      .split('\n')
      .find(line => line.startsWith('stock '))
      ?.split(/ {2,}/) ?? []
  return { seconds, read: Number(cells[1]?.replaceAll(',', '') ?? 0), peak }
}
