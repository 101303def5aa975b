import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { raw, sql } from '../../src/database/db.ts'
import { renderStaleStock } from '../../src/jobs/render-stock.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import type { Bench } from '../rig/bench.ts'
import { runCommand } from '../rig/command.ts'
import type { Loaded } from '../rig/database.ts'
import type { File } from './files.ts'

const name = 'bench-import'

/** Creates the empty service that files are imported into. */
export async function emptyService(loaded: Loaded) {
  await remove(loaded)
  const service = await addService(loaded.db, name, { currency: 'AUD' })
  if (!service) throw new Error('it was just deleted')
  return service.id
}

/** Deletes the service. Rows that refer to others go first, because a cascade would search each table row by row. */
export async function remove({ db }: Loaded) {
  for (const table of ['stock', 'variant', 'colour', 'product', 'store', 'customer', 'retail_transaction'])
    await db.run(
      sql`delete from ${raw(table)} where service_id in (select service_id from service where name = ${name})`,
    )
  await db.run(sql`delete from service where name = ${name}`)
  await db.run(raw('vacuum (analyze)'))
}

/** Imports a file of `lines` lines by the command. The values depend on `round`. Returns seconds, peak memory in MB, and seconds of the job that follows. */
export async function imported(bench: Bench, loaded: Loaded, { kind, head, line }: File, lines: number, round: number) {
  const file = join(bench.directory, `${kind}.csv`)
  await writeFile(file, [head, ...Array.from({ length: lines }, (_, i) => line(i, round)), ''].join('\n'))
  const { seconds, peak, out } = await runCommand(bench, loaded, ['import', kind, file, '--service', name])
  if (/[1-9]\d* rejected/.test(out)) throw new Error(`lines were rejected: ${out}`)
  const began = performance.now()
  await renderStaleStock(loaded.db, new AbortController().signal)
  return { seconds, peak, after: (performance.now() - began) / 1_000 }
}

/** Imports the last file of transactions again with a process that checks nothing. */
export async function importedBarely({ directory }: Bench, { db, url }: Loaded, service: number) {
  await db.run(sql`delete from retail_transaction where service_id = ${service}`)
  await db.run(raw('vacuum retail_transaction'))
  const began = performance.now()
  const script = fileURLToPath(new URL('./bare.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url, join(directory, 'transactions.csv'), String(service)], {
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`It ended with code ${code}.`)
  return { seconds: (performance.now() - began) / 1_000, peak: Number.NaN }
}

/** Bytes of a row of a table, by its parts. */
export interface Disk {
  table: string
  rows: number
  row: number
  text: number
  indexes: number
  total: number
}

/** Copies a service's rows by COPY into an empty table with the same indexes. */
async function copied({ db }: Loaded, service: number, table: string) {
  const home = await db.row<{ path: string }>(sql`select current_setting('data_directory') as path`)
  const file = join(home?.path ?? '', 'bench.copy')
  const record = ['colour', 'variant'].includes(table) ? '0' : 'avg(octet_length(record))'
  await db.run(raw('drop table if exists copied'))
  await db.run(raw(`create table copied (like ${table} including all)`))
  const columns = await db.row<{ names: string }>(sql`
    select string_agg(attname, ', ' order by attnum) as names from pg_attribute
     where attrelid = 'copied'::regclass and attnum > 0 and attgenerated = ''`)
  await db.run(raw(`copy (select ${columns?.names} from ${table} where service_id = ${service}) to '${file}'`))
  const began = performance.now()
  await db.run(raw(`copy copied (${columns?.names}) from '${file}'`))
  const seconds = (performance.now() - began) / 1_000
  const sizes = await db.row<Omit<Disk, 'table'>>(
    raw(`
    select n::integer as rows, (pg_table_size('copied') / n)::float as row, text::float, (pg_indexes_size('copied') / n)::float as indexes,
           (pg_total_relation_size('copied') / n)::float as total
      from (select greatest(count(*), 1) as n, ${record} as text from copied) c`),
  )
  await db.run(raw('drop table copied'))
  await rm(file)
  if (!sizes) throw new Error('an aggregate has a row')
  return { seconds, table, ...sizes }
}

/** Copies all rows that an import created from a file by COPY. */
export async function copyOf(loaded: Loaded, service: number, { tables }: File) {
  const disk: (Disk & { seconds: number })[] = []
  for (const table of tables) disk.push(await copied(loaded, service, table))
  return { disk, seconds: disk.reduce((sum, { seconds }) => sum + seconds, 0) }
}
