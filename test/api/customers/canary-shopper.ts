import { mkdtempSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { raw, sql } from '../../../src/database/db.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import { upsertPrograms, upsertRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import { buildOrder, getCreatedRecord, type OrderLine } from '../../support/order-shop.ts'
import type { Caller, TestApi } from '../../support/service.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'

const address = {
  addressLine1: '1 Canary Row',
  addressLine2: 'Canary House',
  city: 'Canaryville',
  state: 'CANARYST',
  postcode: 'CANARY1',
  country: 'Canary Islands',
}
const orderAddress = { ...address, contactName: 'Canary Contact', companyName: 'Canary & Co' }

let created = 0

/** Creates a customer whose strings are all canaries, with a record of each type that a shopper can have. Returns them. */
export async function createCanaryShopper(api: TestApi, caller: Caller = api) {
  const n = ++created
  const email = `canary${n}@canary.example`
  const bodies = {
    customer: {
      title: 'Canary',
      firstname: `Canaryjohn${n}`,
      surname: 'Canarysmith',
      contact: { email, phones: { home: '0999 000 111', work: '0999 000 112' } },
      mobile: '0999 000 113',
      dateOfBirth: '1980-02-29',
      emailSubscription: true,
      address,
      ecommerceAdminId: `gid://canary/Customer/${n}`,
    },
    voucher: {
      ...gift,
      receiverName: 'Canary Receiver',
      receiverEmail: email.toUpperCase(),
      senderName: 'Canary Sender',
      message: 'Sing, canary!',
      mobile: '0999 000 114',
      billingAddress: orderAddress,
    },
  }
  const keys = { customer: withKey(), order: withKey(), voucher: withKey() }
  const customer = getCreatedRecord(await post(caller, '/customers', bodies.customer, keys.customer))
  const { id } = customer
  await upsertPrograms(api.db, caller.service, [
    {
      program: { programId: '1', name: 'Rewards' },
      tier: { programId: '1', tierId: '1', name: 'Base', sequence: 1, accrualSpend: '1.00', accrualPoints: 1 },
    },
  ])
  await upsertRewardAccounts(api.db, caller.service, [{ id: `r${n}`, customerId: id, programId: '1', tierId: '1' }])
  const order = (lines: OrderLine[] = [{ sku: 'TEE', quantity: 2 }]) => {
    const body = buildOrder(lines, { customerId: id, billingAddress: orderAddress, deliveryAddress: orderAddress })
    return { ...body, payments: body.payments.map(payment => ({ ...payment, reference: 'CANARY-PAY' })) }
  }
  const placed = getCreatedRecord(await post(caller, '/orders', order(), keys.order))
  const notes = 'Canary did not like it.'
  const returned = getCreatedRecord(
    await post(
      caller,
      `/orders/${placed.id}/returns`,
      { lines: [{ sku: 'TEE', quantity: 1, reasonCode: 'SIZE', notes }] },
      withKey(),
    ),
  )
  const voucher = getCreatedRecord(await post(caller, '/vouchers', bodies.voucher, keys.voucher))
  const deliveryDate = Temporal.Now.plainDateISO().add({ years: 1 }).toString()
  getCreatedRecord(await post(caller, '/vouchers', { ...bodies.voucher, deliveryDate }, withKey()))
  const input = {
    receiverName: 'Ann',
    receiverEmail: `ann${n}@example.com`,
    senderName: `CANARYJOHN${n} Canarysmith`,
    mobile: null,
  }
  const present = getCreatedRecord(await post(caller, '/vouchers', { ...bodies.voucher, ...input }))
  return { id, n, email, bodies, keys, order, placed, returned, voucher, present, customer }
}

/** Adds `count` sales of a till. */
export const addTillSales = (api: TestApi, { service }: Caller, customerId: string, count: number) =>
  upsertTransactions(
    api.db,
    service,
    Array.from({ length: count }, (_, i) => ({
      header: {
        id: `till-${i}`,
        customerId,
        saleDate: '2024-05-26 00:00:00',
        channel: 'store',
        type: 'sale',
        trackingNumber: `CANARY"${i}`,
        trackingUrl: `https://canary.example/${i}`,
      },
      line: { id: '1', sequence: 1, quantity: 1, price: '1.00', value: '1.00' },
    })) as never,
  )

/** Searches all tables, ignoring case. Returns the rows that contain the text, as `table: row`. */
export async function findRows({ db }: TestApi, text: string): Promise<string[]> {
  const tables = await db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  )
  const matches: string[] = []
  for (const { name } of tables) {
    const rows = await db.rows<{ text: string }>(
      sql`select t::text as text from ${raw(name)} t where strpos(lower(t::text), lower(${text})) > 0`,
    )
    matches.push(...rows.map(row => `${name}: ${row.text}`))
  }
  return matches
}

/** Creates a temporary data directory for emails, with a function that reads them. */
export function createMailFolder() {
  const dataDir = mkdtempSync(join(tmpdir(), 'tillbridge-canary-'))
  return {
    dataDir,
    async readEmails() {
      const folder = join(dataDir, 'mail')
      const names = await readdir(folder).catch(() => [])
      // Unfinished files have another name and can disappear before they are read.
      const complete = names.filter(name => name.endsWith('.eml'))
      return Promise.all(complete.map(name => readFile(join(folder, name), 'utf8')))
    },
  }
}
