import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { demoSettings, fillDemoShop } from '../seed/shop.ts'
import { browserMissing } from '../test/support/browser.ts'
import { type Console, openConsole } from '../test/support/console/console.ts'
import { createSampleData } from '../test/support/console/sample-data.ts'
import { type Caller, startTestApi } from '../test/support/service.ts'
import { startReceiver } from '../test/support/webhooks/receiver.ts'
import { openBackOfficeService } from './console-office.ts'
import { reduceColours, useFonts } from './take-picture.ts'

// Takes the screenshots of the console for `docs/`. Run it after a screen has changed. `--width 320 --to FOLDER` takes
// further ones for review.
if (browserMissing) throw new Error(browserMissing)
const { values, positionals: selectedScreens } = parseArgs({
  allowPositionals: true,
  options: { width: { type: 'string', default: '1280' }, to: { type: 'string', default: 'docs/images' } },
})
const width = Number(values.width)
useFonts()
const service = await startTestApi({ settings: demoSettings, environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' } })
const receiver = await startReceiver()
const { office, close } = await openBackOfficeService(service)
try {
  await fillDemoShop(service.db, service.keys, service.service)
  const { customer, sku, voucher, request, webhook } = await createSampleData(service, receiver)
  const [{ id: product }] = (await service.get(`/products?sku=${encodeURIComponent(sku)}`)).json.data
  const screens: [name: string, route: string, account?: Caller][] = [
    ['overview', 'overview'],
    ['syncs', 'syncs/stock'],
    ['back-office', 'back-office', office],
    ['import', 'import'],
    ['rejected', 'import'],
    ['customers', 'customers'],
    ['product', `search/product/${product}`],
    ['search', `search/customer/${customer}`],
    ['stock', `search/product/${encodeURIComponent(`sku:${sku}`)}`],
    ['voucher', `search/voucher/${voucher}`],
    ['requests', 'requests'],
    ['request', `requests/${request}`],
    ['webhooks', `webhooks/${webhook}`],
    ['mappings', 'mappings/skus'],
    ['mapping-check', 'mappings/check/skus/nearMatch'],
    ['accounts', 'accounts'],
    ['settings', 'settings'],
    ['audit', 'audit'],
    ['system', 'system'],
  ]
  // The documents show the light pictures only. Another directory also gets the dark ones, for comparison.
  const schemes = values.to === 'docs/images' ? (['light'] as const) : (['light', 'dark'] as const)
  for (const colours of schemes)
    for (const account of [service, office]) {
      const page = await openConsole(service, account, {
        width,
        height: Math.max(account === office ? 980 : 850, Math.round(width * 0.56)),
        colours,
      })
      for (const [name, route, owner = service] of screens) {
        if (owner !== account || (selectedScreens.length && !selectedScreens.includes(name))) continue
        await page.show(route)
        if (route === 'import') await dropStockFile(page, name === 'rejected')
        await page.waitUntil(`!document.querySelector('.opening') && !document.querySelector('[aria-busy="true"]')`)
        await page.evaluate('new Promise(done => setTimeout(done, 300))')
        const image = reduceColours(await page.screenshot())
        const file = join(values.to, `console-${name}-${colours}.png`)
        await writeFile(file, image)
        console.log(`${file}: ${Math.round(image.length / 1024)} KiB`)
      }
      if (page.pageErrors.length) console.log(page.pageErrors.join('\n'))
      await page.close()
    }
} finally {
  await close()
  await receiver.close()
  await service.stop()
}

/** Drops a stock file with some invalid lines. */
async function dropStockFile(page: Console, isChecked: boolean) {
  const skus = (await service.get('/inventory?limit=20')).json.data.map(({ sku }: { sku: string }) => sku)
  const [{ storeNumber }] = (await service.get('/stores?limit=1')).json.data
  const lines = skus.map(
    (sku: string, i: number) => `${i % 4 ? storeNumber : `9${i}`};${sku};${(i * 7) % 23};02.11.2026`,
  )
  await page.drop('stock of monday.csv', Buffer.from(['Store number;SKU;Free;Counted', ...lines, ''].join('\n')))
  await page.fill('Source of freeStock', 'Free')
  if (!isChecked) return
  await page.press('Dry run')
  await page.waitUntil(`document.querySelector('details.card table')`)
}
