import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildProductExport } from '../api/mappings/shopify.ts'
import { buildEnvironment } from '../import/import-command.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { cli, createDirectory, runCommand } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'
import { put } from '../support/write.ts'

const api = await startTestApi()
after(() => api.stop())
const place = createDirectory()
const environment = buildEnvironment(api, place)

test('the check lists issues, and its CSV can be imported as mappings', async () => {
  const caller = await createUnmappedShop(api)
  const { name } = caller.service
  const products = join(place, 'products.csv')
  const variants = [
    ['S', '012001'],
    ['M', '12002'],
  ] as const
  await writeFile(products, buildProductExport(variants))
  const accepted = await runCommand(['import', 'ecommerce-variants', products, '--service', name], environment)
  assert.match(accepted.out, /^1 +without a SKU: skipped/m, accepted.err)

  const report = await runCommand(['mapping', 'check', name], environment)
  assert.equal(report.code, 2, report.err)
  assert.match(report.out, /^skus +1 +0 +0 +0 +1 +1 +0$/m)
  assert.match(report.out, /^12001 +MH01 BLK S +nearMatch +012001 +leadingZeros +14 +0$/m)
  assert.match(
    report.out,
    /No platform file of stores has been imported\. Run: tillbridge import ecommerce-locations <file>/,
  )
  const json = await runCommand(
    ['mapping', 'check', name, '--kind', 'skus', '--state', 'nearMatch', '--json'],
    environment,
  )
  const { kinds, issues } = JSON.parse(json.out)
  assert.deepEqual([kinds[0].states.nearMatch, issues.skus.length, issues.skus[0].suggestion], [1, 1, '012001'])

  const elsewhere = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--state', 'matched'], environment)
  assert.equal(elsewhere.code, 2, 'whatever is shown')

  const csv = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--csv'], environment)
  assert.equal(csv.code, 0, 'all rows are written')
  assert.equal(csv.out.split('\n')[1], '12001,012001,MH01 BLK S,nearMatch,hoodie: S,leadingZeros 012001,14,0')
  const untilTrue = `('${process.execPath}' '${cli}' "$@"; echo "code $?" >&2) | true`
  const enough = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--csv'], environment, {
    program: ['sh', '-c', untilTrue, 'sh'],
  })
  assert.match(enough.err, /code 0\n$/)
  assert.doesNotMatch(enough.err, /EPIPE|Error/)
  const corrected = join(place, 'skus.csv')
  await writeFile(corrected, csv.out)
  const mapped = await runCommand(['import', 'sku-mapping', corrected, '--service', name], environment)
  assert.equal(mapped.code, 0, mapped.out + mapped.err)
  assert.equal((await caller.get('/mappings/skus/12001')).json.data.ecommerceSku, '012001')
  assert.equal((await caller.get('/mappings/skus/12003')).json.data.ecommerceSku, null)
})

test('the CSV round-trips, including formula-like values', async () => {
  const caller = await createUnmappedShop(api)
  await put(caller, '/mappings/skus/12001', { ecommerceSku: '-XL' })
  await put(caller, '/mappings/skus/12002', { ecommerceSku: "'=M" })
  const csv = await runCommand(['mapping', 'check', caller.service.name, '--kind', 'skus', '--csv'], environment)
  assert.match(csv.out, /^12001,'-XL,/m)
  const file = join(place, 'out-and-in.csv')
  await writeFile(file, csv.out)
  const again = await runCommand(['import', 'sku-mapping', file, '--service', caller.service.name], environment)
  assert.equal(again.code, 0, again.out + again.err)
  const mapped = async (id: string) => (await caller.get(`/mappings/skus/${id}`)).json.data.ecommerceSku
  assert.deepEqual([await mapped('12001'), await mapped('12002')], ['-XL', "'=M"])
})

test('customers round-trip with both identifiers and a contradiction is removed', async () => {
  const caller = await createUnmappedShop(api)
  const list = join(place, 'customers.csv')
  await writeFile(list, 'Customer ID,Email\n5,john@example.com\n6,mary@example.com\n')
  await runCommand(['import', 'ecommerce-customers', list, '--service', caller.service.name], environment)
  const admin = (id: string) => `gid://shop/Customer/${id}`
  await put(caller, '/mappings/customers/65432', { ecommerceAdminId: admin('5') })
  await put(caller, '/mappings/customers/65433', { ecommerceAdminId: admin('9'), ecommerceLegacyId: '6' })
  const csv = await runCommand(['mapping', 'check', caller.service.name, '--kind', 'customers', '--csv'], environment)
  const file = join(place, 'customers-corrected.csv')
  await writeFile(file, csv.out)
  const again = await runCommand(['import', 'customer-mapping', file, '--service', caller.service.name], environment)
  assert.equal(again.code, 0, again.out + again.err)
  const mapped = async (id: string) => {
    const { ecommerceAdminId, ecommerceLegacyId } = (await caller.get(`/mappings/customers/${id}`)).json.data
    return [ecommerceAdminId, ecommerceLegacyId]
  }
  assert.deepEqual(
    [await mapped('65432'), await mapped('65433')],
    [
      [admin('5'), '5'],
      [null, '6'],
    ],
  )
})

test('platform-only and unverified items need no correction', async () => {
  const { service } = await api.createService()
  const locations = join(place, 'locations.csv')
  await writeFile(locations, 'Location ID,Name\n111,Somewhere\n')
  await runCommand(['import', 'ecommerce-locations', locations, '--service', service.name], environment)
  const report = await runCommand(['mapping', 'check', service.name, '--kind', 'stores'], environment)
  assert.match(report.out, /^stores +0 +1 +0 +0 +0 +0 +0$/m)
  assert.equal(report.code, 0, report.err)
})

test('the command reports impossible requests', async () => {
  const without = await runCommand(['mapping', 'check', api.service.name, '--csv'], environment)
  assert.match(without.err, /--csv requires one kind: --kind stores, --kind skus, --kind customers/)
  assert.equal(without.code, 1)
  const tooMany = await runCommand(['mapping', 'check', api.service.name, '--limit', '101'], environment)
  assert.match(tooMany.err, /'--limit <n>' argument '101' is invalid\. It must be an integer from 1 to 100\./)
  assert.equal(tooMany.code, 1)
})
