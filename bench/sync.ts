import { startSimulatorProcess } from '../simulator/control/process.ts'
import { sql } from '../src/database/db.ts'
import type { Service } from '../src/domain/tenancy/service-settings.ts'
import { setBackOffice } from '../src/store/backoffice/connections.ts'
import { addService } from '../src/store/tenancy/services.ts'
import type { Bench } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { Loaded } from './rig/database.ts'
import { type Section, tenths, whole } from './rig/report.ts'

const name = 'bench-sync'
const maxMegabytes = 400

/** How large the back office's stock is. */
export interface StockSize {
  stores: number
  skus: number
}

/** Measures two full pulls of all stock by `tillbridge sync` from a simulator, each in a separate process. */
export async function measureSync(bench: Bench, loaded: Loaded, { stores, skus }: StockSize): Promise<Section> {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess(['--stores', String(stores), '--skus', String(skus), '--persons', '10'])
  await db.run(sql`delete from service where name = ${name}`)
  const service = await addService(db, name, { currency: 'AUD' })
  if (!service) throw new Error('it was just deleted')
  await setBackOffice(db, keys, service, { driver: 'apparel21', url: simulator.url, country: 'AU' })
  const pull = (...args: string[]) => pulled(bench, loaded, args)
  /** Counts the rows that were written since, in all tables that a stock sync writes. */
  const written = async (since: string) =>
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
      runs.push({ label, ...(await pull(...args)), written: await written(since) })
    }
    await pull('stores', 'products')
    await measure('all stock, the first time', 'stock', '--full')
    const landed = await countLanded(loaded, service)
    await measure('all stock again', 'stock', '--full')
    await measure('changes, the first time: what is not in stock', 'stock')
    await measure('changes again: nothing', 'stock')
    const rewritten = [runs[1], runs[3]].reduce((sum, run) => sum + (run?.written ?? Number.NaN), 0)
    const peak = Math.max(...runs.map(run => run.peak))
    return {
      title: 'Pulling stock',
      about: `\`tillbridge sync stock\` from a simulator with ${whole(stores)} stores and ${whole(skus)} SKUs, which also needs the machine. Records are rows of stock, and locations that only stock names. Peak is the most memory that the process had at a time.`,
      tables: [
        {
          caption: 'Runs',
          head: ['run', 'records', 'seconds', 'records/s', 'rows written', 'peak MB'],
          rows: runs.map(({ label, seconds, read, peak: peakMegabytes, written: writtenBytes }) => [
            ...[label, whole(read), tenths(seconds), whole(read / seconds), whole(writtenBytes), whole(peakMegabytes)],
          ]),
        },
      ],
      targets: [
        {
          label: 'memory of a full pull',
          expected: `less than ${maxMegabytes} MB`,
          actual: `${whole(peak)} MB`,
          met: peak < maxMegabytes,
        },
        {
          label: 'a pull without changes writes no row',
          expected: '0',
          actual: whole(rewritten),
          met: rewritten === 0,
        },
        {
          label: 'all stock, the first time: records that are stored or skipped with a reason',
          expected: whole(runs[0]?.read ?? Number.NaN),
          actual: whole(landed),
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
async function countLanded({ db }: Loaded, { id }: Service): Promise<number> {
  const row = await db.row<{ n: number }>(sql`
    select ((select count(*) from stock where service_id = ${id})
            + (select count(*) from store where service_id = ${id} and kind <> 'store')
            + (select coalesce(sum(count::bigint), 0)
                 from (select notes from sync_run where service_id = ${id} and sync = 'stock' order by changed_at desc limit 1) run,
                      jsonb_each_text(notes) note (reason, count)))::integer as n`)
  return row?.n ?? Number.NaN
}

/** Runs the command once. Returns its seconds, the number of records, and its peak memory. */
async function pulled(bench: Bench, loaded: Loaded, args: readonly string[]) {
  const { out, seconds, peak } = await runCommand(bench, loaded, ['sync', ...args, '--service', name])
  const cells =
    out
      .split('\n')
      .find(line => line.startsWith('stock '))
      ?.split(/ {2,}/) ?? []
  return { seconds, read: Number(cells[1]?.replaceAll(',', '') ?? 0), peak }
}
