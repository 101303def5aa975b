import { writeFile } from 'node:fs/promises'
import { sql } from '../src/db.ts'
import { demoSettings, fillDemoShop } from '../src/demo/shop.ts'
import { raiseAlert } from '../src/store/running/alerts.ts'
import { browserMissing } from '../test/support/browser.ts'
import { type Console, openConsole } from '../test/support/console/console.ts'
import { type Caller, startTestService } from '../test/support/service.ts'
import { startReceiver } from '../test/support/webhooks/receiver.ts'
import { post, put } from '../test/support/write.ts'
import { logMorning } from './console-morning.ts'
import { openOffice } from './console-office.ts'
import { listPlatform } from './console-platform.ts'

// Takes the pictures of the console that stand in `docs/`: run it after a screen has changed.
if (browserMissing) throw new Error(browserMissing)
const service = await startTestService({ settings: demoSettings, environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
const receiver = await startReceiver()
const { office, close } = await openOffice(service)
try {
  await fillDemoShop(service.db, service.keys, service.service)
  const only = process.argv.slice(2)
  const first = async (path: string) => (await service.get(path)).json.data[0]
  const sale = (await service.get('/orders/transactions/search?limit=100')).json.data.find(
    (each: { customerId: string | null }) => each.customerId,
  )
  const level = await first('/inventory?limit=1')
  const webhook = await post(service, '/webhooks', {
    url: new URL('/stock', receiver.url).href,
    kinds: ['inventory', 'product'],
    description: 'Stock of the web shop',
  })
  await post(service, '/webhooks', {
    url: new URL('/crm', receiver.url).href,
    kinds: ['customer'],
    description: 'Customers of the mailing tool',
  })
  await post(service, `/webhooks/${webhook.json.data.id}/test`, {})
  // Files as they might have come through a morning.
  await service.db.run(sql`
    insert into feed_run (service_id, feed, changed_at, ended_at, origin, is_whole, read, inserted, changed, refused)
    select ${service.service.id}, 'stock', at, at + (40 + n * 7 % 50) * interval '1 second', 'file', n % 8 = 0, 4000 + n * 173 % 900, n % 3, 200 + n * 41 % 300, n % 5 / 4
      from generate_series(1, 24) n, lateral (select now() - (n * 15 + n * n % 7) * interval '1 minute' as at) begun`)
  await raiseAlert(service.db, service.service.id, {
    kind: 'export_refused',
    subject: 'stock.csv',
    detail: '3 of 4,120 lines of stock.csv name a store that is not known.',
  })
  const order = await logMorning(service)
  const gift = {
    amount: '150.00',
    receiverName: 'Ann Lee',
    receiverEmail: 'ann.lee@exmaple.com',
    senderName: 'John Smith',
    subject: 'A gift for you',
    billingAddress: { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' },
  }
  const voucher = await post(service, '/vouchers', gift)
  const { number } = voucher.json.data
  await service.db.run(sql`
    update mail set status = 'failed', attempts = 1, last_fault = 'The mail server refuses the message: 550 5.1.2 at RCPT TO.'
     where voucher_number = ${number}`)
  await post(service, `/vouchers/${number}/send-again`, { receiverEmail: 'ann.lee@example.com' })
  await service.db.run(sql`
    update mail set status = 'sent', attempts = 1, sealed = null, sent_at = now() where voucher_number = ${number} and status = 'queued'`)
  // Something that was changed, and a present, for the time line of a customer.
  await put(service, `/customers/${sale.customerId}`, { smsSubscription: true, mobile: '+61 491 570 006' })
  const { contact } = (await service.get(`/customers/${sale.customerId}`)).json.data
  await post(service, '/vouchers', { ...gift, receiverEmail: contact.email })
  await listPlatform(service)
  const places: [name: string, place: string, of?: Caller][] = [
    ['today', 'today'],
    ['feeds', 'feeds/stock'],
    ['back-office', 'feeds', office],
    ['import', 'import'],
    ['refused', 'import'],
    ['look-up', `look-up/customer/${sale.customerId}`],
    ['stock', `look-up/product/${encodeURIComponent(`sku:${level.sku}`)}`],
    ['voucher', `look-up/voucher/${number}`],
    ['requests', 'requests'],
    ['request', `requests/${order}`],
    ['webhooks', `webhooks/${webhook.json.data.id}`],
    ['mappings', 'mappings/skus'],
    ['mapping-doctor', 'mappings/doctor/skus/nearMiss'],
    ['accounts', 'accounts'],
    ['settings', 'settings'],
    ['audit', 'audit'],
  ]
  for (const colours of ['light', 'dark'] as const)
    for (const shown of [service, office]) {
      const page = await openConsole(service, shown, { width: 1360, height: shown === office ? 980 : 850, colours })
      for (const [name, place, whose = service] of places) {
        if (whose !== shown || (only.length && !only.includes(name))) continue
        await page.show(place)
        if (place === 'import') await dropFile(page, name === 'refused')
        await page.until(`!document.querySelector('.opening') && !document.querySelector('[aria-busy="true"]')`)
        await page.evaluate('new Promise(done => setTimeout(done, 300))')
        const picture = await page.screenshot()
        await writeFile(new URL(`../docs/images/console-${name}-${colours}.png`, import.meta.url), picture)
        console.log(`docs/images/console-${name}-${colours}.png: ${Math.round(picture.length / 1024)} KiB`)
      }
      if (page.complaints.length) console.log(page.complaints.join('\n'))
      await page.close()
    }
} finally {
  await close()
  await receiver.close()
  await service.stop()
}

/** A file of stock as a till writes it, some lines of which have a fault. */
async function dropFile(page: Console, isTried: boolean) {
  const skus = (await service.get('/inventory?limit=20')).json.data.map(({ sku }: { sku: string }) => sku)
  const [{ storeNumber }] = (await service.get('/stores?limit=1')).json.data
  const lines = skus.map(
    (sku: string, i: number) => `${i % 4 ? storeNumber : `9${i}`};${sku};${(i * 7) % 23};02.11.2026`,
  )
  await page.drop('stock of monday.csv', Buffer.from(['Store number;SKU;Free;Counted', ...lines, ''].join('\n')))
  await page.fill('freeStock is', 'Free')
  if (!isTried) return
  await page.press('Try it, write nothing')
  await page.until(`document.querySelector('details.card table')`)
}
