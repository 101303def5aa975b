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
const directory = createDirectory()
const environment = buildEnvironment(api, directory)

test('the check lists issues, and its CSV can be imported as mappings', async () => {
  const caller = await createUnmappedShop(api)
  const { name } = caller.service
  const products = join(directory, 'products.csv')
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

  const matchedOnly = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--state', 'matched'], environment)
  assert.equal(matchedOnly.code, 2, 'the exit code must not depend on the filter')

  const csv = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--csv'], environment)
  assert.equal(csv.code, 0, 'the CSV must be complete')
  assert.equal(csv.out.split('\n')[1], '12001,012001,MH01 BLK S,nearMatch,hoodie: S,leadingZeros 012001,14,0')
  const script = `('${process.execPath}' '${cli}' "$@"; echo "code $?" >&2) | true`
  const closedReader = await runCommand(['mapping', 'check', name, '--kind', 'skus', '--csv'], environment, {
    program: ['sh', '-c', script, 'sh'],
  })
  assert.match(closedReader.err, /code 0\n$/)
  assert.doesNotMatch(closedReader.err, /EPIPE|Error/)
  const corrected = join(directory, 'skus.csv')
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
  const file = join(directory, 'out-and-in.csv')
  await writeFile(file, csv.out)
  const reimport = await runCommand(['import', 'sku-mapping', file, '--service', caller.service.name], environment)
  assert.equal(reimport.code, 0, reimport.out + reimport.err)
  const readMappedSku = async (id: string) => (await caller.get(`/mappings/skus/${id}`)).json.data.ecommerceSku
  assert.deepEqual([await readMappedSku('12001'), await readMappedSku('12002')], ['-XL', "'=M"])
})

test('customers round-trip with both identifiers and a contradiction is removed', async () => {
  const caller = await createUnmappedShop(api)
  const list = join(directory, 'customers.csv')
  await writeFile(list, 'Customer ID,Email\n5,john@example.com\n6,mary@example.com\n')
  await runCommand(['import', 'ecommerce-customers', list, '--service', caller.service.name], environment)
  const toAdminId = (id: string) => `gid://shop/Customer/${id}`
  await put(caller, '/mappings/customers/65432', { ecommerceAdminId: toAdminId('5') })
  await put(caller, '/mappings/customers/65433', { ecommerceAdminId: toAdminId('9'), ecommerceLegacyId: '6' })
  const csv = await runCommand(['mapping', 'check', caller.service.name, '--kind', 'customers', '--csv'], environment)
  const file = join(directory, 'customers-corrected.csv')
  await writeFile(file, csv.out)
  const reimport = await runCommand(['import', 'customer-mapping', file, '--service', caller.service.name], environment)
  assert.equal(reimport.code, 0, reimport.out + reimport.err)
  const readMappedIds = async (id: string) => {
    const { ecommerceAdminId, ecommerceLegacyId } = (await caller.get(`/mappings/customers/${id}`)).json.data
    return [ecommerceAdminId, ecommerceLegacyId]
  }
  assert.deepEqual(
    [await readMappedIds('65432'), await readMappedIds('65433')],
    [
      [toAdminId('5'), '5'],
      [null, '6'],
    ],
  )
})

test('platform-only and unverified items need no correction', async () => {
  const { service } = await api.createService()
  const locations = join(directory, 'locations.csv')
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
