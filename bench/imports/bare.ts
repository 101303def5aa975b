import { createReadStream } from 'node:fs'
import pg from 'pg'

// Imports a transactions file of the bench without checks: the minimum that Node needs to read the file, to build records
// and to insert them over two connections. Arguments: database URL, file, service ID.

const [url = '', path = '', service = ''] = process.argv.slice(2)
const linesPerBatch = 2_000

interface Transaction {
  id: string
  customerId: string
  saleDate: string
  lines: object[]
  [field: string]: unknown
}

const clients = [new pg.Client(url), new pg.Client(url)]
await Promise.all(clients.map(client => client.connect()))
const pending: Promise<unknown>[] = []
let next = 0

async function insert(transactions: readonly Transaction[]) {
  const index = next++ % clients.length
  await pending[index]
  pending[index] = clients[index]?.query({
    name: 'put',
    text: `
      insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
      select $1, id, customer_id, sale_date, sale_date, body || ',"updateTimeStamp":"2024-05-26 12:00:00"}'
        from unnest($2::text[], $3::text[], $4::timestamp[], string_to_array($5, chr(10))) as t (id, customer_id, sale_date, body)`,
    values: [
      service,
      transactions.map(({ id }) => id),
      transactions.map(({ customerId }) => customerId),
      transactions.map(({ saleDate }) => saleDate),
      transactions.map(transaction => JSON.stringify(transaction).slice(0, -1)).join('\n'),
    ],
  }) as Promise<unknown>
}

const toTransaction = (cells: readonly string[]): Transaction => {
  const [id = '', number, saleDate = '', customerId = '', storeNumber] = cells
  const header = { id, number, orderNumber: null, channel: 'store', type: 'sale', saleDate, customerId, storeNumber }
  return { ...header, storeName: '', currency: 'AUD', total: '0.00', lines: [] }
}

const toLine = (cells: readonly string[]) => {
  const [id, sequence, sku, productCode, productName, quantity, price] = cells.slice(5)
  const product = { sku, productCode, productName, colourCode: null, colourName: null, sizeCode: null }
  const paid = { quantity: Number(quantity), price, value: price, taxPercent: null, discounts: [] }
  return { id, sequence: Number(sequence), ...product, ...paid }
}

let batch = new Map<string, Transaction>()
let count = -1
let partialLine = ''
for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
  const lines = (partialLine + chunk).split('\n')
  partialLine = lines.pop() ?? ''
  for (const line of lines) {
    // The header line.
    if (++count === 0) continue
    const cells = line.split(',')
    const [id = ''] = cells
    const transaction = batch.get(id) ?? toTransaction(cells)
    batch.set(id, transaction)
    transaction.lines.push(toLine(cells))
    if (count % linesPerBatch) continue
    await insert([...batch.values()])
    batch = new Map()
  }
}
await insert([...batch.values()])
await Promise.all(pending)
await Promise.all(clients.map(client => client.end()))
