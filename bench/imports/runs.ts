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
import type { LoadedDatabase } from '../rig/database.ts'
import type { File } from './files.ts'

const name = 'bench-import'

/** Creates the empty service into which files are imported. Returns its ID. */
export async function createEmptyService(loaded: LoadedDatabase) {
  await removeService(loaded)
  const service = await addService(loaded.db, name, { currency: 'AUD' })
  if (!service) throw new Error(`the service ${name} already exists`)
  return service.id
}

/** Deletes the service. Deletes referring rows first, because a cascade would search each table row by row. */
export async function removeService({ db }: LoadedDatabase) {
  for (const table of ['stock', 'variant', 'colour', 'product', 'store', 'customer', 'retail_transaction'])
    await db.run(
      sql`delete from ${raw(table)} where service_id in (select service_id from service where name = ${name})`,
    )
  await db.run(sql`delete from service where name = ${name}`)
  await db.run(raw('vacuum (analyze)'))
}

/** Runs the import command on a generated file. Returns its seconds, its peak memory in MB, and the seconds of the job that renders stock afterwards. */
export async function importFile(
  bench: Bench,
  loaded: LoadedDatabase,
  { kind, head, line }: File,
  lines: number,
  round: number,
) {
  const file = join(bench.directory, `${kind}.csv`)
  await writeFile(file, [head, ...Array.from({ length: lines }, (_, i) => line(i, round)), ''].join('\n'))
  const { seconds, peak, out } = await runCommand(bench, loaded, ['import', kind, file, '--service', name])
  if (/[1-9]\d* rejected/.test(out)) throw new Error(`lines were rejected: ${out}`)
  const began = performance.now()
  await renderStaleStock(loaded.db, new AbortController().signal)
  return { seconds, peak, jobSeconds: (performance.now() - began) / 1_000 }
}

/** Imports the last transactions file again with a process that checks nothing. */
export async function importUnchecked({ directory }: Bench, { db, url }: LoadedDatabase, service: number) {
  await db.run(sql`delete from retail_transaction where service_id = ${service}`)
  await db.run(raw('vacuum retail_transaction'))
  const began = performance.now()
  const script = fileURLToPath(new URL('./bare.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url, join(directory, 'transactions.csv'), String(service)], {
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`The import without checks ended with code ${code}.`)
  return { seconds: (performance.now() - began) / 1_000, peak: Number.NaN }
}

/** The mean bytes of a table's row: without its indexes, its record, its indexes, and all. */
export interface Disk {
  table: string
  rows: number
  row: number
  text: number
  indexes: number
  total: number
}

/** Copies a service's rows into an empty table with the same indexes by COPY. Returns the seconds and the sizes. */
async function copyTable({ db }: LoadedDatabase, service: number, table: string) {
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
  if (!sizes) throw new Error('an aggregate returned no row')
  return { seconds, table, ...sizes }
}

/** Copies the rows of all tables that the import of a file filled. */
export async function copyImported(loaded: LoadedDatabase, service: number, { tables }: File) {
  const disk: (Disk & { seconds: number })[] = []
  for (const table of tables) disk.push(await copyTable(loaded, service, table))
  return { disk, seconds: disk.reduce((sum, { seconds }) => sum + seconds, 0) }
}
