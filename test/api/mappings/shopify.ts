/** Files as Shopify's admin exports them: all their columns, an apostrophe before numbers, lines of pictures alone. */

const csv = (rows: readonly (readonly string[])[]) =>
  `${rows.map(cells => cells.map(cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')).join('\n')}\n`
const row = (header: readonly string[], cells: Readonly<Record<string, string>>) =>
  header.map(name => cells[name] ?? '')

const product =
  'Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option1 Linked To,Option2 Name,Option2 Value,Option2 Linked To,Option3 Name,Option3 Value,Option3 Linked To,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Unit Price Total Measure,Unit Price Total Measure Unit,Unit Price Base Measure,Unit Price Base Measure Unit,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,Google Shopping / Google Product Category,Google Shopping / MPN,Google Shopping / Condition,Color (product.metafields.shopify.color-pattern),Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item,Included / Australia,Price / International,Compare At Price / International,Status'.split(
    ',',
  )

/** A product export with these variants, each with its SKU and barcode, and the picture of one. */
export const productExport = (variants: readonly (readonly [size: string, sku: string, barcode?: string])[]) =>
  csv([
    product,
    ...variants.map(([size, sku, barcode = ''], i) =>
      row(product, {
        Handle: 'hoodie',
        ...(i === 0 && { Title: 'Hoodie', 'Body (HTML)': '<p>Warm, "heavy",\nand long.</p>', 'Option1 Name': 'Size' }),
        'Option1 Value': size,
        'Variant SKU': sku,
        'Variant Price': '52.00',
        'Variant Barcode': barcode,
      }),
    ),
    row(product, { Handle: 'hoodie', 'Image Src': 'https://cdn.example/hoodie.png', 'Image Position': '2' }),
  ])

/** The names that they have had since 2024. */
const productSince2024 =
  'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option1 Linked To,Option2 name,Option2 value,Option2 Linked To,Option3 name,Option3 value,Option3 Linked To,Price,Price / International,Compare-at price,Compare-at price / International,Cost per item,Charge tax,Tax code,Unit price total measure,Unit price total measure unit,Unit price base measure,Unit price base measure unit,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Weight unit for display,Requires shipping,Fulfillment service,Product image URL,Image position,Image alt text,Variant image URL,Gift card,SEO title,SEO description,Color (product.metafields.shopify.color-pattern),Google Shopping / Google product category,Google Shopping / Manufacturer part number (MPN)'.split(
    ',',
  )

/** The same export under those names. */
export const newProductExport = (variants: readonly (readonly [size: string, sku: string, barcode?: string])[]) =>
  csv([
    productSince2024,
    ...variants.map(([size, SKU, Barcode = '']) =>
      row(productSince2024, { 'URL handle': 'hoodie', 'Option1 value': size, SKU, Barcode, Price: '52.00' }),
    ),
    row(productSince2024, { 'URL handle': 'hoodie', 'Product image URL': 'https://cdn.example/hoodie.png' }),
  ])

const inventory =
  'Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,SKU,HS Code,COO,Location,Bin name,Incoming (not editable),Unavailable (not editable),Committed (not editable),Available (not editable),On hand (current),On hand (new)'.split(
    ',',
  )

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

const customer =
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags'.split(
    ',',
  )

/** A customer export of these people. */
export const customerExport = (people: readonly (readonly [id: string, email: string])[]) =>
  csv([
    customer,
    ...people.map(([id, Email]) => row(customer, { 'Customer ID': `'${id}`, Email, 'Total Orders': '1' })),
  ])
