/** Files as Shopify's admin exports them: all their columns, an apostrophe before numbers, lines of pictures alone. */

const csv = (rows: readonly (readonly string[])[]) => `${rows.map(cells => cells.join(',')).join('\n')}\n`
const row = (header: readonly string[], cells: Readonly<Record<string, string>>) =>
  header.map(name => cells[name] ?? '')

const product = [
  ...[
    'Handle',
    'Title',
    'Body (HTML)',
    'Vendor',
    'Product Category',
    'Type',
    'Tags',
    'Published',
    'Option1 Name',
    'Option1 Value',
  ],
  ...[
    'Option1 Linked To',
    'Option2 Name',
    'Option2 Value',
    'Option2 Linked To',
    'Option3 Name',
    'Option3 Value',
    'Option3 Linked To',
  ],
  ...[
    'Variant SKU',
    'Variant Grams',
    'Variant Inventory Tracker',
    'Variant Inventory Policy',
    'Variant Fulfillment Service',
  ],
  ...[
    'Variant Price',
    'Variant Compare At Price',
    'Variant Requires Shipping',
    'Variant Taxable',
    'Variant Barcode',
    'Image Src',
  ],
  ...[
    'Image Position',
    'Image Alt Text',
    'Gift Card',
    'SEO Title',
    'SEO Description',
    'Variant Image',
    'Cost per item',
    'Status',
  ],
]

/** A product export with these variants, each with its SKU and barcode, and the picture of one. */
export const productExport = (variants: readonly (readonly [size: string, sku: string, barcode?: string])[]) =>
  csv([
    product,
    ...variants.map(([size, sku, barcode = '']) =>
      row(product, {
        Handle: 'hoodie',
        'Option1 Name': 'Size',
        'Option1 Value': size,
        'Variant SKU': sku,
        'Variant Price': '52.00',
        'Variant Barcode': barcode,
      }),
    ),
    row(product, { Handle: 'hoodie', 'Image Src': 'https://cdn.example/hoodie.png', 'Image Position': '2' }),
  ])

const inventory = [
  ...[
    'Handle',
    'Title',
    'Option1 Name',
    'Option1 Value',
    'Option2 Name',
    'Option2 Value',
    'Option3 Name',
    'Option3 Value',
    'SKU',
  ],
  ...['HS Code', 'COO', 'Location', 'Bin name', 'Incoming (not editable)', 'Unavailable (not editable)'],
  ...['Committed (not editable)', 'Available (not editable)', 'On hand (current)', 'On hand (new)'],
]

/** An inventory export of these SKUs in these locations. */
export const inventoryExport = (locations: readonly string[], skus: readonly string[]) =>
  csv([
    inventory,
    ...skus.flatMap(sku =>
      locations.map(Location =>
        row(inventory, {
          Handle: 'hoodie',
          Title: 'Hoodie',
          'Option1 Value': sku,
          SKU: sku,
          Location,
          'On hand (current)': '3',
        }),
      ),
    ),
  ])

const customer = [
  ...['Customer ID', 'First Name', 'Last Name', 'Email', 'Accepts Email Marketing', 'Default Address Company'],
  ...['Default Address Address1', 'Default Address City', 'Default Address Zip', 'Phone', 'Accepts SMS Marketing'],
  ...['Total Spent', 'Total Orders', 'Note', 'Tax Exempt', 'Tags'],
]

/** A customer export of these people. */
export const customerExport = (people: readonly (readonly [id: string, email: string])[]) =>
  csv([
    customer,
    ...people.map(([id, Email]) => row(customer, { 'Customer ID': `'${id}`, Email, 'Total Orders': '1' })),
  ])
