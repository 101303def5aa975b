import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { raw, sql } from '../src/db.ts'
import { renderStaleStock } from '../src/jobs/render-stock.ts'
import { addService } from '../src/services.ts'
import type { Bench } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { Loaded } from './rig/database.ts'
import { median, percent, type Section, tenths, whole } from './rig/report.ts'

const name = 'bench-import'
const wanted = 20_000
const mostGigabytes = 4

/** A file of a kind: its heading, a line of it, and the tables that its lines fill. `turn` makes it say something else. */
interface File {
  kind: string
  head: string
  line: (i: number, turn: number) => string
  /** What COPY fills beside it; none for what only changes rows. */
  tables: readonly string[]
}

/** Stores that have stock; the others have none. */
const stores = 50
const files: readonly File[] = [
  {
    kind: 'stores',
    head: 'storeId,storeNumber,name,city',
    line: (i, turn) => `s${i},${i},Store ${i},City ${turn}`,
    tables: ['store'],
  },
  {
    kind: 'products',
    head: 'productId,productCode,name,colourId,colourCode,colourName,skuId,sizeCode,sequence,price,barcode',
    line: (i, turn) =>
      `p${i >> 3},P${i >> 3},Hoodie ${i >> 3},c${(i >> 2) & 1},BLK,Black,k${i},${i & 3},${i & 3},5${turn}.00,93${i}`,
    tables: ['product', 'colour', 'variant'],
  },
  {
    kind: 'stock',
    head: 'storeNumber,skuId,freeStock',
    line: (i, turn) => `${i % stores},k${Math.floor(i / stores)},${(i % 40) + turn}`,
    tables: ['stock'],
  },
  {
    kind: 'customers',
    head: 'id,code,firstname,surname,email,phoneMobile,addressLine1,city,state,postcode,country,joinedStoreId',
    line: (i, turn) =>
      `${i},C${i},Olivia,Nguyen,olivia.${i}@example.com,+61 400 ${i},${turn} Collins Street,Melbourne,VIC,3000,Australia,s${i % stores}`,
    tables: ['customer'],
  },
  {
    kind: 'transactions',
    head: 'id,number,saleDate,customerId,storeNumber,lineId,sequence,skuId,productCode,productName,quantity,price',
    line: (i, turn) =>
      `t${i >> 1},R${i >> 1},2024-05-26 12:00:00,${i >> 1},${(i >> 1) % stores},${i},${(i & 1) + 1},k${i % 1_000},P1,Hoodie,1,5${turn}.00`,
    tables: ['retail_transaction'],
  },
  {
    kind: 'customer-mapping',
    head: 'customerId,ecommerceAdminId,ecommerceLegacyId',
    line: (i, turn) => `${i},gid://shop/Customer/${turn}${i},${turn}${i}`,
    tables: [],
  },
  {
    kind: 'sku-mapping',
    head: 'skuId,ecommerceSku',
    line: (i, turn) => `k${i},E${turn}-${i}`,
    tables: [],
  },
  {
    kind: 'store-mapping',
    head: 'storeId,ecommerceLocationId',
    line: (i, turn) => `s${i},L${turn}-${i}`,
    tables: [],
  },
]

const ways = ['empty', 'changed', 'the same'] as const

/** A run of the command, and how long what was left to the job took behind it. */
interface Run {
  kind: string
  way: (typeof ways)[number]
  seconds: number
  peak: number
  after: number
}

/** Files of so many lines of each kind, imported by `tillbridge import` into a service of its own: all new, all changed, and once more. */
export async function measureImport(bench: Bench, loaded: Loaded, lines: number): Promise<Section> {
  const { db } = loaded
  const runs: Run[] = []
  const copies = new Map<string, number[]>()
  let disk: Disk[] = []
  for (let round = 0; round < bench.rounds; round++) {
    await remove(loaded)
    const service = await addService(db, name, { currency: 'AUD' })
    if (!service) throw new Error('it was just deleted')
    disk = []
    for (const file of files) {
      bench.say(`  round ${round + 1}: ${file.kind}`)
      for (const way of ways) {
        runs.push({ kind: file.kind, way, ...(await imported(bench, loaded, file, lines, way === 'empty' ? 1 : 2)) })
        if (way !== 'empty' || !file.tables.length) continue
        const copied = []
        for (const table of file.tables) copied.push(await copy(loaded, service.id, table))
        const sum = copied.reduce((sum, { seconds }) => sum + seconds, 0)
        copies.set(file.kind, [...(copies.get(file.kind) ?? []), sum])
        disk.push(...copied)
      }
    }
  }
  await remove(loaded)
  const found = files.flatMap(({ kind }) =>
    ways.map(way => {
      const of = runs.filter(run => run.kind === kind && run.way === way)
      const seconds = median(of.map(run => run.seconds))
      const share = median(copies.get(kind) ?? []) / seconds
      const after = median(of.map(run => run.after))
      return { kind, way, seconds, after, rate: lines / seconds, share, peak: Math.max(...of.map(({ peak }) => peak)) }
    }),
  )
  const many = found.filter(({ kind }) => ['products', 'stock', 'customers', 'transactions'].includes(kind))
  const mappings = found.filter(({ kind }) => kind.endsWith('mapping'))
  const gigabytes = ((disk.find(({ table }) => table === 'retail_transaction')?.whole ?? Number.NaN) * 1.5e6) / 1e9
  const least = (way: string, of: 'rate' | 'share') =>
    Math.min(...many.filter(one => one.way === way).map(one => one[of]))
  return {
    title: 'Imports',
    about:
      `\`tillbridge import\` of generated CSV into a service of its own beside the one of the bench, ${whole(lines)} lines, each run a process, whose start counts; every line changes in the second run, and none in the third. ` +
      `COPY is that of the rows which the first run made, by the server from a file into a table with the same indexes. ${stores} of the stores have stock, ${whole(lines / stores)} rows each: what becomes of it when they, or its SKUs, are mapped is the job's, which is timed behind the run.`,
    tables: [
      {
        caption: 'Files',
        head: ['kind', 'run', 'seconds', 'lines/s', 'of COPY', 'then the job, s', 'peak MB'],
        rows: found.map(({ kind, way, seconds, rate, share, after, peak }) => [
          ...[kind, way, tenths(seconds), whole(rate), Number.isNaN(share) ? '-' : percent(share)],
          ...[after < 0.1 ? '-' : tenths(after), whole(peak)],
        ]),
      },
      {
        caption: 'A row on disk, in bytes, as COPY leaves it',
        head: ['table', 'rows', 'row', 'of it the record', 'indexes', 'all'],
        rows: disk.map(({ table, rows, row, text, indexes, whole: size }) => [
          ...[table, whole(rows), whole(row), whole(text), whole(indexes), whole(size)],
        ]),
      },
    ],
    targets: [
      ...(['empty', 'changed'] as const).flatMap(way => {
        const share = way === 'empty' ? 0.3 : 0.15
        const [of, rate] = [least(way, 'share'), least(way, 'rate')]
        return [
          { what: `${way}, of COPY, the slowest`, wanted: `≥ ${percent(share)}`, found: percent(of), met: of >= share },
          {
            what: `${way}, lines/s, the slowest`,
            wanted: `≥ ${whole(wanted)}`,
            found: whole(rate),
            met: rate >= wanted,
          },
        ]
      }),
      {
        what: '3,000,000 lines of transactions on disk, two lines each',
        wanted: `< ${mostGigabytes} GB`,
        found: `${tenths(gigabytes)} GB`,
        met: gigabytes < mostGigabytes,
      },
      {
        what: 'mappings, lines/s, the slowest',
        wanted: `≥ ${whole(wanted)}`,
        found: whole(Math.min(...mappings.map(({ rate }) => rate))),
        met: mappings.every(({ rate }) => rate >= wanted),
      },
    ],
  }
}

/** The tables from the ends: a service that goes at once is looked for in each of them, row by row. */
async function remove({ db }: Loaded) {
  for (const table of ['stock', 'variant', 'colour', 'product', 'store', 'customer', 'retail_transaction'])
    await db.run(
      sql`delete from ${raw(table)} where service_id in (select service_id from service where name = ${name})`,
    )
  await db.run(sql`delete from service where name = ${name}`)
  await db.run(raw('vacuum (analyze)'))
}

async function imported(bench: Bench, loaded: Loaded, { kind, head, line }: File, lines: number, turn: number) {
  const file = join(bench.directory, `${kind}.csv`)
  await writeFile(file, [head, ...Array.from({ length: lines }, (_, i) => line(i, turn)), ''].join('\n'))
  const { seconds, peak, out } = await runCommand(bench, loaded, ['import', kind, file, '--service', name])
  if (/[1-9]\d* refused/.test(out)) throw new Error(`lines were refused: ${out}`)
  const began = performance.now()
  await renderStaleStock(loaded.db, new AbortController().signal)
  return { seconds, peak, after: (performance.now() - began) / 1_000 }
}

/** Bytes of a row of a table, by its parts. */
interface Disk {
  table: string
  rows: number
  row: number
  text: number
  indexes: number
  whole: number
}

/** COPY of a service's rows into an empty table that has the indexes of theirs. */
async function copy({ db }: Loaded, service: number, table: string) {
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
  const found = await db.row<Omit<Disk, 'table'>>(
    raw(`
    select n::integer as rows, (pg_table_size('copied') / n)::float as row, text::float, (pg_indexes_size('copied') / n)::float as indexes,
           (pg_total_relation_size('copied') / n)::float as whole
      from (select greatest(count(*), 1) as n, ${record} as text from copied) c`),
  )
  await db.run(raw('drop table copied'))
  await rm(file)
  if (!found) throw new Error('an aggregate has a row')
  return { seconds, table, ...found }
}
