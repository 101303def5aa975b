/** Builds files as Shopify's admin exports them: with all columns, an apostrophe before numbers, and image-only lines. */

const toCsv = (rows: readonly (readonly string[])[]) =>
  `${rows.map(cells => cells.map(cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')).join('\n')}\n`
const toRow = (header: readonly string[], cells: Readonly<Record<string, string>>) =>
  header.map(name => cells[name] ?? '')

const productHeader =
  'Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option1 Linked To,Option2 Name,Option2 Value,Option2 Linked To,Option3 Name,Option3 Value,Option3 Linked To,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Policy,Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Unit Price Total Measure,Unit Price Total Measure Unit,Unit Price Base Measure,Unit Price Base Measure Unit,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,Google Shopping / Google Product Category,Google Shopping / MPN,Google Shopping / Condition,Color (product.metafields.shopify.color-pattern),Variant Image,Variant Weight Unit,Variant Tax Code,Cost per item,Included / Australia,Price / International,Compare At Price / International,Status'.split(
    ',',
  )

/** Builds a product export with these variants and one image line. */
export const buildProductExport = (variants: readonly (readonly [size: string, sku: string, barcode?: string])[]) =>
  toCsv([
    productHeader,
    ...variants.map(([size, sku, barcode = ''], i) =>
      toRow(productHeader, {
        Handle: 'hoodie',
        ...(i === 0 && { Title: 'Hoodie', 'Body (HTML)': '<p>Warm, "heavy",\nand long.</p>', 'Option1 Name': 'Size' }),
        'Option1 Value': size,
        'Variant SKU': sku,
        'Variant Price': '52.00',
        'Variant Barcode': barcode,
      }),
    ),
    toRow(productHeader, { Handle: 'hoodie', 'Image Src': 'https://cdn.example/hoodie.png', 'Image Position': '2' }),
  ])

/** The column names of product exports since 2024. */
const productSince2024 =
  'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option1 Linked To,Option2 name,Option2 value,Option2 Linked To,Option3 name,Option3 value,Option3 Linked To,Price,Price / International,Compare-at price,Compare-at price / International,Cost per item,Charge tax,Tax code,Unit price total measure,Unit price total measure unit,Unit price base measure,Unit price base measure unit,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Weight unit for display,Requires shipping,Fulfillment service,Product image URL,Image position,Image alt text,Variant image URL,Gift card,SEO title,SEO description,Color (product.metafields.shopify.color-pattern),Google Shopping / Google product category,Google Shopping / Manufacturer part number (MPN)'.split(
    ',',
  )

/** Builds the same export with the column names since 2024. */
export const buildNewProductExport = (variants: readonly (readonly [size: string, sku: string, barcode?: string])[]) =>
  toCsv([
    productSince2024,
    ...variants.map(([size, SKU, Barcode = '']) =>
      toRow(productSince2024, { 'URL handle': 'hoodie', 'Option1 value': size, SKU, Barcode, Price: '52.00' }),
    ),
    toRow(productSince2024, { 'URL handle': 'hoodie', 'Product image URL': 'https://cdn.example/hoodie.png' }),
  ])

const inventoryHeader =
  'Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,SKU,HS Code,COO,Location,Bin name,Incoming (not editable),Unavailable (not editable),Committed (not editable),Available (not editable),On hand (current),On hand (new)'.split(
    ',',
  )

/** Builds an inventory export of these SKUs in these locations. */
export const buildInventoryExport = (locations: readonly string[], skus: readonly string[]) =>
  toCsv([
    inventoryHeader,
    ...skus.flatMap(sku =>
      locations.map(Location =>
        toRow(inventoryHeader, {
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

const customerHeader =
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags'.split(
    ',',
  )

/** Builds a customer export of these people. */
export const buildCustomerExport = (people: readonly (readonly [id: string, email: string])[]) =>
  toCsv([
    customerHeader,
    ...people.map(([id, Email]) => toRow(customerHeader, { 'Customer ID': `'${id}`, Email, 'Total Orders': '1' })),
  ])
