import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importAndWait } from '../../support/import-and-wait.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { startWithWorker } from './checked-shop.ts'

// The headers are those of real Shopify exports from several years. The rows are invented.

const api = await startWithWorker()

const options = 'Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value'
const toGoogleColumns = (labels: string) =>
  `Google Shopping / Google Product Category,Google Shopping / Gender,Google Shopping / Age Group,Google Shopping / MPN,${labels},Google Shopping / Condition,Google Shopping / Custom Product,Google Shopping / Custom Label 0,Google Shopping / Custom Label 1,Google Shopping / Custom Label 2,Google Shopping / Custom Label 3,Google Shopping / Custom Label 4`
const variantUntilBarcode =
  'Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description'
const inventory = `Handle,Title,${options},SKU,HS Code,COO`

/** Imports a file with this header. Returns the numbers of read, new and rejected rows, or the error if the import fails. */
async function importRows(kind: string, header: string, rows: Record<string, string>[]) {
  const names = header.split(',')
  const toCell = (text = '') => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  for (const name of rows.flatMap(row => Object.keys(row))) assert.ok(names.includes(name), name)
  const lines = rows.map(row => names.map(name => toCell(row[name])).join(','))
  const run = await importAndWait(await createUnmappedShop(api), kind, `${[header, ...lines].join('\r\n')}\r\n`)
  return run.state === 'ok' ? [run.read, run.new, run.rejected] : run.detail
}

const products = {
  'of 2019': `Handle,Title,Body (HTML),Vendor,Type,Tags,Published,${options},${variantUntilBarcode},${toGoogleColumns('Google Shopping / AdWords Grouping,Google Shopping / AdWords Labels')},Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item`,
  'of 2023': `Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,${options},${variantUntilBarcode},${toGoogleColumns('Google Shopping / AdWords Grouping,Google Shopping / AdWords Labels')},Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item,Included / New Zealand,Included / International,Price / International,Compare At Price / International,Status`,
  'with metafields': `Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,${options},${variantUntilBarcode},${toGoogleColumns('Google Shopping / AdWords Grouping,Google Shopping / AdWords Labels')},Age group (product.metafields.shopify.age-group),Fabric (product.metafields.shopify.fabric),Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item,Status`,
}

for (const [when, header] of Object.entries(products))
  test(`a product export ${when} is imported unchanged`, async () => {
    const shirt = { Handle: 'linen-shirt', 'Option1 Name': 'Size' }
    assert.deepEqual(
      await importRows('ecommerce-variants', header, [
        { ...shirt, Title: 'Linen "Shirt"', 'Option1 Value': '9" x 12"', 'Variant SKU': 'LS-S' },
        { ...shirt, 'Option1 Value': 'M', 'Variant SKU': "'0012001", 'Variant Barcode': "'9300000000001" },
        { Handle: 'linen-shirt', 'Image Src': 'https://cdn.example/shirt.png', 'Image Position': '2' },
      ]),
      [3, 2, 0],
    )
  })

test('a product template of 2025 is imported unchanged', async () => {
  const header =
    'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option1 Linked To,Option2 name,Option2 value,Option2 Linked To,Option3 name,Option3 value,Option3 Linked To,Price,Compare-at price,Cost per item,Charge tax,Tax code,Unit price total measure,Unit price total measure unit,Unit price base measure,Unit price base measure unit,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Weight unit for display,Requires shipping,Fulfillment service,Product image URL,Image position,Image alt text,Variant image URL,Gift card,SEO title,SEO description,Color (product.metafields.shopify.color-pattern),Google Shopping / Google product category,Google Shopping / Gender,Google Shopping / Age group,Google Shopping / Manufacturer part number (MPN),Google Shopping / Ad group name,Google Shopping / Ads labels,Google Shopping / Condition,Google Shopping / Custom product,Google Shopping / Custom label 0'
  const row = { 'URL handle': 'linen-shirt', 'Option1 name': 'Size' }
  assert.deepEqual(
    await importRows('ecommerce-variants', header, [
      { ...row, Title: 'Linen Shirt', 'Option1 value': 'S', SKU: 'LS-S', Barcode: "'9300000000001" },
      { ...row, 'Option1 value': 'M', SKU: 'LS-M' },
    ]),
    [2, 2, 0],
  )
})

test('an inventory export maps variants and locations, with or without bins', async () => {
  const amounts = ['Incoming', 'Unavailable', 'Committed', 'Available', 'On hand']
  const readOnlyColumns = ['Incoming', 'Unavailable', 'Committed', 'Available'].map(name => `${name} (not editable)`)
  for (const header of [
    `${inventory},Location,${amounts}`,
    `${inventory},Location,Bin name,${[...readOnlyColumns, 'On hand (current)', 'On hand (new)']}`,
  ]) {
    const rows = ['Collins Street', 'Harbour, Level 2'].flatMap(Location =>
      ['LS-S', 'LS-M'].map(SKU => ({ Handle: 'linen-shirt', 'Option1 Value': SKU, SKU, Location })),
    )
    assert.deepEqual(await importRows('ecommerce-locations', header, rows), [4, 2, 0])
    assert.deepEqual(await importRows('ecommerce-variants', header, rows), [4, 2, 0])
  }
})

test('an inventory export with location columns maps variants and reports unmapped locations', async () => {
  const header = `${inventory},Collins Street,Harbour`
  const rows = [{ Handle: 'linen-shirt', 'Option1 Value': 'S', SKU: 'LS-S', 'Collins Street': '3', Harbour: '0' }]
  assert.deepEqual(await importRows('ecommerce-variants', header, rows), [1, 1, 0])
  assert.match(await importRows('ecommerce-locations', header, rows), /name/)
})

const address =
  'Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone'
const olderAddress = 'Company,Address1,Address2,City,Province,Province Code,Country,Country Code,Zip,Phone'

test('a customer export with identifiers is imported unchanged', async () => {
  const names = 'First Name,Last Name,Email,Accepts Email Marketing'
  for (const header of [
    `Customer ID,${names},${address},Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags`,
    `Customer ID,${names},${address},Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags,Accepts WhatsApp Marketing,Birthday (customer.metafields.facts.birth_date)`,
    `Customer ID,${names},${olderAddress},Accepts SMS Marketing,Total Spent,Total Orders,Tags,Note,Tax Exempt`,
  ])
    assert.deepEqual(
      await importRows('ecommerce-customers', header, [
        { 'Customer ID': "'6477890125896", 'First Name': 'Ann', Email: 'ann.lee@example.com', Tags: 'vip, web' },
        { 'Customer ID': "'6477890125897", 'Last Name': 'Ng' },
      ]),
      [2, 2, 0],
    )
  const withoutIds = `First Name,Last Name,Email,${olderAddress},Accepts Marketing,Total Spent,Total Orders,Tags,Note,Tax Exempt`
  assert.match(await importRows('ecommerce-customers', withoutIds, [{ Email: 'ann.lee@example.com' }]), /customerId/)
})
